#include "store/redis/indexes.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/deadline.h"

namespace leasehold::redis {
namespace {

std::int64_t micros(Time time) {
  return std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()).count();
}

void add_lease(Indexes& to, const Keys& keys, const Lease& lease) {
  const Owner& owner = lease.holder.owner;
  to[keys.last(owner, lease.path)][lease.id.text] =
      fmt::format("{:020}", lease.created_at.time_since_epoch().count());
  if (lease.status == Status::pending) return;
  if (lease.status != Status::active) {
    to[keys.times()][lease.id.text] = ended_score(lease.updated_at);
    return;
  }
  to[keys.times()][lease.id.text] = active_score(earliest_deadline(lease));
  to[keys.owner(owner)][lease.id.text] = lease.path;
  to[keys.agent(owner.agent_id)][lease.path];
  to[keys.paths()][Keys::held(lease.path, lease.id.text)] = "0";
  if (!owner.session_id.empty()) to[keys.session(owner.session_id)][owner.agent_id];
  if (!lease.holder.pr_id.empty()) to[keys.pr(lease.holder.pr_id)][lease.path];
  if (lease.subtree) to[keys.dirs()]["id:" + lease.id.text] = lease.path;
}

void add_ticket(Indexes& to, const Keys& keys, const Ticket& ticket) {
  if (ticket.status != Status::pending) {
    to[keys.tickets()][ticket.id.text] = ended_score(ticket.ended_at);
    return;
  }
  to[keys.tickets()][ticket.id.text] = active_score(earliest_deadline(ticket));
  to[keys.waits(ticket.request->caller.holder.owner)][ticket.id.text];
  for (const WantedPath& wanted : ticket.request->paths) {
    to[keys.queue(wanted.path)][ticket.id.text] = active_score(ticket.order);
    to[keys.waiting()][wanted.path] = "0";
  }
  if (const WantedPath* wanted = directory_of(ticket))
    to[keys.dirs()]["ticket:" + ticket.id.text] = wanted->path;
}

// A member of the sorted set of what is to be dropped: what kind, and where.
std::string drop_member(char kind, std::string_view where) { return fmt::format("{}{}", kind, where); }

}  // namespace

Indexes indexes_of(const Keys& keys, const Records& records) {
  Indexes all;
  for (const auto& [id, lease] : records.leases) add_lease(all, keys, lease);
  for (const Ticket& ticket : records.tickets) add_ticket(all, keys, ticket);
  Index& drop = all[keys.drop()];
  for (const Answer& answer : records.answers) drop[drop_name(answer)] = active_score(answer.drop_at);
  for (const Notice& notice : records.notices)
    drop[drop_name(notice.owner, notice.id)] = active_score(notice.drop_at);
  for (const Contention& contention : records.contentions) {
    const std::string owner_text = Keys::owner_text(contention.owner());
    drop[drop_name(owner_text, contention.path)] = active_score(contention.drop_at);
    all[keys.denied()][owner_text];
  }
  return all;
}

std::string drop_name(const Answer& answer) {
  return drop_member('a', Keys::owner_text(answer.owner) + "/" + answer.key);
}
std::string drop_name(const Owner& owner, const std::string& notice) {
  return drop_member('n', Keys::owner_text(owner) + "/" + notice);
}
std::string drop_name(std::string_view owner_text, std::string_view path) {
  return drop_member('g', fmt::format("{}/{}", owner_text, path));
}

const WantedPath* directory_of(const Ticket& ticket) {
  const auto found = std::ranges::find(ticket.request->paths, true, &WantedPath::subtree);
  return found == ticket.request->paths.end() ? nullptr : &*found;
}

std::string active_score(Time deadline) {
  return std::to_string(std::max<std::int64_t>(micros(deadline), 0));
}
std::string ended_score(Time ended_at) {
  return std::to_string(-std::max<std::int64_t>(micros(ended_at), 1));
}

}  // namespace leasehold::redis
