// History: events in buckets, each event under a key of its own. The order of events is that of their
// commits, which etcd knows as the revision of the key; the key's name cannot tell it, because it is chosen
// before. So a commit writes into the bucket that the key `era` names, on the condition that `era` did not
// change: all events of a bucket are older than those of the next, and within one they are sorted when they
// are read.
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

constexpr std::int64_t kEventsInBucket = 500;
constexpr std::int64_t kEventsBetweenLooks = 16;
constexpr std::uint64_t kBucketsKept = 20;  // Besides the one that is being filled: 10,000 events.

// A sequence: the commit's revision, and the number of the event in it.
constexpr int kNumberBits = 12;
constexpr std::size_t kEventsInCommit = std::size_t{1} << kNumberBits;

// Beyond every sequence of an event that was written.
constexpr std::uint64_t kUnwritten = std::uint64_t{1} << 62;

std::uint64_t number_at_end(std::string_view key) {
  return parse_number<std::uint64_t>(key.substr(key.rfind('-') + 1)).value_or(0);
}

}  // namespace

// Those of one bucket, oldest first. `reached`: it has some that are not after.
std::vector<Event> EtcdTransaction::events_after(std::uint64_t sequence, std::uint64_t bucket,
                                                 bool& reached) {
  std::vector<Event> events;
  Round round;
  round.ask(names_below(keys_.bucket(bucket)), [&](const pb::RangeResponse& found) {
    for (const pb::KeyValue& kv : found.kvs()) {
      auto event = record_from_json<Event>(kv.value());
      if (!event) continue;  // Not ours; it stands in nobody's way.
      event->sequence =
          static_cast<std::uint64_t>(kv.mod_revision()) << kNumberBits | number_at_end(kv.key());
      reached |= event->sequence <= sequence;
      if (event->sequence > sequence) events.push_back(std::move(*event));
    }
  });
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

// From the oldest on, as long as they are older.
std::size_t EtcdTransaction::forget_history(WallTime before, std::size_t limit) {
  if (limit == 0 || before == WallTime::min()) return 0;
  std::vector<std::pair<std::pair<std::int64_t, std::uint64_t>, std::string>> old;  // By age; keys.
  const std::optional<std::uint64_t> oldest = oldest_bucket();
  bool goes_on = oldest.has_value();
  for (std::uint64_t bucket = oldest.value_or(0); goes_on && bucket <= bucket_ && old.size() < limit;
       ++bucket) {
    std::vector<std::pair<std::pair<std::int64_t, std::uint64_t>, std::pair<std::string, bool>>> events;
    Round round;
    round.ask(names_below(keys_.bucket(bucket)), [&](const pb::RangeResponse& found) {
      for (const pb::KeyValue& kv : found.kvs()) {
        const auto event = record_from_json<Event>(kv.value());
        events.push_back(
            {{kv.mod_revision(), number_at_end(kv.key())}, {kv.key(), !event || event->wall < before}});
      }
    });
    load(round);
    std::ranges::sort(events);
    for (const auto& [age, event] : events) {
      goes_on = goes_on && event.second && old.size() < limit;
      if (goes_on) old.emplace_back(age, event.first);
    }
  }
  for (const auto& [age, key] : old) trimmed_.push_back(key);
  return old.size();
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
  for (std::size_t i = 0; i < events_.size(); ++i)
    changes.put(fmt::format("{}-{}", prefix, i), to_json(events_[i]));
  return prefix + "-0";
}

// Looks now and then whether the bucket is full. If so the next one begins, and the oldest goes. If this
// fails somebody else does it.
void EtcdTransaction::turn_bucket() {
  const auto written = static_cast<std::int64_t>(events_.size());
  // If all wrote as much as this one did, it is not full yet.
  if ((committed_ - era_revision_) * written < kEventsInBucket) return;
  // Every commit has a revision of its own, so of many who write at a time one looks.
  if (committed_ * written % kEventsBetweenLooks >= written) return;
  try {
    const KeyRange bucket = names_below(keys_.bucket(bucket_));
    pb::RangeRequest asked;
    asked.set_key(bucket.first);
    asked.set_range_end(bucket.second);
    asked.set_count_only(true);
    if (shared_.cluster->range(asked).count() < kEventsInBucket) return;
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
