#include "store/redis/keys.h"

#include "util/percent.h"

namespace leasehold::redis {
namespace {

constexpr std::string_view kBells = "lease:bell:";

}  // namespace

Keys Keys::of_namespace(std::string_view name) {
  return name.empty() ? Keys(std::string()) : of_workspace(name);
}

// The braces make all keys of a workspace one slot, should the server be part of a cluster one day.
Keys Keys::of_workspace(std::string_view workspace) {
  return Keys("{" + percent_encoded(workspace, '}') + "}:");
}

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
  return percent_encoded(owner.session_id, '/') + "/" + percent_encoded(owner.agent_id, '/');
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

std::string Keys::held(std::string_view path, std::string_view lease_id) {
  std::string member(path);
  member += '\0';
  member += lease_id;
  return member;
}

std::string bell_channel(const GroupId& ticket) { return std::string(kBells) + ticket.text; }

GroupId ticket_of_bell(std::string_view channel) { return {std::string(channel.substr(kBells.size()))}; }

}  // namespace leasehold::redis
