#include "init/rehearsal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "hook/staged_report.h"
#include "util/path_text.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

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

// One session, as its host would report it. Not every host tells when one is over.
class Session {
 public:
  Session(HookHost host, std::string root, std::string id, const Variables& variables)
      : agent_({.host = host, .session = std::move(id), .root = std::move(root), .subagent = {}}),
        variables_(variables) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    const auto opened = open_workspace(
        {.place = agent_.root, .environment = variables_, .create = false, .only_managed = true});
    if (!opened) return;
    const Owner owner = {std::string(word(agent_.host)), agent_.session};
    [[maybe_unused]] const auto ended = (*opened)->client()->end_session({.holder = {.owner = owner}});
  }

  // Why the write is denied; empty: it may go on.
  std::string write(const std::string& file) const {
    return HookCall(agent_.host, report_of_write(agent_, file), agent_.root, variables_).answer().reason;
  }

 private:
  StagedAgent agent_;
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
