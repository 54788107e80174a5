// Opens a workspace: finds which tree a path belongs to, reads its settings, opens its store.
//
//   auto workspace = leasehold::open_workspace({.place = "/home/me/project"});
//   if (!workspace) return complain(workspace.error());
//   auto paths = (*workspace)->wanted({{.path = "src/a.ts"}}, {.cwd = "/home/me/project"});
//   auto answer = (*workspace)->client()->acquire({.caller = me, .paths = *paths});
//
// The library reads no environment variable, no file outside the workspace and the given ones, and no clock
// but the machine's, unless it is told so here.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/calls.h"
#include "leasehold/client.h"
#include "leasehold/config.h"
#include "leasehold/log.h"
#include "leasehold/result.h"

namespace leasehold {

struct OpenOptions {
  // A folder or file of this machine, absolute; it need not exist. Its workspace is opened. Empty: no
  // workspace; keys then count from "/", and the store has to be named.
  std::string place;

  // Settings that beat all others, by name: "store", "profile", "ttl", ... (docs/library.md). As flags are.
  std::map<std::string, std::string> settings;

  // How variables are looked up, like getenv(3): LEASE_STORE, LEASE_PROFILE, LEASE_TTL, ..., the LOCK_ ones,
  // and where the user file is (XDG_CONFIG_HOME, HOME). Also which agent is around this process (CLAUDE_PID).
  // Empty: none is read, and there is no user file.
  std::function<const char*(const char* name)> environment;

  LogSink log;  // Where structured lines about every lease go. Empty: nowhere.

  // False: an embedded store that is not there yet is not made; the error is not_found. For those who only
  // want to know whether anything is held.
  bool create = true;

  // True: a place that is not managed is not opened; the error is not_found, and nothing is made there.
  bool only_managed = false;

  // The process ends soon, as a command does. Whoever opens an embedded store alone reads its log, so it is
  // kept short then.
  bool is_brief = false;

  // For who asks little and mostly finds out: if a lease serve of the same user and with the same settings
  // serves the embedded store, it is asked, which is faster than opening the store. Without one, or when it
  // does not answer, the store is opened.
  bool prefers_server = false;

  // The agent's name in this process's calls is only a guess: a server that gets the token of one agent takes
  // that one's instead of refusing.
  bool is_agent_guessed = false;
};

// A path as somebody wrote it.
struct AskedPath {
  std::string path;
  bool subtree = false;
};

struct PathOptions {
  std::string cwd;       // What relative paths are relative to; absolute. Empty: the workspace's root.
  bool pairs = true;     // Add the tests of sources (docs/pairs.md).
  bool literal = false;  // Each names one file, even with a * in it or if it reads like port:3000.
};

// Immutable, but for what its client does. Thread-safe.
class OpenWorkspace {
 public:
  virtual ~OpenWorkspace() = default;

  // Outlives the workspace for as long as somebody has it (a Keeper does). Must not be used after fork(2) in
  // the child.
  virtual std::shared_ptr<Client> client() = 0;

  virtual const std::string& root() const = 0;       // Absolute; "/" without a workspace.
  virtual const std::string& id() const = 0;         // What the stores know it by.
  virtual const std::string& store_url() const = 0;  // Complete: sqlite:/home/me/project/.git/leasehold
  virtual const std::string& profile() const = 0;    // agent, session or job.
  virtual bool is_managed() const = 0;  // There are settings or a store; else gates let all pass.
  virtual const std::vector<std::string>& notes() const = 0;  // What was found and not used; for people.
  virtual bool gates_reads() const = 0;  // Setting gate_reads: agents' reads are asked about, too.
  // Setting gate_stale_read: what another owner changed since an agent saw it is read again before a write.
  virtual bool gates_stale_reads() const { return true; }

  // The key of a path of this machine. Error: invalid_path (docs/library.md).
  virtual Result<std::string> key(const std::string& path, const PathOptions& options = {}) const = 0;

  // The same; nothing for what is outside of the workspace.
  virtual Result<std::optional<std::string>> key_if_inside(const std::string& path,
                                                           const PathOptions& options = {}) const = 0;

