// Records nobody needs any more. They have no index of their own: cleaning up is rare, and looks through all.
#include "store/etcd/transaction.h"
#include "store/json/records_json.h"
#include "store/json/stored_records.h"

namespace leasehold::etcd {

std::size_t EtcdTransaction::forget(Time ended_before, WallTime history_before, std::size_t limit) {
  want_latest();
  load_ended();
  std::size_t forgotten = forget_ended(ended_before, limit);
  forgotten += forget_dropped(limit - forgotten);
  forgotten += forget_history(history_before, limit - forgotten);
  return forgotten;
}

void EtcdTransaction::load_ended() {
  Round round;
  want_new(round);
  want_all_tickets(round);
  if (is_first_time("all ids")) {
    round.ask(names_below(keys_.all("id/")), [this](const pb::RangeResponse& found) {
      for (const pb::KeyValue& kv : found.kvs()) {
        auto lease = record_from_json<Lease>(kv.value());
        if (!lease || keys_.id(lease->id) != kv.key() || lease->status == Status::pending) continue;
        learn_lease(std::move(*lease), 0, kv.mod_revision());
      }
    });
  }
  load(round);
}

// What owners asked for and have no more, where the ticket is forgotten, too: who asked may never come again.
void EtcdTransaction::forget_asked() {
  constexpr std::size_t kMost = 32;  // Each is a condition.
  std::size_t forgotten = 0;
  for (const auto& [key, asked] : asked_) {
    if (forgotten == kMost) return;
    if (tables_.ticket(asked.ticket) || !is_stale(key, asked)) continue;
    basis_.add(key, asked.mod_revision);
    changed_values_[key] = std::nullopt;
    ++forgotten;
  }
}

// Notices, contentions and answers whose time is past; and what is left of sessions that are over.
std::size_t EtcdTransaction::forget_dropped(std::size_t limit) {
  Round round;
  std::map<std::string, std::int64_t> written;  // When each answer and path of a session was.
  round.ask(names_below(keys_.all("of/")), [this](const pb::RangeResponse& found) { learn_of(found); });
  round.ask(names_below(keys_.all("answer/")), [&, this](const pb::RangeResponse& found) {
    for (const pb::KeyValue& kv : found.kvs()) {
      const auto answer = record_from_json<Answer>(kv.value());
      if (!answer || changed_values_.contains(kv.key())) continue;
      written[kv.key()] = kv.mod_revision();
      tables_.set_answer(answer->owner, answer->key, answer);
    }
  });
  const auto learn_sessions = [&, this](const pb::RangeResponse& found) {
    const std::string prefix = keys_.session({});
    for (const pb::KeyValue& kv : found.kvs()) {
      const std::size_t nul = kv.key().find('\0');
      auto path = session_path_from_json(kv.value());
      if (!path || nul == std::string::npos || changed_values_.contains(kv.key())) continue;
      path->session_id = kv.key().substr(prefix.size(), nul - prefix.size());
      written[kv.key()] = kv.mod_revision();
      tables_.set_session_path(*path, path);
    }
  };
  round.ask(names_below(keys_.session({})), learn_sessions);
  round.ask(names_below(keys_.rate({})), [this](const pb::RangeResponse& found) {
    for (const pb::KeyValue& kv : found.kvs()) {
      const auto window = rate_window_from_json(kv.value());
      if (!window || window->ends_at > now_ || changed_values_.contains(kv.key())) continue;
      basis_.add(kv.key(), kv.mod_revision());
      changed_values_[kv.key()] = std::nullopt;
    }
  });
  load(round);
  // Somebody may write it anew meanwhile.
  const auto rest_on = [&](const std::string& key) {
    if (const auto found = written.find(key); found != written.end()) basis_.add(key, found->second);
  };
  for (const SessionPath& path : tables_.dropped_session_paths(wall_)) {
    rest_on(Keys::member(keys_.session(path.session_id), 'p', session_field(path)));
    erase(path);
  }
  // An answer stays as long as one of its leases does.
  for (const Answer& answer : tables_.forgettable_answers(now_, SIZE_MAX)) {
    for (const LeaseId& id : answer.leases) want_lease(round, id);
  }
  load(round);

  forget_asked();

  std::size_t forgotten = 0;
  for (const Notice& notice : tables_.forgettable_notices(now_, limit)) {
    erase(notice);
    ++forgotten;
  }
  for (const Contention& contention : tables_.forgettable_contentions(now_, limit - forgotten)) {
    basis_.add(area(keys_.of(contention.owner())));
    erase(contention);
    ++forgotten;
  }
  for (const Answer& answer : tables_.forgettable_answers(now_, limit - forgotten)) {
    const std::string key = keys_.answer(answer.owner, answer.key);
    rest_on(key);
    changed_values_[key] = std::nullopt;
    tables_.set_answer(answer.owner, answer.key, std::nullopt);
    ++forgotten;
  }
  return forgotten;
}

}  // namespace leasehold::etcd
