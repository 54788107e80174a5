#include "init/rehearsal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstdlib>

#include "util/path_text.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

namespace json = boost::json;

// An empty file, gone with this.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& folder) : path_(join(folder, ".leasehold-doctor-XXXXXX")) {
    fd_ = ::mkstemp(path_.data());
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() {
    if (fd_ < 0) return;
    ::close(fd_);
    ::unlink(path_.c_str());
  }

  bool is_made() const { return fd_ >= 0; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int fd_;
};

// One session, as its host would report it.
class Session {
 public:
  Session(HookHost host, std::string root, std::string id, const Variables& variables)
      : host_(host), root_(std::move(root)), id_(std::move(id)), variables_(variables) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { tell({{"hook_event_name", "SessionEnd"}}); }

  // Why the write is denied; empty: it may go on.
  std::string write(const std::string& file) const {
    const std::string patch = fmt::format("*** Begin Patch\n*** Update File: {}\n*** End Patch", file);
    const bool patches = host_ == HookHost::codex;
    const std::string answer =
        tell({{"hook_event_name", "PreToolUse"},
              {"tool_name", patches ? "apply_patch" : "Write"},
              {"tool_input", {{patches ? "command" : "file_path", patches ? patch : file}}}});
    if (answer.empty()) return {};
    return std::string(
        json::parse(answer).at("hookSpecificOutput").at("permissionDecisionReason").as_string());
  }

 private:
  std::string tell(json::object event) const {
    event["session_id"] = id_;
    event["cwd"] = root_;
    return HookCall(host_, json::serialize(event), root_, variables_).answer().output;
  }

  HookHost host_;
  std::string root_;
  std::string id_;
  const Variables& variables_;
};

}  // namespace

Result<std::string> rehearse(const std::string& root, HookHost host, const Variables& variables) {
  const ScratchFile file(root);
  if (!file.is_made())
    return fail(Code::unavailable, fmt::format("no scratch file can be made in {}", in_sentence(root)));
  const Session first(host, root, fmt::format("doctor-{}-1", getpid()), variables);
  const Session second(host, root, fmt::format("doctor-{}-2", getpid()), variables);
  if (std::string why = first.write(file.path()); !why.empty())
    return fail(Code::unavailable, fmt::format("nobody can write: {}", why));
  std::string told = second.write(file.path());
  if (told.empty()) return fail(Code::corrupt, "of two agents on one scratch file, both may write");
  return told;
}

}  // namespace leasehold
