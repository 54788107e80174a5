// What a body writes stays in memory until the commit.
#include <algorithm>

#include "store/json/stored_records.h"
#include "store/redis/indexes.h"
#include "store/redis/transaction.h"

namespace leasehold::redis {
namespace {

constexpr int kTokensAfterwards = 64;

// What is to be dropped is called by its kind (one letter) and its place: an owner, whose text has one slash,
// a slash, and which one of the owner's it is.
std::size_t end_of_owner(std::string_view where) {
  const std::size_t inside = where.find('/');
  return inside == std::string_view::npos ? inside : where.find('/', inside + 1);
}

}  // namespace

Token RedisTransaction::next_token() {
  if (next_token_ == token_end_) {
    Round round;
    round.tokens = kTokensAfterwards;
    load(round);
  }
  return {next_token_++};
}

void RedisTransaction::put(const Answer& answer) {
  tables_.set_answer(answer.owner, answer.key, answer);
  changed_answers_[keys_.answer(answer.owner, answer.key)] = answer;
}

void RedisTransaction::put(const Notice& notice) {
  tables_.set_notice(notice.id, notice);
  changed_notices_[notice.id] = {notice.owner, notice};
}

void RedisTransaction::erase(const Notice& notice) {
  tables_.set_notice(notice.id, std::nullopt);
  changed_notices_[notice.id] = {notice.owner, std::nullopt};
}

void RedisTransaction::put(const Contention& contention) {
  tables_.set_contention(contention.owner(), contention.path, contention);
  changed_contentions_[{keys_.gate(contention.owner()), contention.path}] = contention;
}

void RedisTransaction::erase(const Contention& contention) {
  tables_.set_contention(contention.owner(), contention.path, std::nullopt);
  changed_contentions_[{keys_.gate(contention.owner()), contention.path}] = std::nullopt;
}

std::size_t RedisTransaction::forget(Time ended_before, WallTime history_before, std::size_t limit) {
  std::size_t forgotten = 0;
  if (limit > 0 && ended_before > Time{}) {
    const std::vector<std::string> range = {"ZREVRANGEBYSCORE", "-1", ended_score(ended_before)};
    load_by_score(keys_.times(), keys_.id_prefix(), true, range, limit);
    load_by_score(keys_.tickets(), keys_.ticket_prefix(), false, range, limit);
    forgotten = forget_ended(ended_before, limit);
  }
  forgotten += forget_dropped(limit - forgotten);
  forgotten += forget_history(history_before, limit - forgotten);
  return forgotten;
}

// Notices, contentions and answers whose time is past.
std::size_t RedisTransaction::forget_dropped(std::size_t limit) {
  if (limit == 0) return 0;
  const std::string key = keys_.drop();
  std::vector<std::string> found_members;
  Round round;
  round.ask({"B", "ZRANGEBYSCORE", key, "0", active_score(now_), std::to_string(limit)},
            [&, this](ReplyView found) {
              if (found.is_error()) bad_.emplace(key, "it is of another type");
              for (std::size_t i = 0; i < found.size(); ++i) found_members.emplace_back(found[i].text());
            });
  load(round);
  must_be_whole(key);

  round = {};
  for (const std::string& member : found_members) want_dropped(round, member);
  load(round);
  // An answer stays as long as one of its leases does.
  round = {};
  for (const Answer& answer : tables_.forgettable_answers(now_, SIZE_MAX)) {
    for (const LeaseId& id : answer.leases) want_lease(round, id);
  }
  load(round);

  std::size_t forgotten = 0;
  for (const Notice& notice : tables_.forgettable_notices(now_, limit)) {
    erase(notice);
    ++forgotten;
  }
  for (const Contention& contention : tables_.forgettable_contentions(now_, limit - forgotten)) {
    erase(contention);
    ++forgotten;
  }
  for (const Answer& answer : tables_.forgettable_answers(now_, limit - forgotten)) {
    changed_answers_[keys_.answer(answer.owner, answer.key)] = std::nullopt;
    tables_.set_answer(answer.owner, answer.key, std::nullopt);
    ++forgotten;
  }
  return forgotten;
}

// What is no name of something that could be there leads nowhere.
void RedisTransaction::want_dropped(Round& round, const std::string& member) {
  const std::string_view where = std::string_view(member).substr(member.empty() ? 0 : 1);
  const std::size_t end = end_of_owner(where);
  const char kind = member.empty() || end == std::string_view::npos ? '\0' : member.front();
  if (kind == 'a') {
    const std::string name = keys_.answer(where);
    if (changed_answers_.contains(name) || !learn_key(round, name)) return;
    want_string(round, name, [this, name, member](ReplyView text) {
      const auto answer = record_from_json<Answer>(text.text());
      if (answer && keys_.answer(answer->owner, answer->key) == name) {
        tables_.set_answer(answer->owner, answer->key, answer);
      } else {
        stale_.emplace_back(keys_.drop(), member);
      }
    });
  } else if (kind == 'g') {
    want_contentions(round, where.substr(0, end));
  } else if (kind == 'n') {
    const std::string name = keys_.notices(where.substr(0, end));
    if (!learn_key(round, name)) return;
    round.ask({"V", name}, [this](ReplyView found) {
      for (std::size_t i = 0; i < found.size(); ++i) {
        const auto notice = record_from_json<Notice>(found[i].text());
        if (notice && !changed_notices_.contains(notice->id)) tables_.set_notice(notice->id, notice);
      }
    });
  } else {
    stale_.emplace_back(keys_.drop(), member);
  }
}

// The stream is not watched: what is added meanwhile is newer than anything that goes.
std::size_t RedisTransaction::forget_history(WallTime before, std::size_t limit) {
  if (limit == 0 || before == WallTime::min()) return 0;
  const std::string key = keys_.history();
  std::size_t forgotten = 0;
  Round round;
  round.ask({"X", "XRANGE", key, "-", "+", std::to_string(limit)}, [&, this](ReplyView found) {
    if (found.is_error()) bad_.emplace(key, "it is of another type");
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto event = record_from_json<Event>(found[i][1][1].text());
      if (event && event->wall >= before) break;
      trimmed_.emplace_back(found[i][0].text());
      ++forgotten;
    }
  });
  load(round);
  must_be_whole(key);
  return forgotten;
}

}  // namespace leasehold::redis
