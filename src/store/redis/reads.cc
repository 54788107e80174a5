// What a view of the Redis store reads: first what it needs is loaded, then the tables answer.
#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "store/json/stored_records.h"
#include "store/redis/indexes.h"
#include "store/redis/transaction.h"
#include "store/stored.h"

namespace leasehold::redis {
namespace {

constexpr std::size_t kLastAtOnce = 8;

// So many leases keep the server busy for a few milliseconds.
constexpr std::size_t kLeasesAtOnce = 2000;

std::string limit_text(std::size_t limit) {
  return std::to_string(std::min<std::size_t>(limit, 1'000'000'000));
}

}  // namespace

// The members of a set or list, oldest first; watched.
std::vector<std::string> RedisTransaction::members(const std::string& key) {
  if (const auto known = lists_.find(key); known != lists_.end()) {
    must_be_whole(key);
    return known->second;
  }
  Round round;
  learn_key(round, key);
  round.ask({"M", key}, [this, key](ReplyView found) {
    if (found.is_error()) bad_.emplace(key, "it is of another type");
    std::vector<std::string>& list = lists_[key];
    for (std::size_t i = 0; i < found.size(); ++i) list.emplace_back(found[i].text());
  });
  load(round);
  must_be_whole(key);
  return lists_[key];
}

// A few of the newest, and only if none of these will do, all.
std::optional<Lease> RedisTransaction::newest_stored(const std::string& key, const Filter& whose) {
  for (const std::string& from : {fmt::format("-{}", kLastAtOnce), std::string("0")}) {
    Round round;
    learn_key(round, key);
    std::vector<std::string>& newest = lists_[key];
    round.ask({"L", key, from}, [&, this](ReplyView found) {
      if (found.is_error()) bad_.emplace(key, "it is of another type");
      newest.clear();
      for (std::size_t i = 0; i < found.size(); ++i) newest.emplace_back(found[i].text());
    });
    load(round);
    must_be_whole(key);
    round = {};
    for (const std::string& id : newest) want_lease(round, {id});
    load(round);
    for (const std::string& id : std::views::reverse(newest)) {
      if (auto found = held_at(key, whose, {id})) return found;
    }
    if (newest.size() < kLastAtOnce) break;
  }
  return std::nullopt;
}

// Records that a sorted set leads to. The set itself is not watched, unless that is asked for: every request
// writes to it. So these are places to look; what the body changes of them is protected before it is written.
void RedisTransaction::load_by_score(const std::string& key, const std::string& prefix, bool leases,
                                     std::vector<std::string> range, std::size_t limit, bool watch) {
  Round round;
  if (watch) learn_key(round, key);
  range.insert(range.begin() + 1, key);
  range.insert(range.begin(), "D");
  range.push_back(limit_text(limit));
  range.push_back(prefix);
  round.ask(std::move(range), [this, key, leases](ReplyView found) {
    if (found.is_error()) bad_.emplace(key, "it is of another type");
    for (std::size_t i = 0; i + 1 < found.size(); i += 2) {
      if (found[i + 1].is_nil()) stale_.emplace_back(key, found[i].text());
      if (leases) continue;
      auto ticket = record_from_json<Ticket>(found[i + 1].text());
      if (ticket && ticket->id.text == found[i].text()) learn_ticket(std::move(*ticket), false);
    }
    if (leases) learn_pairs(found, 0, false);
  });
  load(round);
  must_be_whole(key);
}

// If there are many, in parts, with others in between: first which ones there are, then these. Whatever is
// shown as held was held when that was asked.
void RedisTransaction::load_all_leases() {
  const std::string key = keys_.times();
  load_by_score(key, keys_.id_prefix(), true, {"ZRANGEBYSCORE", "0", "+inf"}, kLeasesAtOnce);
  if (known_leases_.size() < kLeasesAtOnce) return;
  Round round;
  std::vector<std::string> ids;
  round.ask({"B", "ZRANGEBYSCORE", key, "0", "+inf", limit_text(SIZE_MAX)}, [&](ReplyView found) {
    for (std::size_t i = 0; i < found.size(); ++i) ids.emplace_back(found[i].text());
  });
  load(round);
  round = {};
  round.may_be_late = true;
  for (const std::string& id : ids) {
    if (known_leases_.contains(id)) continue;
    want_string(round, keys_.id({id}), [this, id](ReplyView text) {
      auto lease = record_from_json<Lease>(text.text());
      if (lease && lease->id.text == id) learn_lease(std::move(*lease), false);
    });
  }
  load(round);
}

std::vector<Lease> RedisTransaction::leases(const Filter& filter) {
  ensure_nothing_is_new();
  Round round;
  if (filter.agent_id && filter.session_id) {
    want_leases_of(round, {*filter.agent_id, *filter.session_id}, SIZE_MAX / 2);
  } else if (filter.session_id && !filter.session_id->empty()) {
    for (const std::string& agent : members(keys_.session(*filter.session_id)))
      want_leases_of(round, {agent, *filter.session_id}, SIZE_MAX / 2);
  } else if (filter.agent_id) {
    for (const std::string& path : members(keys_.agent(*filter.agent_id))) want_path(round, path);
  } else if (filter.pr_id && !filter.pr_id->empty()) {
    for (const std::string& path : members(keys_.pr(*filter.pr_id))) want_path(round, path);
  } else {
    load_all_leases();
  }
  load(round);
  if (filter.agent_id && filter.session_id)
    must_be_whole(keys_.owner({*filter.agent_id, *filter.session_id}));
  // Whatever was found is going to be changed, most often; then where it lies matters too.
  round = {};
  want_paths_of_leases(round);
  load(round);
  return tables_.leases(filter);
}

std::vector<Ticket> RedisTransaction::tickets(const Filter& filter) {
  ensure_nothing_is_new();
  const bool by_party = filter.session_id && (!filter.session_id->empty() || filter.agent_id);
  if (by_party) {
    Round round;
    for (const std::string& id : members(keys_.waits({filter.agent_id.value_or(""), *filter.session_id})))
      want_ticket(round, {id});
    load(round);
  } else {
    const bool everybody = !filter.agent_id && !filter.session_id && !filter.pr_id;
    load_by_score(keys_.tickets(), keys_.ticket_prefix(), false, {"ZRANGEBYSCORE", "0", "+inf"}, SIZE_MAX,
                  !everybody);
  }
  return tables_.tickets(filter);
}

std::size_t RedisTransaction::lease_count(const Owner& owner) {
  ensure_nothing_is_new();
  Round round;
  want_leases_of(round, owner, 0);
  load(round);
  const std::string key = keys_.owner(owner);
  must_be_whole(key);
  return count_of(owner);
}

std::vector<Notice> RedisTransaction::notices(const Owner& owner) {
  Round round;
  want_owner(round, owner);
  load(round);
  must_be_whole(keys_.notices(owner));
  return tables_.notices(owner);
}

std::optional<Contention> RedisTransaction::contention(const Owner& owner, const std::string& path) {
  Round round;
  want_contentions(round, Keys::owner_text(owner));
  load(round);
  must_be_whole(keys_.gate(owner));
  return tables_.contention(owner, path);
}

std::vector<Contention> RedisTransaction::contentions(const Filter& filter) {
  const std::string key = keys_.denied();
  Round round;
  if (filter.agent_id && filter.session_id) {
    want_contentions(round, Keys::owner_text({*filter.agent_id, *filter.session_id}));
  } else {
    for (const std::string& owner_text : members(key)) want_contentions(round, owner_text);
  }
  load(round);
  return tables_.contentions(filter);
}

void RedisTransaction::load_settings() {
  const std::string key = keys_.configs();
  Round round;
  if (learn_key(round, key)) {
    round.ask({"V", key}, [this, key](ReplyView found) {
      if (found.is_error()) bad_.emplace(key, "it is of another type");
      for (std::size_t i = 0; i < found.size(); ++i) {
        auto setting = record_from_json<Setting>(found[i].text());
        if (setting) {
          learn_setting(std::move(*setting));
        } else {
          bad_.emplace(key, "one of its values is not a setting");
        }
      }
    });
  }
  load(round);
  must_be_whole(key);
}

std::optional<Answer> RedisTransaction::answer(const Owner& owner, const std::string& key) {
  const std::string name = keys_.answer(owner, key);
  Round round;
  if (!changed_answers_.contains(name) && learn_key(round, name)) {
    want_string(round, name, [this, name](ReplyView text) {
      if (text.is_nil()) return;
      auto answer = record_from_json<Answer>(text.text());
      if (text.is_error() || !answer) {
        bad_.emplace(name, text.is_error() ? "it is of another type" : "its value is not an answer");
        return;
      }
      tables_.set_answer(answer->owner, answer->key, answer);
    });
  }
  load(round);
  must_be_whole(name);
  return tables_.answer(owner, key);
}

Due RedisTransaction::due(Time moment, std::size_t limit) {
  ensure_nothing_is_new();
  const std::string until = active_score(moment);
  load_by_score(keys_.times(), keys_.id_prefix(), true, {"ZRANGEBYSCORE", "0", until},
                limit + changed_leases_.size());
  load_by_score(keys_.tickets(), keys_.ticket_prefix(), false, {"ZRANGEBYSCORE", "0", until},
                limit + changed_tickets_.size());
  Due found = tables_.due(moment, limit);
  if (!writes_) return found;
  // The body is about to end these: protected and together with their places, in one more round.
  Round round;
  for (const Lease& lease : found.leases) {
    want_lease(round, lease.id);
    want_scope(round, {lease.path});
  }
  for (const Ticket& ticket : found.tickets) {
    want_ticket(round, ticket.id);
    for (const LeaseId& id : ticket.leases) want_lease(round, id);
    for (const WantedPath& wanted : ticket.request->paths) want_scope(round, {wanted.path});
  }
  load(round);
  return found;
}

}  // namespace leasehold::redis
