// What a view of the etcd store reads: first what it needs is loaded, then the tables answer.
#include <algorithm>
#include <ranges>
#include <tuple>

#include "store/etcd/transaction.h"
#include "store/json/records_json.h"
#include "store/json/stored_records.h"

namespace leasehold::etcd {
namespace {

// One sweep ends so many of each: what it writes has to fit into one request.
constexpr std::size_t kDueMax = 200;

}  // namespace

std::optional<Lease> EtcdTransaction::newest_stored(const std::string& key, const Filter& whose) {
  std::vector<std::string>& ids = last_[key];
  Round round;
  if (is_first_time(key)) {
    basis_.add(area(key));
    round.ask(area(key), [&](const pb::RangeResponse& found) {
      std::vector<const pb::KeyValue*> kvs;
      for (const pb::KeyValue& kv : found.kvs()) kvs.push_back(&kv);
      // By age; those of one commit by their number in it.
      std::ranges::sort(kvs, {}, [](const pb::KeyValue* kv) {
        return std::tuple(kv->create_revision(), kv->value().size(), kv->value());
      });
      for (const pb::KeyValue* kv : kvs) ids.push_back(kv->key().substr(key.size() + 2));
    });
    load(round);
  }
  for (const std::string& id : ids) want_lease(round, {id});
  load(round);
  for (const std::string& id : std::views::reverse(ids)) {
    if (auto found = held_at(key, whose, {id})) return found;
  }
  return std::nullopt;
}

std::vector<Lease> EtcdTransaction::leases(const Filter& filter) {
  Round round;
  want_new(round);
  if (filter.agent_id && filter.session_id) {
    want_leases_of(round, keys_.of(Owner{*filter.agent_id, *filter.session_id}));
  } else if (filter.session_id) {
    want_session(round, *filter.session_id);
  } else {
    want_all_paths(round);
    // By agent or PR only: all that anybody holds is looked through.
    if (filter.agent_id || filter.pr_id) basis_.add(names_below(keys_.all("at/")));
  }
  load(round);
  return tables_.leases(filter);
}

std::vector<Ticket> EtcdTransaction::tickets(const Filter& filter) {
  Round round;
  want_new(round);
  if (filter.agent_id && filter.session_id) {
    want_owner(round, keys_.of(Owner{*filter.agent_id, *filter.session_id}));
  } else if (filter.session_id) {
    want_session(round, *filter.session_id);
  } else {
    want_all_tickets(round);
    if (filter.agent_id || filter.pr_id) basis_.add(names_below(keys_.all("ticket/")));
  }
  load(round);
  return tables_.tickets(filter);
}

std::size_t EtcdTransaction::lease_count(const Owner& owner) {
  Round round;
  want_new(round);
  const KeyRange range = area(keys_.of(owner));
  want_owner(round, range.first);
  load(round);
  const auto is_only_asked = [&](const auto& one) {
    return got(one.first, one.second) != nullptr && !is_listed(range.first, one.second.lease);
  };
  const auto asked =
      std::count_if(asked_.lower_bound(range.first), asked_.lower_bound(range.second), is_only_asked);
  return count_of(owner, static_cast<std::size_t>(asked));
}

std::vector<Notice> EtcdTransaction::notices(const Owner& owner) {
  Round round;
  want_owner(round, keys_.of(owner));
  load(round);
  must_be_whole({keys_.notice_of(owner, {}), area(keys_.of(owner)).second});
  return tables_.notices(owner);
}

std::optional<Contention> EtcdTransaction::contention(const Owner& owner, const std::string& path) {
  Round round;
  want_owner(round, keys_.of(owner));
  load(round);
  must_be_whole(keys_.gate_of(owner, path));
  return tables_.contention(owner, path);
}

std::vector<Contention> EtcdTransaction::contentions(const Filter& filter) {
  Round round;
  if (filter.agent_id && filter.session_id) {
    want_owner(round, keys_.of(Owner{*filter.agent_id, *filter.session_id}));
  } else if (is_first_time("all owners")) {
    basis_.add(names_below(keys_.all("of/")));
    round.ask(names_below(keys_.all("of/")), [this](const pb::RangeResponse& found) { learn_of(found); });
  }
  load(round);
  return tables_.contentions(filter);
}

std::optional<Answer> EtcdTransaction::answer(const Owner& owner, const std::string& key) {
  const std::string name = keys_.answer(owner, key);
  Round round;
  if (!changed_values_.contains(name) && is_first_time(name)) {
    round.ask(name, [this, name](const pb::RangeResponse& found) {
      basis_.add(name, found.kvs_size() == 0 ? 0 : found.kvs(0).mod_revision());
      if (found.kvs_size() == 0) return;
      const auto answer = record_from_json<Answer>(found.kvs(0).value());
      if (!answer) note_bad(name, "its value is not an answer");
      if (answer) tables_.set_answer(answer->owner, answer->key, answer);
    });
  }
  load(round);
  must_be_whole(name);
  return tables_.answer(owner, key);
}

std::optional<RateWindow> EtcdTransaction::rate_window(const std::string& session_id) {
  const std::string key = keys_.rate(session_id);
  Round round;
  if (!changed_values_.contains(key) && is_first_time(key)) {
    round.ask(key, [this, key, session_id](const pb::RangeResponse& found) {
      basis_.add(key, found.kvs_size() == 0 ? 0 : found.kvs(0).mod_revision());
      if (found.kvs_size() == 0) return;
      auto window = rate_window_from_json(found.kvs(0).value());
      if (!window) {
        note_bad(key, "its value is not a count");
        return;
      }
      window->session_id = session_id;
      tables_.set_rate_window(session_id, std::move(window));
    });
  }
  load(round);
  must_be_whole(key);
  return tables_.rate_window(session_id, now_);
}

SessionPaths EtcdTransaction::session_paths(const std::string& session_id) {
  const std::string key = keys_.session(session_id);
  Round round;
  if (is_first_time(key)) {
    basis_.add(area(key));
    round.ask(area(key), [this, key, session_id](const pb::RangeResponse& found) {
      for (const pb::KeyValue& kv : found.kvs()) {
        if (kv.key() == key || changed_values_.contains(kv.key())) continue;
        learn_session_path(session_id, kv.key().substr(key.size() + 2), session_path_from_json(kv.value()),
                           kv.value());
      }
    });
  }
  load(round);
  return {.paths = tables_.session_paths(session_id, wall_), .invalid = invalid_paths_[session_id]};
}

void EtcdTransaction::load_settings() {
  const std::string key = keys_.configs();
  Round round;
  if (is_first_time(key)) {
    basis_.add(area(key));
    round.ask(area(key), [this, key](const pb::RangeResponse& found) {
      for (const pb::KeyValue& kv : found.kvs()) {
        if (kv.key() == key) continue;  // The guard.
        auto setting = record_from_json<Setting>(kv.value());
        if (setting) {
          learn_setting(std::move(*setting));
        } else {
          note_bad(kv.key(), "its value is not a setting");
        }
      }
    });
  }
  load(round);
  must_be_whole(area(key));
}

// Rare enough to look through all that is held.
Due EtcdTransaction::due(Time moment, std::size_t limit) {
  Round round;
  want_new(round);
  want_all_paths(round);
  want_all_tickets(round);
  load(round);
  return tables_.due(moment, std::min(limit, kDueMax));
}

}  // namespace leasehold::etcd
