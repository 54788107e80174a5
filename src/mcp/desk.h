// Where tool calls are served: the workspace, opened by the first call that needs it, and for whom they act.
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "leasehold/open.h"
#include "mcp/grants.h"
#include "mcp/peer.h"

namespace leasehold::mcp {

struct DeskOptions {
  // Opens the workspace, or gives the one that is open already; as OpenOptions says it. Outlives the desk.
  // Called by one thread at a time.
  std::function<Result<OpenWorkspace*>(bool create, bool only_managed)> open;
  std::string place;  // What paths are relative to; absolute.
  Owner owner;        // What is known without the protocol; an empty part: nothing.
  // The session that this server's agent has now, as its hooks report it: the same process may begin another.
  // Counts before `owner`, an empty part does not; what the client tells counts more. May be null.
  std::function<Owner()> noted;
  std::string pr_id;
  std::string host;
  std::string user;       // The agent's name if even the client does not tell.
  std::string session;    // Of this server, where nobody tells one: two servers are two owners.
  std::string trace;      // Where a call brings none.
  bool sees_disk = true;  // The workspace lies on this machine's disk.
  // What other agents of the session have is the caller's, too.
  bool whole_session = true;
};

// Thread-safe.
class Desk {
 public:
  explicit Desk(DeskOptions options) : options_(std::move(options)) {}

  enum class For {
    looking,    // Makes no store; not_found where there is none.
    acquiring,  // Makes one.
    gating,     // Makes one in a managed workspace; else not_found.
  };
  // Errors: those of open_workspace().
  Result<OpenWorkspace*> workspace(For purpose);

  // Its leases end with this process: nobody else gives them back.
  Caller caller(const Peer& peer);
  // Its session was made up for it: nobody else can have the same.
  bool is_alone(const Caller& caller) const;
  std::string trace(const Peer& peer) const { return peer.trace.empty() ? options_.trace : peer.trace; }
  const std::string& place() const { return options_.place; }
  bool sees_disk() const { return options_.sees_disk; }

  // Absolute paths that were found to be keys stay that, also when nobody holds them any more.
  bool is_known_key(const std::string& path);
  void note_key(const std::string& path);

  // What this server was granted just now end() gives back; and what else of the answer hangs on this
  // process, by whichever call: that would end with it.
  Told note_granted(const Granted& granted);
  Told note_granted(const Allowed& allowed);
  // Those of them that end after a time that was asked for; what is attended does not any more.
  void note_timed(const std::vector<Lease>& leases);
  bool is_timed(const LeaseId& id);
  bool has_timed();
  void give_back(const std::vector<LeaseId>& ids);
  void forget(const std::vector<LeaseId>& ids);  // They are over.
  // Gives back what is still held of all that was granted, and nothing else of the session.
  void end();

 private:
  OpenWorkspace* opened();
  Told note_new(const std::vector<Lease>& leases, const std::function<bool(const Lease&)>& is_new);
  void note_held(const std::vector<Lease>& leases);

  const DeskOptions options_;
  std::mutex mutex_;                    // Guards all below.
  OpenWorkspace* workspace_ = nullptr;  // Once it was opened.
  std::optional<Process> process_;
  std::set<LeaseId> granted_;
  std::set<LeaseId> timed_;
  std::set<std::string> keys_;
};

}  // namespace leasehold::mcp
