// What a body changed, as commands of one MULTI/EXEC.
//
// EXEC runs every command, also behind one that fails. So nothing goes in that could fail: keys that were
// read are of the right type, and those that are only written are looked at, the first time, by the guard in
// front of MULTI.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "model/scope.h"
#include "store/deadline.h"
#include "store/json/records_json.h"
#include "store/json/stored_records.h"
#include "store/redis/scripts.h"
#include "store/redis/transaction.h"

namespace leasehold::redis {
namespace {

constexpr std::size_t kProvenMax = 200'000;

// Few enough new ids are cheaper to look at one by one.
constexpr std::size_t kCopiesMax = 4;

bool is_active(const std::optional<Lease>& lease) { return lease && lease->status == Status::active; }
bool is_pending(const std::optional<Ticket>& ticket) { return ticket && ticket->status == Status::pending; }

// When Redis may drop the key by itself: at the end of the last lease, but not of one that being seen alive
// may keep.
std::optional<std::int64_t> expiry_ms(const std::vector<Lease>& leases) {
  Time latest = Time::min();
  for (const Lease& lease : leases) {
    if (lease.attended || lease.expires_at == kForever) return std::nullopt;
    latest = std::max(latest, lease.expires_at);
  }
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(latest.time_since_epoch()).count();
  return std::max<std::int64_t>(ms, 1);
}

}  // namespace

struct RedisTransaction::Commands {
  explicit Commands(Shared& all) : shared(all) {}

  Shared& shared;
  std::string bytes;
  std::size_t count = 0;
  std::vector<std::string> new_keys;                          // Must not exist.
  std::vector<std::pair<std::string, std::string>> unproven;  // Keys and their types.

  void add(std::initializer_list<std::string_view> words) {
    Connection::format(bytes, Words(words.begin(), words.size()));
    ++count;
  }

  // A key that is written without having been read.
  const std::string& blind(const std::string& key, const char* type) {
    const std::lock_guard lock(shared.mutex);
    if (!shared.proven.contains(key)) unproven.emplace_back(key, type);
    return key;
  }

