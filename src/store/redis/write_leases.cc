// Leases and requests that wait, with all that leads to them, as commands.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "store/deadline.h"
#include "store/json/stored_records.h"
#include "store/redis/commands.h"
#include "store/redis/document.h"
#include "store/redis/indexes.h"
#include "util/utf8.h"

namespace leasehold::redis {
namespace {

// All of them are renewed, or released, by one EXEC. An estimate: what the server takes for it is not
// measured.
constexpr std::size_t kLeasesOfOwnerMax = 20'000;

}  // namespace

void RedisTransaction::write_lease(Commands& commands, const LeaseId& id) {
  const Known<Lease>& known = known_leases_[id.text];
  const Lease* after = tables_.find_lease(id);
  const std::string key = keys_.id(id);
  if (known.is_new) commands.new_keys.push_back(key);
  if (after != nullptr) {
    commands.gather("MSET", {}, {key, texts_.emplace(id.text, to_json(*after)).first->second});
  } else {
    commands.gather("DEL", {}, {key});
  }

  if (is_active(after)) {
    const std::string score = active_score(earliest_deadline(*after));
    if (!is_active(known.stored) || score != active_score(earliest_deadline(*known.stored)))
      commands.gather("ZADD", commands.blind(keys_.times(), "zset"), {score, id.text});
  } else if (after != nullptr && after->status != Status::pending) {
    commands.gather("ZADD", commands.blind(keys_.times(), "zset"), {ended_score(after->updated_at), id.text});
  } else if (known.stored) {
    commands.gather("ZREM", commands.blind(keys_.times(), "zset"), {id.text});
  }

  const auto place = [&](const Lease& lease) { return keys_.last(lease.holder.owner, lease.path); };
  const std::string before_place = known.stored ? place(*known.stored) : std::string();
  const std::string after_place = after != nullptr ? place(*after) : std::string();
  if (before_place == after_place) return;
  if (!before_place.empty()) commands.add({"LREM", commands.blind(before_place, "list"), "1", id.text});
  if (!after_place.empty()) commands.add({"RPUSH", commands.blind(after_place, "list"), id.text});
}

// Which leases are at a path, and which an owner, an agent, a session and a PR have.
void RedisTransaction::write_indexes(Commands& commands, const std::optional<Lease>& before,
                                     const Lease* after) {
  const bool was = is_active(before);
  const bool is = is_active(after);
  const bool same_owner = was && is && before->holder.owner == after->holder.owner;
  // True if the path is still held by one like `lease`, as `part` tells it.
  const auto still_held = [&](const Lease& lease, const auto& part) {
    return std::ranges::any_of(tables_.leases_at({lease.path, false}), [&](const Lease& other) {
      return other.path == lease.path && part(other) == part(lease);
    });
  };
  const auto agent = [](const Lease& lease) -> const std::string& { return lease.holder.owner.agent_id; };
  const auto pr = [](const Lease& lease) -> const std::string& { return lease.holder.pr_id; };

  // Whoever asks for a file looks there whether anything above it matters.
  const bool was_dir = was && before->subtree;
  const bool is_dir = is && after->subtree;
  if (was_dir && !is_dir)
    commands.gather("HDEL", commands.blind(keys_.dirs(), "hash"), {"id:" + before->id.text});
  if (is_dir && !was_dir)
    commands.gather("HSET", commands.blind(keys_.dirs(), "hash"), {"id:" + after->id.text, after->path});

  const bool same_place = was && is && before->path == after->path;
  if (was && !same_place)
    commands.gather("ZREM", commands.blind(keys_.paths(), "zset"),
                    {Keys::held(before->path, before->id.text)});
  if (is && !same_place) {
    commands.gather("ZADD", commands.blind(keys_.paths(), "zset"),
                    {"0", Keys::held(after->path, after->id.text)});
  }
  if (was && !same_owner) {
    const Owner& owner = before->holder.owner;
    commands.gather("HDEL", commands.blind(keys_.owner(owner), "hash"), {before->id.text});
    commands.givers.insert(owner);
  }
  if (was && !still_held(*before, agent))
    commands.gather("SREM", commands.blind(keys_.agent(agent(*before)), "set"), {before->path});
  if (was && !pr(*before).empty() && !still_held(*before, pr))
    commands.gather("SREM", commands.blind(keys_.pr(pr(*before)), "set"), {before->path});

  if (!is) return;
  const Owner& owner = after->holder.owner;
  if (!same_owner) commands.takers.insert(owner);
  // Also when nothing changes in it: whoever read this owner's leases is told so.
  commands.gather("HSET", commands.blind(keys_.owner(owner), "hash"), {after->id.text, after->path});
  if (!same_owner && !owner.session_id.empty())
    commands.gather("SADD", commands.blind(keys_.session(owner.session_id), "set"), {owner.agent_id});
  if (!same_place || agent(*before) != agent(*after))
    commands.gather("SADD", commands.blind(keys_.agent(agent(*after)), "set"), {after->path});
  if (!pr(*after).empty() && (!same_place || pr(*before) != pr(*after)))
    commands.gather("SADD", commands.blind(keys_.pr(pr(*after)), "set"), {after->path});
}

// Who has more than that could not renew or give back all of it at once. Others who get something by this
// change do not count: nobody's release fails for what somebody else has.
void RedisTransaction::limit_owners(const Commands& commands) {
  for (const Owner& owner : callers_) {
    if (!commands.takers.contains(owner) || count_of(owner) <= kLeasesOfOwnerMax) continue;
    throw Failure{{Code::limit_exceeded,
                   fmt::format("{} would have more than {} leases, which is as many as an owner can have in "
                               "Redis. Release some, or lease a directory instead of its files.",
                               in_sentence(owner.agent_id), kLeasesOfOwnerMax)}};
  }
}

// Those who gave back the last they had. Counted once for each, and not for each lease.
void RedisTransaction::write_owners(Commands& commands) {
  limit_owners(commands);
  for (const Owner& owner : commands.givers) {
    if (!owner.session_id.empty() && count_of(owner) == 0)
      commands.gather("SREM", commands.blind(keys_.session(owner.session_id), "set"), {owner.agent_id});
  }
}

// All who hold a path, as one document.
void RedisTransaction::write_path(Commands& commands, const std::string& path) {
  const std::string key = keys_.file(path);
  must_be_whole(key);
  std::vector<Lease> leases = tables_.leases_at({path, false});
  std::erase_if(leases, [&](const Lease& lease) { return lease.path != path; });
  if (leases.empty()) {
    commands.gather("DEL", {}, {key});
    return;
  }
  sort_for_document(leases);
  std::vector<std::string> texts;
  for (const Lease& lease : leases) {
    const auto known = texts_.find(lease.id.text);
    texts.push_back(known != texts_.end() ? known->second : to_json(lease));
  }
  const std::string document = path_document(leases.front(), texts);
  const auto expiry = shared_.options.clock == nullptr ? expiry_ms(leases) : std::nullopt;
  if (expiry) {
    commands.add({"SET", key, document, "PXAT", std::to_string(*expiry)});
  } else {
    commands.gather("MSET", {}, {key, document});
  }
}

void RedisTransaction::write_ticket(Commands& commands, const GroupId& id) {
  const Known<Ticket>& known = known_tickets_[id.text];
  const std::optional<Ticket> after = tables_.ticket(id);
  const std::string key = keys_.ticket(id);
  if (known.is_new) commands.new_keys.push_back(key);
  if (after) {
    commands.add({"SET", key, to_json(*after)});
  } else {
    commands.add({"DEL", key});
  }

  const std::string tickets = commands.blind(keys_.tickets(), "zset");
  if (is_pending(after)) {
    commands.add({"ZADD", tickets, active_score(earliest_deadline(*after)), id.text});
  } else if (after) {
    commands.add({"ZADD", tickets, ended_score(after->ended_at), id.text});
  } else {
    commands.add({"ZREM", tickets, id.text});
  }

  const std::string place = "ticket:" + id.text;
  std::set<std::string> left;
  if (is_pending(known.stored)) {
    for (const WantedPath& wanted : known.stored->request->paths) left.insert(wanted.path);
    if (!is_pending(after) && directory_of(*known.stored) != nullptr)
      commands.gather("HDEL", commands.blind(keys_.dirs(), "hash"), {place});
    const Owner& owner = known.stored->request->caller.holder.owner;
    if (!is_pending(after) || keys_.waits(after->request->caller.holder.owner) != keys_.waits(owner))
      commands.add({"SREM", commands.blind(keys_.waits(owner), "set"), id.text});
  }
  if (is_pending(after)) {
    if (const WantedPath* wanted = directory_of(*after))
      commands.gather("HSET", commands.blind(keys_.dirs(), "hash"), {place, wanted->path});
    const std::string stamp = active_score(after->order);
    for (const WantedPath& wanted : after->request->paths) {
      left.erase(wanted.path);
      // Also when it stands there already: whoever read this queue is told that a ticket in it changed.
      commands.add({"HSET", commands.blind(keys_.queue(wanted.path), "hash"), id.text, stamp});
      commands.add({"ZADD", commands.blind(keys_.waiting(), "zset"), "0", wanted.path});
    }
    commands.add({"SADD", commands.blind(keys_.waits(after->request->caller.holder.owner), "set"), id.text});
  }
  for (const std::string& path : left) {
    commands.add({"HDEL", keys_.queue(path), id.text});
    write_queue_index(commands, path);
  }
}

// The queue was read, so it is known whether the last one has left it.
void RedisTransaction::write_queue_index(Commands& commands, const std::string& path) {
  must_be_whole(keys_.queue(path));
  const bool names_it =
      std::ranges::any_of(tables_.find_tickets_at({path, false}), [&](const Ticket* ticket) {
        return std::ranges::find(ticket->request->paths, path, &WantedPath::path) !=
               ticket->request->paths.end();
      });
  if (!names_it) commands.add({"ZREM", commands.blind(keys_.waiting(), "zset"), path});
}

}  // namespace leasehold::redis
