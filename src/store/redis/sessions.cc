// What is remembered of sessions: how often they asked, and what they got and did not give back.
#include <fmt/format.h>

#include <algorithm>

#include "store/json/records_json.h"
#include "store/redis/commands.h"
#include "store/redis/scripts.h"
#include "store/redis/transaction.h"
#include "util/utf8.h"

namespace leasehold::redis {
namespace {

std::string milliseconds(auto moment) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(moment.time_since_epoch()).count();
  return std::to_string(std::max<std::int64_t>(ms, 1));
}

}  // namespace

void RedisTransaction::want_rate_window(Round& round, const std::string& session_id) {
  const std::string key = keys_.rate(session_id);
  if (!learn_key(round, key)) return;
  want_string(round, key, [this, key, session_id](ReplyView text) {
    if (text.is_nil()) return;
    auto window = rate_window_from_json(text.text());
    if (text.is_error() || !window) {
      bad_.emplace(key, text.is_error() ? "it is of another type" : "its value is not a count");
      return;
    }
    window->session_id = session_id;
    tables_.set_rate_window(session_id, std::move(window));
  });
}

std::optional<RateWindow> RedisTransaction::rate_window(const std::string& session_id) {
  if (!changed_windows_.contains(session_id)) {
    Round round;
    want_rate_window(round, session_id);
    load(round);
    must_be_whole(keys_.rate(session_id));
  }
  return tables_.rate_window(session_id, now_);
}

void RedisTransaction::put(const RateWindow& window) {
  changed_windows_.insert(window.session_id);
  loaded_.insert(keys_.rate(window.session_id));  // Nothing that is read later may replace it.
  tables_.set_rate_window(window.session_id, window);
}

SessionPaths RedisTransaction::session_paths(const std::string& session_id) {
  const std::string key = keys_.session_locks(session_id);
  Round round;
  if (learn_key(round, key)) {
    round.ask({"H", key}, [this, key, session_id](ReplyView found) {
      if (found.is_error())
        invalid_paths_[session_id].push_back(fmt::format("{} is of another type", in_quotes(key)));
      for (std::size_t i = 0; i + 1 < found.size(); i += 2) {
        const std::string field(found[i].text());
        if (changed_session_paths_.contains({session_id, field})) continue;
        const std::string_view text = found[i + 1].text();
        learn_session_path(session_id, field, session_path_from_json(text), text);
      }
    });
  }
  load(round);
  return {.paths = tables_.session_paths(session_id, wall_), .invalid = invalid_paths_[session_id]};
}

void RedisTransaction::put(const SessionPath& path) {
  changed_session_paths_[{path.session_id, session_field(path)}] = path;
  tables_.set_session_path(path, path);
}

void RedisTransaction::erase(const SessionPath& path) {
  changed_session_paths_[{path.session_id, session_field(path)}] = std::nullopt;
  tables_.set_session_path(path, std::nullopt);
}

void RedisTransaction::write_sessions(Commands& commands) {
  const bool expires = shared_.options.clock == nullptr;
  for (const std::string& session_id : changed_windows_) {
    const std::string key = keys_.rate(session_id);
    const auto window = tables_.rate_window(session_id, Time::min());
    if (expires) {
      commands.add({"SET", key, to_json(*window), "PXAT", milliseconds(window->ends_at)});
    } else {
      commands.add({"SET", key, to_json(*window)});
    }
  }
  for (const auto& [place, path] : changed_session_paths_) {
    const auto& [session_id, field] = place;
    const std::string key = keys_.session_locks(session_id);
    if (!path) {
      commands.add({"EVAL", kDropFieldScript, "1", key, field});
      continue;
    }
    // Looked at each time, and not just once: what is granted is remembered, or it is not granted.
    if (commands.unproven.empty() || commands.unproven.back().first != key)
      commands.unproven.emplace_back(key, "hash");
    const std::string end = expires && path->drop_at ? milliseconds(*path->drop_at) : std::string();
    commands.add({"EVAL", kKeepFieldScript, "1", key, end, field, to_json(*path)});
  }
}

}  // namespace leasehold::redis