  void prove() const {
    const std::lock_guard lock(shared.mutex);
    if (shared.proven.size() > kProvenMax) shared.proven.clear();
    for (const auto& [key, type] : unproven) shared.proven.insert(key);
  }
};

// What has to be known to write the changes.
void RedisTransaction::want_for_write(Round& round) {
  for (const LeaseId& id : changed_leases_) {
    const Known<Lease>& known = known_leases_[id.text];
    if (known.stored && !known.is_protected) want_lease(round, id);
    if (is_active(known.stored)) {
      want_path(round, known.stored->path);
      // Whether it was its owner's last one.
      if (!known.stored->holder.owner.session_id.empty())
        want_leases_of(round, known.stored->holder.owner, 0);
    }
    if (const auto after = tables_.lease(id); is_active(after)) want_path(round, after->path);
  }
  for (const GroupId& id : changed_tickets_) {
    const Known<Ticket>& known = known_tickets_[id.text];
    if (known.stored && !known.is_protected) want_ticket(round, id);
    if (!is_pending(known.stored)) continue;
    for (const WantedPath& wanted : known.stored->request.paths) want_path(round, wanted.path);
  }
}

// Somebody wants a directory and was disturbed again and again by what goes on below it.
void RedisTransaction::respect_intent() const {
  if (foreign_intent_.empty() || foreign_intent_ == leftover_.intent) return;
  const Scope wanted = {foreign_intent_.substr(foreign_intent_.find(' ') + 1), true};
  const auto is_below = [&](const std::string& path) { return overlaps(wanted, {path, false}); };
  for (const LeaseId& id : changed_leases_) {
    if (const auto lease = tables_.lease(id); lease && is_below(lease->path)) throw Conflict();
  }
  for (const GroupId& id : changed_tickets_) {
    const auto ticket = tables_.ticket(id);
    if (!ticket) continue;
    for (const WantedPath& path : ticket->request.paths) {
      if (is_below(path.path)) throw Conflict();
    }
  }
}

void RedisTransaction::write_lease(Commands& commands, const LeaseId& id) {
  const Known<Lease>& known = known_leases_[id.text];
  const std::optional<Lease> after = tables_.lease(id);
  const std::string key = keys_.id(id);
  if (known.is_new) commands.new_keys.push_back(key);
  if (after) {
    commands.add({"SET", key, texts_.emplace(id.text, to_json(*after)).first->second});
  } else {
    commands.add({"DEL", key});
  }

  if (is_active(after)) {
    const std::string score = active_score(earliest_deadline(*after));
    if (!is_active(known.stored) || score != active_score(earliest_deadline(*known.stored)))
      commands.add({"ZADD", commands.blind(keys_.times(), "zset"), score, id.text});
  } else if (after && after->status != Status::pending) {
    commands.add({"ZADD", commands.blind(keys_.times(), "zset"), ended_score(after->updated_at), id.text});
  } else if (known.stored) {
    commands.add({"ZREM", commands.blind(keys_.times(), "zset"), id.text});
  }

  const auto place = [&](const Lease& lease) { return keys_.last(lease.holder.owner, lease.path); };
  const std::string before_place = known.stored ? place(*known.stored) : std::string();
  const std::string after_place = after ? place(*after) : std::string();
  if (before_place == after_place) return;
  if (!before_place.empty()) commands.add({"LREM", commands.blind(before_place, "list"), "1", id.text});
  if (!after_place.empty()) commands.add({"RPUSH", commands.blind(after_place, "list"), id.text});
}

// Which leases are at a path, and which an owner, an agent, a session and a PR have.
void RedisTransaction::write_indexes(Commands& commands, const std::optional<Lease>& before,
                                     const std::optional<Lease>& after) {
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

  const bool same_place = was && is && before->path == after->path;
  if (was && !same_place)
    commands.add({"SREM", commands.blind(keys_.at(before->path), "set"), before->id.text});
  if (is && !same_place) commands.add({"SADD", commands.blind(keys_.at(after->path), "set"), after->id.text});
  if (was && !same_owner) {
    const Owner& owner = before->holder.owner;
    commands.add({"HDEL", commands.blind(keys_.owner(owner), "hash"), before->id.text});
    if (!owner.session_id.empty() && count_of(owner) == 0)
      commands.add({"SREM", commands.blind(keys_.session(owner.session_id), "set"), owner.agent_id});
  }
  if (was && !still_held(*before, agent))
    commands.add({"SREM", commands.blind(keys_.agent(agent(*before)), "set"), before->path});
  if (was && !pr(*before).empty() && !still_held(*before, pr))
    commands.add({"SREM", commands.blind(keys_.pr(pr(*before)), "set"), before->path});

  if (!is) return;
  const Owner& owner = after->holder.owner;
  // Also when nothing changes in it: whoever read this owner's leases is told so.
  commands.add({"HSET", commands.blind(keys_.owner(owner), "hash"), after->id.text, after->path});
  if (!same_owner && !owner.session_id.empty())
    commands.add({"SADD", commands.blind(keys_.session(owner.session_id), "set"), owner.agent_id});
  if (!same_place || agent(*before) != agent(*after))
    commands.add({"SADD", commands.blind(keys_.agent(agent(*after)), "set"), after->path});
  if (!pr(*after).empty() && (!same_place || pr(*before) != pr(*after)))
    commands.add({"SADD", commands.blind(keys_.pr(pr(*after)), "set"), after->path});
}

// All who hold a path, as one document.
void RedisTransaction::write_path(Commands& commands, const std::string& path) {
  const std::string key = keys_.file(path);
  must_be_whole(key);
  std::vector<Lease> leases = tables_.leases_at({path, false});
  std::erase_if(leases, [&](const Lease& lease) { return lease.path != path; });
  if (leases.empty()) {
    commands.add({"DEL", key});
    commands.add({"ZREM", commands.blind(keys_.paths(), "zset"), path});
    return;
  }
  std::ranges::sort(leases, {},
                    [](const Lease& lease) { return std::tie(lease.acquired_at, lease.token, lease.id); });
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
    commands.add({"SET", key, document});
  }
  commands.add({"ZADD", commands.blind(keys_.paths(), "zset"), "0", path});
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

