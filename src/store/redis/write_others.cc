// What is kept besides leases, as commands: notices, answers, what the gate remembers, settings, history,
// bells.
#include <algorithm>

#include "store/json/records_json.h"
#include "store/json/stored_records.h"
#include "store/redis/commands.h"
#include "store/redis/indexes.h"

namespace leasehold::redis {

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
      commands.add({"HDEL", commands.blind(key, "hash"), path});
      const auto is_owners = [&](const Contention& one) { return keys_.gate(one.owner()) == key; };
      // Who has not looked does not know of the owner's others; then it stays, and costs a look.
      if (loaded_.contains(key) && std::ranges::none_of(tables_.contentions({}), is_owners))
        commands.add({"SREM", commands.blind(keys_.denied(), "set"), owner_text});
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
  for (const GroupId& ticket : bells_) {
    Ring ring = ring_of(ticket);
    ring.origin = origin();
    commands.add({"PUBLISH", bell_channel(ticket), to_text(ring)});
  }
}

}  // namespace leasehold::redis
