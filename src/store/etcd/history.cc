// History: events in buckets, two of one commit under each key. The order of events is that of their
// commits, which etcd knows as the revision of the key; the key's name cannot tell it, because it is chosen
// before. So a commit writes into the bucket that the key `era` names, on the condition that `era` did not
// change: all events of a bucket are older than those of the next, and within one they are sorted when they
// are read.
#include "store/etcd/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "store/etcd/failure.h"
#include "store/etcd/transaction.h"
#include "store/json/stored_records.h"
#include "store/matching.h"
#include "util/number.h"

namespace leasehold::etcd {
namespace {

constexpr std::size_t kEventsInKey = 2;
constexpr std::int64_t kKeysInBucket = 500;
constexpr std::int64_t kKeysBetweenLooks = 16;
constexpr std::uint64_t kBucketsKept = 20;  // Besides the one that is being filled: 10,000 keys.

// A sequence: the commit's revision, and the number of the event in it.
constexpr int kNumberBits = 12;
constexpr std::size_t kEventsInCommit = std::size_t{1} << kNumberBits;

// Beyond every sequence of an event that was written.
constexpr std::uint64_t kUnwritten = std::uint64_t{1} << 62;

// Of the first event under the key in its commit.
std::uint64_t number_at_end(std::string_view key) {
  return parse_number<std::uint64_t>(key.substr(key.rfind('-') + 1)).value_or(0);
}

}  // namespace

std::string to_text(std::span<const Event> events) {
  std::string text;
  for (const Event& event : events) {
    if (!text.empty()) text += '\0';
    text += to_json(event);
  }
  return text;
}

std::optional<std::vector<Event>> events_from(std::string_view text) {
  std::vector<Event> events;
  for (bool is_last = false; !is_last;) {
    const std::size_t end = text.find('\0');
    is_last = end == std::string_view::npos;
    auto event = record_from_json<Event>(text.substr(0, end));
    if (!event) return std::nullopt;
    events.push_back(std::move(*event));
    if (!is_last) text.remove_prefix(end + 1);
  }
  return events;
}

// Those of one bucket, oldest first. `reached`: it has some that are not after.
std::vector<Event> EtcdTransaction::events_after(std::uint64_t sequence, std::uint64_t bucket,
                                                 bool& reached) {
  std::vector<Event> events;
  Round round;
  pb::RangeRequest& newer = round.ask(names_below(keys_.bucket(bucket)), [&](const pb::RangeResponse& found) {
    reached |= found.count() > found.kvs_size();  // All are counted, also those that were not asked for.
    for (const pb::KeyValue& kv : found.kvs()) {
      auto found_events = events_from(kv.value());
      if (!found_events) continue;  // Not ours; it stands in nobody's way.
      std::uint64_t next =
          static_cast<std::uint64_t>(kv.mod_revision()) << kNumberBits | number_at_end(kv.key());
      for (Event& event : *found_events) {
        event.sequence = next++;
        reached |= event.sequence <= sequence;
        if (event.sequence > sequence) events.push_back(std::move(event));
      }
    }
  });
  newer.set_min_mod_revision(static_cast<std::int64_t>(sequence >> kNumberBits));
  load(round);
  std::ranges::sort(events, {}, &Event::sequence);
  return events;
}

std::optional<std::uint64_t> EtcdTransaction::oldest_bucket() {
  std::optional<std::uint64_t> oldest;
  const std::string prefix = keys_.all("history/");
  Round round;
  pb::RangeRequest& first = round.ask(names_below(prefix), [&](const pb::RangeResponse& found) {
    if (found.kvs_size() == 0) return;
    const std::string_view name = std::string_view(found.kvs(0).key()).substr(prefix.size());
    std::from_chars(name.data(), name.data() + name.size(), oldest.emplace(0));
  });
  first.set_limit(1);
  first.set_keys_only(true);
  load(round);
  return oldest;
}

// Newest bucket first, until there is enough; for the oldest events all that are after have to be seen.
std::vector<Event> EtcdTransaction::history(const HistoryQuery& query) {
  want_latest();
  std::vector<Event> found;  // Newest first.
  // What the body added is newer than all else; it gets its own sequence when it is written.
  for (std::size_t i = events_.size(); i-- > 0;) {
    Event event = events_[i];
    event.sequence = kUnwritten + i;
    if (matches(query, event)) found.push_back(std::move(event));
  }
  const auto is_enough = [&] { return query.limit > 0 && !query.oldest && found.size() >= query.limit; };
  bool reached = false;
  const std::optional<std::uint64_t> oldest = oldest_bucket();
  for (std::uint64_t bucket = bucket_ + 1; oldest && bucket-- > *oldest && !reached && !is_enough();) {
    const std::vector<Event> events = events_after(query.after, bucket, reached);
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      if (matches(query, *event)) found.push_back(*event);
    }
  }
  std::ranges::reverse(found);
  return up_to_limit(std::move(found), query);
}

