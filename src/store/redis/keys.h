// The names of everything in Redis. docs/formats/redis.md says what stands under each.
#pragma once

#include <string>
#include <string_view>

#include "leasehold/lease.h"

namespace leasehold::redis {

// Names of one namespace. Different things have different names, whatever they are called.
class Keys {
 public:
  // An empty namespace gives names without a prefix.
  static Keys of_namespace(std::string_view name);
  // Workspaces share a server without meeting.
  static Keys of_workspace(std::string_view workspace);

  std::string file(std::string_view path) const { return named("file:", path); }
  std::string queue(std::string_view path) const { return named("queue:", path); }
  std::string id(const LeaseId& lease) const { return named("id:", lease.text); }
  std::string id_prefix() const { return named("id:", {}); }
  std::string ticket(const GroupId& ticket) const { return named("ticket:", ticket.text); }
  std::string ticket_prefix() const { return named("ticket:", {}); }
  std::string owner(const Owner& owner) const { return this->owner(owner_text(owner)); }
  std::string owner(std::string_view owner_text) const { return named("owner:", owner_text); }
  std::string agent(std::string_view agent_id) const { return named("agent:", agent_id); }
  std::string pr(std::string_view pr_id) const { return named("pr:", pr_id); }
  std::string session(std::string_view session_id) const { return named("session:", session_id); }
  std::string rate(std::string_view session_id) const { return named("rate:", session_id); }
  // The one name that does not begin with lease:, as those who asked for it look for it.
  std::string session_locks(std::string_view session_id) const {
    return prefix_ + "session:locks:" + std::string(session_id);
  }
  std::string waits(const Owner& owner) const;
  std::string notices(const Owner& owner) const { return notices(owner_text(owner)); }
  std::string notices(std::string_view owner_text) const { return named("notices:", owner_text); }
  std::string gate(const Owner& owner) const { return gate(owner_text(owner)); }
  std::string gate(std::string_view owner_text) const { return named("gate:", owner_text); }
  std::string answer(const Owner& owner, std::string_view key) const {
    return answer(owner_text(owner) + "/" + std::string(key));
  }
  std::string answer(std::string_view owner_and_key) const { return named("answer:", owner_and_key); }
  // One for all agents of a session.
  std::string last(const Owner& owner, std::string_view path) const;

  // A member of paths(). No path has a NUL, so those of a path are one range, and those below a directory.
  static std::string held(std::string_view path, std::string_view lease_id);
  static std::string_view path_of_held(std::string_view member) {
    return member.substr(0, member.find('\0'));
  }

  // One each.
  std::string paths() const { return named("paths", {}); }
  std::string waiting() const { return named("waiting", {}); }
  std::string times() const { return named("times", {}); }
  std::string tickets() const { return named("tickets", {}); }
  std::string drop() const { return named("drop", {}); }
  std::string denied() const { return named("denied", {}); }
  std::string configs() const { return named("configs", {}); }
  std::string history() const { return named("history", {}); }
  std::string intent() const { return named("intent", {}); }
  std::string guard() const { return named("guard", {}); }
  std::string changes() const { return named("changes", {}); }
  std::string dirs() const { return named("dirs", {}); }
  std::string format() const { return named("format", {}); }

  // What every name begins with.
  const std::string& prefix() const { return prefix_; }
  std::string lease_prefix() const { return named({}, {}); }

  // session/agent, so that no two owners read the same.
  static std::string owner_text(const Owner& owner);

 private:
  explicit Keys(std::string prefix) : prefix_(std::move(prefix)) {}
  std::string named(std::string_view kind, std::string_view name) const;

  const std::string prefix_;
};

// Of all namespaces together: tokens rise across them, and the ids of tickets are unique.
inline constexpr std::string_view kTokenKey = "lease:token";
inline constexpr std::string_view kSpareKey = "lease:spare";
std::string bell_channel(const GroupId& ticket);
GroupId ticket_of_bell(std::string_view channel);

}  // namespace leasehold::redis