  std::set<std::string> left;
  if (is_pending(known.stored)) {
    for (const WantedPath& wanted : known.stored->request.paths) left.insert(wanted.path);
    const Owner& owner = known.stored->request.caller.holder.owner;
    if (!is_pending(after) || keys_.waits(after->request.caller.holder.owner) != keys_.waits(owner))
      commands.add({"SREM", commands.blind(keys_.waits(owner), "set"), id.text});
  }
  if (is_pending(after)) {
    const std::string stamp = active_score(after->order);
    for (const WantedPath& wanted : after->request.paths) {
      left.erase(wanted.path);
      // Also when it stands there already: whoever read this queue is told that a ticket in it changed.
      commands.add({"HSET", commands.blind(keys_.queue(wanted.path), "hash"), id.text, stamp});
      commands.add({"ZADD", commands.blind(keys_.waiting(), "zset"), "0", wanted.path});
    }
    commands.add({"SADD", commands.blind(keys_.waits(after->request.caller.holder.owner), "set"), id.text});
  }
  for (const std::string& path : left) {
    commands.add({"HDEL", keys_.queue(path), id.text});
    write_queue_index(commands, path);
  }
}

// The queue was read, so it is known whether the last one has left it.
void RedisTransaction::write_queue_index(Commands& commands, const std::string& path) {
  must_be_whole(keys_.queue(path));
  const std::vector<Ticket> waiting = tables_.tickets_at({path, false});
  const bool names_it = std::ranges::any_of(waiting, [&](const Ticket& ticket) {
    return std::ranges::find(ticket.request.paths, path, &WantedPath::path) != ticket.request.paths.end();
  });
  if (!names_it) commands.add({"ZREM", commands.blind(keys_.waiting(), "zset"), path});
}

// Notices and answers, and when they may go.
void RedisTransaction::write_kept(Commands& commands) {
  for (const auto& [id, change] : changed_notices_) {
    const auto& [owner, notice] = change;
    const std::string key = commands.blind(keys_.notices(owner), "hash");
    const std::string member = drop_name(owner, id);
    if (notice) {
      commands.add({"HSET", key, id, to_json(*notice)});
      commands.add({"ZADD", commands.blind(keys_.drop(), "zset"), active_score(notice->drop_at), member});
    } else {
      commands.add({"HDEL", key, id});
      commands.add({"ZREM", commands.blind(keys_.drop(), "zset"), member});
    }
  }
  for (const auto& [key, answer] : changed_answers_) {
    if (answer) {
      commands.add({"SET", key, to_json(*answer)});
      commands.add(
          {"ZADD", commands.blind(keys_.drop(), "zset"), active_score(answer->drop_at), drop_name(*answer)});
    } else {
      commands.add({"DEL", key});
      commands.add({"ZREM", commands.blind(keys_.drop(), "zset"), "a" + key.substr(keys_.answer("").size())});
    }
  }
  for (const auto& [key, member] : stale_) commands.add({"ZREM", commands.blind(key, "zset"), member});
}

void RedisTransaction::write_contentions(Commands& commands) {
  const std::string prefix = keys_.gate("");
  for (const auto& [place, contention] : changed_contentions_) {
    const auto& [key, path] = place;
    const std::string owner_text = key.substr(prefix.size());
    const std::string member = drop_name(owner_text, path);
    if (contention) {
      commands.add({"HSET", commands.blind(key, "hash"), path, to_json(*contention)});
      commands.add({"SADD", commands.blind(keys_.denied(), "set"), owner_text});
      commands.add({"ZADD", commands.blind(keys_.drop(), "zset"), active_score(contention->drop_at), member});
    } else {
      // The owner stays in the set: most often it is not its only one, and an empty hash costs a look.
      commands.add({"HDEL", commands.blind(key, "hash"), path});
      commands.add({"ZREM", commands.blind(keys_.drop(), "zset"), member});
    }
  }
}

void RedisTransaction::write_settings(Commands& commands) {
  for (const auto& [stored_key, setting] : changed_settings_) {
    const std::string key = commands.blind(keys_.configs(), "hash");
    if (setting) {
      commands.add({"HSET", key, stored_key, to_json(*setting)});
    } else {
      commands.add({"HDEL", key, stored_key});
    }
  }
}

void RedisTransaction::write_events(Commands& commands) {
  const std::string key = keys_.history();
  const std::int64_t cutoff = std::max<std::int64_t>(server_ms_ - shared_.options.history_life.count(), 0);
  // Now and then is often enough, and trimming is what costs most of it.
  const bool trims = server_ms_ % 64 == 0;
  for (const Event& event : events_) {
    if (trims) {
      commands.add({"XADD", commands.blind(key, "stream"), "MINID", "~", std::to_string(cutoff), "*", "event",
                    to_json(event)});
    } else {
      commands.add({"XADD", commands.blind(key, "stream"), "*", "event", to_json(event)});
    }
  }
  for (const std::string& id : trimmed_) commands.add({"XDEL", commands.blind(key, "stream"), id});
  for (const GroupId& ticket : bells_) commands.add({"PUBLISH", bell_channel(ticket), "1"});
}