// From the oldest on, as long as they are older. What stands under one key goes at once.
std::size_t EtcdTransaction::forget_history(WallTime before, std::size_t limit) {
  if (limit == 0 || before == WallTime::min()) return 0;
  struct Kept {
    std::pair<std::int64_t, std::uint64_t> age;
    std::string key;
    std::size_t events = 0;
    bool is_old = false;
  };
  std::size_t forgotten = 0;
  const std::optional<std::uint64_t> oldest = oldest_bucket();
  bool goes_on = oldest.has_value();
  for (std::uint64_t bucket = oldest.value_or(0); goes_on && bucket <= bucket_ && forgotten < limit;
       ++bucket) {
    std::vector<Kept> all;
    Round round;
    round.ask(names_below(keys_.bucket(bucket)), [&](const pb::RangeResponse& found) {
      for (const pb::KeyValue& kv : found.kvs()) {
        const auto events = events_from(kv.value());
        all.push_back({{kv.mod_revision(), number_at_end(kv.key())},
                       kv.key(),
                       events ? events->size() : 1,
                       !events || events->front().wall < before});
      }
    });
    load(round);
    std::ranges::sort(all, {}, &Kept::age);
    for (Kept& one : all) {
      goes_on = one.is_old && forgotten < limit;
      if (!goes_on) break;
      forgotten += one.events;
      trimmed_.push_back(std::move(one.key));
    }
  }
  return forgotten;
}

// Returns the key of the first, or nothing.
std::string EtcdTransaction::write_events(Changes& changes, const std::string& request) {
  for (const std::string& key : trimmed_) changes.erase(key);
  if (events_.empty()) return {};
  if (events_.size() > kEventsInCommit) {
    throw Failure{
        {Code::limit_exceeded,
         fmt::format("This would be {} changes in one transaction. Ask for less at once.", events_.size())}};
  }
  basis_.add(keys_.era(), era_revision_);
  const std::string prefix = keys_.bucket(bucket_) + request;
  const std::span<const Event> events(events_);
  for (std::size_t i = 0; i < events.size(); ++history_keys_) {
    // What stands under one key is forgotten at once, so it is of one moment.
    const auto some = events.subspan(i, std::min(kEventsInKey, events.size() - i));
    const auto is_later = [&](const Event& event) { return event.wall != some.front().wall; };
    const auto count = static_cast<std::size_t>(std::ranges::find_if(some, is_later) - some.begin());
    changes.put(fmt::format("{}-{}", prefix, i), to_text(some.first(count)));
    i += count;
  }
  return prefix + "-0";
}

// Looks now and then whether the bucket is full. If so the next one begins, and the oldest goes. If this
// fails somebody else does it.
void EtcdTransaction::turn_bucket() {
  // If all wrote as much as this one did, it is not full yet.
  if ((committed_ - era_revision_) * history_keys_ < kKeysInBucket) return;
  // Every commit has a revision of its own, so of many who write at a time one looks.
  if (committed_ * history_keys_ % kKeysBetweenLooks >= history_keys_) return;
  try {
    const KeyRange bucket = names_below(keys_.bucket(bucket_));
    pb::RangeRequest asked;
    asked.set_key(bucket.first);
    asked.set_range_end(bucket.second);
    asked.set_count_only(true);
    if (shared_.cluster->range(asked).count() < kKeysInBucket) return;
    pb::TxnRequest request;
    *request.add_compare() = exactly(keys_.era(), era_revision_);
    *request.add_success() = put_op(keys_.era(), std::to_string(bucket_ + 1));
    if (bucket_ + 1 > kBucketsKept) {
      pb::DeleteRangeRequest& erased = *request.add_success()->mutable_request_delete_range();
      erased.set_key(keys_.all("history/"));
      erased.set_range_end(keys_.bucket(bucket_ + 1 - kBucketsKept));
    }
    shared_.cluster->read(request);
  } catch (const Failure&) {
  } catch (const Conflict&) {
  }
}

}  // namespace leasehold::etcd