  // What to ask for: the keys of these paths, and the existing tests that pairing adds, each with the rule
  // that added it. Looks at the disk. Error: invalid_path.
  virtual Result<std::vector<WantedPath>> wanted(const std::vector<AskedPath>& paths,
                                                 const PathOptions& options = {}) const = 0;

  // Whose death ends the leases of whoever runs this process: the agent above it, or the leader of its
  // terminal's session. None: only time ends them. A program that holds leases for itself wants
  // own_process().
  virtual std::optional<Process> caller_process() const = 0;
  virtual std::optional<Process> own_process() const = 0;

  // Every setting, and where it comes from. Errors: those of the store.
  virtual Result<std::vector<EffectiveSetting>> settings() const = 0;

  // A setting by name or stored key, as a row for Client::put_setting. `profile`: only for those who use it.
  // Error: invalid_argument, listing the names there are.
  virtual Result<Setting> setting(const std::string& name, const std::string& value,
                                  const std::string& profile = {}) const = 0;

  // Looks for what is wrong in the store: records that cannot be read, indexes that lead nowhere. With
  // `repair` also removes it, and says of each whether it did. May read the whole store. Errors: those of the
  // store.
  virtual Result<std::vector<Defect>> examine_store(bool repair) = 0;

  // A request that names a busy room is refused before the store is asked. Of this process only, and of all
  // its open workspaces on this store.
  virtual void set_room_busy(const std::string& room, bool busy) = 0;
};

// What a gate does with a write that could not be checked, because opening failed or the store did: the
// place's setting gate_fail_open, or that of the environment and the user where the place's cannot be read.
// False also when that cannot be told: then nobody writes unchecked.
bool lets_unchecked_writes_pass(const OpenOptions& options);

// Every setting as far as it can be told without asking the store: which store that is, among others. Errors:
// invalid_path, config_error.
Result<std::vector<EffectiveSetting>> settings_without_store(const OpenOptions& options);

// The store is, by its URL (setting "store"):
//
//   (nothing)      the embedded one of the workspace: in its git common dir, else in .leasehold/
//   sqlite:FOLDER  an embedded one elsewhere; absolute
//   memory:        one of this process, gone with it
//   redis://HOST   on a Redis server; rediss:// with TLS, redis+unix:///SOCKET (docs/formats/redis.md)
//   http://HOST    served by lease serve; https:// with TLS, http+unix:/SOCKET (docs/api.md). The server
//                  is asked at the first call, with the token that LEASE_TOKEN has, or, inside of
//                  lease run, LEASE_CREDENTIAL.
//
// One process uses one URL at a time: while a workspace is open, opening another URL is refused; and opening
// the same one again shares its connections.
//
// Errors: invalid_path (`place`), config_error (settings files, variables, an unknown or second store URL),
// invalid_argument (`settings`), not_found (create = false), and the store's: unavailable, corrupt.
// Reads files; blocks no longer than the store's timeout.
Result<std::unique_ptr<OpenWorkspace>> open_workspace(const OpenOptions& options);

struct ConnectOptions {
  std::string workspace;  // Its id, as OpenWorkspace::id() has it. Empty: the server's own.
  std::string profile;    // Empty: the server's own.
  std::string token;      // What lease token create printed; empty: none.
};

// The calls of a server (lease serve), for programs that have keys and no tree on this machine:
//
//   auto client = leasehold::connect("http+unix:/run/leasehold/socket");
//   auto answer = (*client)->acquire({.caller = me, .paths = {{.path = "/src/a.ts"}}});
//
// The URL is http://HOST[:PORT], https://HOST[:PORT][?ca=FILE&cert=FILE&key=FILE&server_name=NAME] or
// http+unix:/SOCKET. Connects at the first call, and again when a connection was lost; several may be open at
// once. Error: config_error (the URL).
Result<std::shared_ptr<Client>> connect(const std::string& url, const ConnectOptions& options = {});

}  // namespace leasehold
