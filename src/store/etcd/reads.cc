// What a view of the etcd store reads: first what it needs is loaded, then the tables answer.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "store/etcd/transaction.h"
#include "store/json/records_json.h"
#include "store/json/stored_records.h"
#include "util/utf8.h"

namespace leasehold::etcd {
namespace {

// One sweep ends so many of each: what it writes has to fit into one request.
constexpr std::size_t kDueMax = 200;

}  // namespace

std::vector<Lease> EtcdTransaction::leases_at(const Scope& scope) {
  ensure(scope);
  return tables_.leases_at(scope);
}

std::vector<Ticket> EtcdTransaction::tickets_at(const Scope& scope) {
  ensure(scope);
  return tables_.tickets_at(scope);
}

std::optional<Lease> EtcdTransaction::lease(const LeaseId& id) {
  if (auto found = tables_.lease(id)) return found;
  Round round;
  want_lease(round, id);
  load(round);
  must_be_whole(keys_.id(id));
  return tables_.lease(id);
}

std::optional<Ticket> EtcdTransaction::ticket(const GroupId& id) {
  if (auto found = tables_.ticket(id)) return found;
  Round round;
  want_ticket(round, id);
  load(round);
  must_be_whole(keys_.ticket(id));
  return tables_.ticket(id);
}

std::optional<Lease> EtcdTransaction::last_lease(const Owner& owner, const std::string& path) {
  return newest_in(keys_.last(owner, path), [&](const Lease& lease) { return lease.holder.owner == owner; });
}

std::optional<Lease> EtcdTransaction::last_lease_in(const std::string& session_id, const std::string& path) {
  return newest_in(keys_.last({.agent_id = {}, .session_id = session_id}, path),
                   [&](const Lease& lease) { return lease.holder.owner.session_id == session_id; });
}

// The newest lease in the area of a session (or an agent without one) and a path.
std::optional<Lease> EtcdTransaction::newest_in(const std::string& key,
                                                const std::function<bool(const Lease&)>& is_meant) {
  ensure_nothing_is_new();
  const auto place = [&](const Lease& lease) { return keys_.last(lease.holder.owner, lease.path); };
  const auto held = [&](const std::string& id) -> std::optional<Lease> {
    std::optional<Lease> found = lease({id});
    if (!found || place(*found) != key || !is_meant(*found)) return std::nullopt;
    if (found->status == Status::pending || found->status == Status::failed) return std::nullopt;
    return found;
  };
  // What the body put there is newer than anything stored.
  for (auto id = changed_leases_.rbegin(); id != changed_leases_.rend(); ++id) {
    const std::optional<Lease>& stored = known_leases_[id->text].stored;
    if (stored && place(*stored) == key) continue;
    if (auto found = held(id->text)) return found;
  }

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
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
    if (auto found = held(*id)) return found;
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
    if (filter.agent_id || filter.pr_id) basis_.add(names_below(keys_.all("of/")));
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
  want_owner(round, keys_.of(owner));
  load(round);
  return count_of(owner);
}

// What is stored, and what the body made of it.
std::size_t EtcdTransaction::count_of(const Owner& owner) {
  std::size_t count = held_[keys_.of(owner)];
  const auto counts = [&](const std::optional<Lease>& lease) {
    return is_active(lease) && lease->holder.owner == owner;
  };
  for (const LeaseId& id : changed_leases_) {
    if (counts(tables_.lease(id))) ++count;
    if (counts(known_leases_[id.text].stored) && count > 0) --count;
  }
  return count;
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
        auto path = session_path_from_json(kv.value());
        const std::string field = kv.key().substr(key.size() + 2);
        if (!path || session_field(*path) != field) {
          invalid_paths_[session_id].push_back(
              fmt::format("{}: {} is not such a path", in_quotes(field), in_quotes(kv.value())));
          continue;
        }
        path->session_id = session_id;
        tables_.set_session_path(*path, path);
      }
    });
  }
  load(round);
  return {.paths = tables_.session_paths(session_id, wall_), .invalid = invalid_paths_[session_id]};
}

std::vector<Setting> EtcdTransaction::settings() {
  const std::string key = keys_.configs();
  Round round;
  if (is_first_time(key)) {
    basis_.add(area(key));
    round.ask(area(key), [this, key](const pb::RangeResponse& found) {
      for (const pb::KeyValue& kv : found.kvs()) {
        if (kv.key() == key) continue;  // The guard.
        const auto setting = record_from_json<Setting>(kv.value());
        if (!setting) {
          note_bad(kv.key(), "its value is not a setting");
        } else if (!changed_settings_.contains(setting->stored_key())) {
          settings_.emplace(setting->stored_key(), *setting);
        }
      }
    });
  }
  load(round);
  must_be_whole(area(key));
  std::vector<Setting> all;
  for (const auto& [stored_key, setting] : settings_) all.push_back(setting);
  return all;
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