bool RedisTransaction::commit() {
  const bool nothing = changed_leases_.empty() && changed_tickets_.empty() && changed_notices_.empty() &&
                       changed_answers_.empty() && changed_contentions_.empty() &&
                       changed_settings_.empty() && events_.empty() && bells_.empty() && stale_.empty() &&
                       trimmed_.empty();
  if (nothing) return true;
  Round round;
  want_for_write(round);
  load(round);
  respect_intent();

  Commands commands(shared_);
  std::set<std::string> paths;
  for (const LeaseId& id : changed_leases_) {
    write_lease(commands, id);
    const std::optional<Lease>& before = known_leases_[id.text].stored;
    const std::optional<Lease> after = tables_.lease(id);
    write_indexes(commands, before, after);
    if (is_active(before)) paths.insert(before->path);
    if (is_active(after)) paths.insert(after->path);
  }
  for (const std::string& path : paths) write_path(commands, path);
  for (const GroupId& id : changed_tickets_) write_ticket(commands, id);
  write_kept(commands);
  write_contentions(commands);
  write_settings(commands);
  write_events(commands);
  if (!leftover_.intent.empty()) commands.add({"DEL", keys_.intent()});
  if (!execute(commands)) return false;
  commands.prove();
  remember();
  return true;
}

bool RedisTransaction::execute(Commands& commands) {
  const std::string guard = keys_.guard();
  const bool by_script = !commands.unproven.empty() || commands.new_keys.size() > kCopiesMax;
  if (by_script) {
    const std::string count = std::to_string(commands.new_keys.size());
    // By its text: a server that forgot the script would say so and go on to EXEC.
    std::vector<std::string_view> words = {"EVAL", kGuardScript, "1", guard, count};
    words.insert(words.end(), commands.new_keys.begin(), commands.new_keys.end());
    for (const auto& [key, type] : commands.unproven) words.insert(words.end(), {key, type});
    connection_.add(words);
  } else {
    // Touches the guard if such a key exists.
    for (const std::string& key : commands.new_keys) connection_.add({"COPY", key, guard, "REPLACE"});
  }
  const std::size_t guards = connection_.pending();
  connection_.add({"MULTI"});
  connection_.add_formatted(commands.bytes, commands.count);
  connection_.add({"EXEC"});

  bool sent = false;
  std::vector<Reply> replies;
  try {
    replies = connection_.exchange(&sent);
  } catch (Failure& failure) {
    if (!sent) throw;
    failure.error.code = Code::outcome_unknown;
    failure.error.message = fmt::format(
        "The answer to a change was lost: {} Whether it was made is not known; asking "
        "again is safe.",
        failure.error.message);
    throw;
  }
  connection_.watches = false;

  const ReplyView executed = replies.back().view();
  if (executed.is_error()) {
    const auto refused =
        std::ranges::find_if(replies, [](const Reply& reply) { return reply.view().is_error(); });
    throw Failure{error_of(refused->view().text(), connection_.address(), "Writing the leases")};
  }
  if (executed.is_array()) return true;
  bool exists = false;
  for (std::size_t i = 0; i < guards; ++i) {
    const ReplyView found = replies[i].view();
    if (by_script && found.is_text() && found.text() != "EXISTS") {
      bad_.emplace(std::string(found.text()), "it is of another type");
      must_be_whole(std::string(found.text()));
    }
    exists |= found.integer() != 0 || found.text() == "EXISTS";
  }
  if (exists) {
    connection_.add({"DEL", guard});
    connection_.exchange();
    for (const LeaseId& id : changed_leases_) {
      if (known_leases_[id.text].is_new) leftover_.leases.push_back(id);
    }
    for (const GroupId& id : changed_tickets_) {
      if (known_tickets_[id.text].is_new) leftover_.tickets.push_back(id);
    }
  }
  return false;
}

void RedisTransaction::remember() {
  for (const LeaseId& id : changed_leases_) {
    if (const auto lease = tables_.lease(id)) shared_.hints.note(keys_.owner(lease->holder.owner), *lease);
  }
  for (const GroupId& id : changed_tickets_) {
    if (const auto ticket = tables_.ticket(id)) shared_.hints.note(*ticket);
  }
}

}  // namespace leasehold::redis
