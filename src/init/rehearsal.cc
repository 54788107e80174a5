#include "init/rehearsal.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "hook/staged_report.h"
#include "init/configured_command.h"
#include "run/converse.h"
#include "util/path_text.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

namespace json = boost::json;

// A guarded folder with a store and one file, gone with this.
class ScratchProject {
 public:
  explicit ScratchProject(const Variables& variables) {
    const char* const place = variables("TMPDIR");
    path_ = join(place != nullptr && *place == '/' ? place : "/tmp", "lease-doctor-XXXXXX");
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
    if (path_.empty()) return;
    std::ofstream(join(path_, ".leasehold.toml")) << "store = \"sqlite:" << join(path_, "store") << "\"\n";
    std::ofstream(file()) << "\n";
  }
  ScratchProject(const ScratchProject&) = delete;
  ScratchProject& operator=(const ScratchProject&) = delete;
  ~ScratchProject() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  bool is_made() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  std::string file() const { return join(path_, "scratch-file"); }

 private:
  std::string path_;
};

std::string text_at(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

// Why the write is denied, as the host reads what its hook says; empty: it may go on.
std::string denial_in(const Said& said) {
  constexpr int kBlocked = 2;
  boost::system::error_code error;
  const json::value value = json::parse(said.out, error);
  const json::object* whole = error ? nullptr : value.if_object();
  if (whole != nullptr) {
    if (const json::value* const inner = whole->if_contains("hookSpecificOutput");
        inner && inner->is_object())
      whole = &inner->get_object();
    for (const std::string_view name :
         {"permissionDecisionReason", "reason", "agent_message", "errorMessage"}) {
      if (std::string reason = text_at(*whole, name); !reason.empty()) return reason;
    }
  }
  return said.exit_status == kBlocked ? said.err : std::string();
}

std::string in_one_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string shown(std::vector<std::string> command) {
  if (command.size() == 3 && command[1] == "-c") return command[2];
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

class Stage {
 public:
  Stage(const std::string& root, HookHost host, const ScratchProject& project)
      : root_(root), host_(host), project_(project) {}

  // What the session is told before it writes; empty: nothing keeps it from that.
  Result<std::string> write(const std::string& session, const std::vector<std::string>& command) const {
    const StagedAgent agent = {.host = host_, .session = session, .root = project_.path(), .subagent = {}};
    const auto said = converse({.command = command,
                                .input = report_of_write(agent, project_.file()),
                                .folder = folder(),
                                .without = {"LEASE_STORE"}});
    if (!said) return fail(Code::unavailable, said.error().message);
    std::string denied = in_one_line(denial_in(*said));
    if (!denied.empty() || said->exit_status == 0) return denied;
    return fail(Code::unavailable, fmt::format("its hook fails with status {}: {} ({})", said->exit_status,
                                               in_sentence(in_one_line(said->err)), shown(command)));
  }

 private:
  // Windsurf does not tell where it works: its hooks run there.
  const std::string& folder() const { return host_ == HookHost::windsurf ? project_.path() : root_; }

  const std::string& root_;
  const HookHost host_;
  const ScratchProject& project_;
};

}  // namespace

Result<std::string> rehearse(const std::string& root, HookHost host, const Variables& variables) {
  const ScratchProject project(variables);
  if (!project.is_made()) return fail(Code::unavailable, "no scratch folder can be made in /tmp (TMPDIR)");
  const auto commands = commands_before_write(root, host);
  if (commands.empty()) {
    return fail(Code::config_error,
                fmt::format("its hooks do not ask before a write. Run: lease init --agents {}", word(host)));
  }
  const Stage stage(root, host, project);
  std::string told;
  for (const std::vector<std::string>& command : commands) {
    const auto first = stage.write("first", command);
    if (!first) return first;
    if (!first->empty()) return fail(Code::unavailable, fmt::format("nobody can write: {}", *first));
    const auto second = stage.write("second", command);
    if (!second) return second;
    if (second->empty()) {
      return fail(Code::corrupt,
                  fmt::format("of two agents on one scratch file, both may write ({})", shown(command)));
    }
    told = *second;
  }
  return told;
}

}  // namespace leasehold
