// The names of everything in etcd. docs/formats/etcd.md says what stands under each.
//
// An area is a name, its guard, and all names that continue it behind a NUL. No name of ours contains a NUL
// otherwise, so an area is one range of keys: [name, name + "\1").
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "leasehold/lease.h"

namespace leasehold::etcd {

// From `first` up to, and without, `second`.
using KeyRange = std::pair<std::string, std::string>;

KeyRange area(const std::string& name);
// All names that begin with `prefix`, which ends with a slash.
KeyRange names_below(const std::string& prefix);

// Names of one workspace. Different things have different names, whatever they are called.
class Keys {
 public:
  Keys(std::string_view prefix, std::string_view workspace);

  // The area of a path: who holds it (and, attached to a lease of etcd's, that it is still held), who waits.
  std::string at(std::string_view path) const { return named("at/", path); }
  // A lease has a name among those of its path: a number that is free, so that one key serves a path for
  // ever. (etcd looks through the names of what was deleted, until it is compacted.) Or its id, if it was put
  // there without knowing which are.
  std::string lease_at(std::string_view path, std::string_view name) const {
    return member(at(path), 'l', name);
  }
  std::string presence(std::string_view path, std::string_view name) const {
    return lease_at(path, name) + '+';
  }
  KeyRange leases_at(std::string_view path) const {
    return {member(at(path), 'l', {}), member(at(path), 'm', {})};
  }
  // All of the area but who waits.
  KeyRange held_at(std::string_view path) const { return {at(path), member(at(path), 'm', {})}; }
  // A wait has the name of its owner, who most often comes again, or of its ticket, if the owner waits there
  // already or for several paths at once.
  std::string ticket_at(std::string_view path, const GroupId& id) const {
    return member(at(path), 't', id.text);
  }
  std::string wait_at(std::string_view path, const Owner& owner) const {
    return member(at(path), 't', owner_text(owner));
  }

  // The area of an owner: its leases, what the gate remembers of it, its notices, what it waits for.
  std::string of(const Owner& owner) const { return of(owner_text(owner)); }
  std::string of(std::string_view owner_text) const { return named("of/", owner_text); }
  // With a number the path is in the key and the id its value; with the id it is the other way round.
  std::pair<std::string, std::string> lease_of(const Owner& owner, const LeaseId& id, std::string_view path,
                                               std::string_view name) const;
  // The id and the path of such a key; `in_area` is what follows the NUL.
  static std::pair<LeaseId, std::string> owned_lease(std::string_view in_area, const std::string& value);
  std::string gate_of(const Owner& owner, std::string_view path) const {
    return member(of(owner), 'c', path);
  }
  std::string notice_of(const Owner& owner, std::string_view id) const { return member(of(owner), 'n', id); }
  std::string wait_of(const Owner& owner, const GroupId& id) const { return member(of(owner), 'w', id.text); }
  // That it asked for the path alone: whether it waits, has got it, or neither any more, is to be seen there.
  // So neither a grant nor a release writes it.
  std::string asked(const Owner& owner, std::string_view path) const { return member(of(owner), 'q', path); }
  KeyRange leases_of(const std::string& owner_area) const {
    return {member(owner_area, 'a', {}), member(owner_area, 'b', {})};
  }
  KeyRange rest_of(const std::string& owner_area) const {
    return {member(owner_area, 'b', {}), area(owner_area).second};
  }
  // What says that somebody waits, or did, in either kind of area.
  static bool is_wait(std::string_view key);
  // All owners of a session.
  std::string of_session(std::string_view session_id) const;

  // The area of what a session, or an agent without one, had on a path.
  std::string last(const Owner& owner, std::string_view path) const;

  std::string id(const LeaseId& id) const { return named("id/", id.text); }
  std::string ticket(const GroupId& id) const { return named("ticket/", id.text); }
  // How it ended, and what its bell was rung with. In the area of the ticket, so it stands right behind it.
  std::string end_of(const GroupId& id) const { return member(ticket(id), 'e', {}); }
  std::string answer(const Owner& owner, std::string_view key) const;
  std::string rate(std::string_view session_id) const { return named("rate/", session_id); }
  std::string session(std::string_view session_id) const {
    return named("session/", session_id);
  }  // An area.
  std::string configs() const { return named("config", {}); }  // An area.

  // History: which bucket is being filled, and the events in buckets.
  std::string era() const { return named("era", {}); }
  std::string bucket(std::uint64_t number) const;  // Ends with a slash.

  // All of a kind: at/, of/, id/, ticket/, answer/, history/.
  std::string all(std::string_view kind) const { return named(kind, {}); }
  const std::string& root() const { return root_; }

  // session/agent, so that no two owners read the same.
  static std::string owner_text(const Owner& owner);
  static std::string member(std::string area, char kind, std::string_view name);

 private:
  std::string named(std::string_view kind, std::string_view name) const;

  const std::string root_;  // prefix/w/workspace/
};

// Of all workspaces together.
std::string base_key(std::string_view prefix);
std::string stamp_key(std::string_view prefix);
std::string request_key(std::string_view prefix, std::string_view client, std::uint64_t number);

}  // namespace leasehold::etcd
