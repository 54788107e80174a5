#include "store/redis/keys.h"

#include <fmt/format.h>

namespace leasehold::redis {
namespace {

// `text` without any `separator`.
std::string escaped(std::string_view text, char separator) {
  std::string out;
  for (const char c : text) {
    if (c == separator || c == '%') {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Keys Keys::of_namespace(std::string_view name) {
  return name.empty() ? Keys(std::string()) : of_workspace(name);
}

// The braces make all keys of a workspace one slot, should the server be part of a cluster one day.
Keys Keys::of_workspace(std::string_view workspace) { return Keys("{" + escaped(workspace, '}') + "}:"); }

std::string Keys::named(std::string_view kind, std::string_view name) const {
  std::string key;
  key.reserve(prefix_.size() + 6 + kind.size() + name.size());
  key += prefix_;
  key += "lease:";
  key += kind;
  key += name;
  return key;
}

std::string Keys::owner_text(const Owner& owner) {
  return escaped(owner.session_id, '/') + "/" + escaped(owner.agent_id, '/');
}

std::string Keys::waits(const Owner& owner) const {
  if (!owner.session_id.empty()) return named("waits:session:", owner.session_id);
  return named("waits:agent:", owner.agent_id);
}

std::string Keys::last(const Owner& owner, std::string_view path) const {
  const Owner whose =
      owner.session_id.empty() ? owner : Owner{.agent_id = {}, .session_id = owner.session_id};
  return named("last:", owner_text(whose) + "/" + std::string(path));
}

std::string bell_channel(const GroupId& ticket) { return "lease:bell:" + ticket.text; }

}  // namespace leasehold::redis
