#include "leasehold/write_gate.h"

#include <utility>

namespace leasehold {

WriteGate::WriteGate(OpenWorkspace& workspace, Caller caller, std::string reason, std::string cwd)
    : workspace_(workspace), caller_(std::move(caller)), reason_(std::move(reason)), cwd_(std::move(cwd)) {
  if (cwd_.empty()) cwd_ = workspace.root();
}

Result<GateRequest> WriteGate::request(const std::vector<std::string>& paths, bool read) const {
  std::vector<AskedPath> inside;
  for (const std::string& path : paths) {
    const auto key = workspace_.key_if_inside(path, {.cwd = cwd_});
    if (!key) return fail(key.error());
    if (*key) inside.push_back({.path = path});
  }
  auto wanted = workspace_.wanted(inside, {.cwd = cwd_, .pairs = !read});
  if (!wanted) return fail(wanted.error());
  GateRequest asked = {.read = read};
  asked.wanted.caller = caller_;
  asked.wanted.paths = *std::move(wanted);
  asked.wanted.reason = reason_;
  return asked;
}

Result<GateAnswer> WriteGate::ask(const std::vector<std::string>& paths, bool read) {
  const auto asked = request(paths, read);
  if (!asked) return fail(asked.error());
  if (asked->wanted.paths.empty()) return GateAnswer{};
  return workspace_.client()->gate(*asked);
}

Result<GateAnswer> WriteGate::write(const std::vector<std::string>& paths) { return ask(paths, false); }
Result<GateAnswer> WriteGate::read(const std::vector<std::string>& paths) { return ask(paths, true); }

Result<GateAnswer> WriteGate::write_and_wait(const std::vector<std::string>& paths, Duration at_most,
                                             const std::function<void(const GateAnswer&)>& denied,
                                             int cancelled) {
  const auto asked = request(paths, false);
  if (!asked) return fail(asked.error());
  if (asked->wanted.paths.empty()) return GateAnswer{};
  return workspace_.client()->gate_and_wait(*asked, at_most, denied, cancelled);
}

}  // namespace leasehold
