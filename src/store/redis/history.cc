// History is a stream of the server; its ids are the sequence of events.
#include <fmt/format.h>

#include <algorithm>

#include "store/json/stored_records.h"
#include "store/matching.h"
#include "store/redis/transaction.h"
#include "util/number.h"

namespace leasehold::redis {
namespace {

constexpr std::size_t kHistoryAtOnce = 1000;

// The 63 bits of a sequence: the milliseconds and the counter of a stream's id.
constexpr int kCounterBits = 20;

// Beyond every sequence of an event that was written.
constexpr std::uint64_t kUnwritten = std::uint64_t{1} << 62;

std::uint64_t unsigned_number(std::string_view text) { return parse_number<std::uint64_t>(text).value_or(0); }

std::uint64_t sequence_of(std::string_view stream_id) {
  const std::size_t dash = stream_id.find('-');
  if (dash == std::string_view::npos) return 0;
  return unsigned_number(stream_id.substr(0, dash)) << kCounterBits |
         unsigned_number(stream_id.substr(dash + 1));
}

std::string stream_id_of(std::uint64_t sequence) {
  return fmt::format("{}-{}", sequence >> kCounterBits, sequence & ((std::uint64_t{1} << kCounterBits) - 1));
}

}  // namespace

// From the newest back, or from the oldest on, so that a limit reads no more than it must. Older entries
// never change.
std::vector<Event> RedisTransaction::history(const HistoryQuery& query) {
  const std::string key = keys_.history();
  const bool forward = query.oldest && query.limit > 0;
  const std::string after = query.after == 0 ? "-" : "(" + stream_id_of(query.after);
  std::string next = forward ? after : "+";
  std::vector<Event> found;
  const auto full = [&] { return query.limit != 0 && found.size() >= query.limit; };
  bool first = true;
  for (bool more = true; more && !full(); first = false) {
    Round round;
    round.may_be_late = !first;
    learn_key(round, key);
    const std::string other = forward ? "+" : after;
    round.ask({"X", forward ? "XRANGE" : "XREVRANGE", key, next, other, std::to_string(kHistoryAtOnce)},
              [&, this](ReplyView part) {
                if (part.is_error()) bad_.emplace(key, part.text());
                more = part.size() == kHistoryAtOnce;
                for (std::size_t i = 0; i < part.size(); ++i) {
                  next = fmt::format("({}", part[i][0].text());
                  auto event = record_from_json<Event>(part[i][1][1].text());
                  if (!event) continue;  // Not ours; it stands in nobody's way.
                  event->sequence = sequence_of(part[i][0].text());
                  if (matches(query, *event)) found.push_back(std::move(*event));
                }
              });
    load(round);
    must_be_whole(key);
  }
  if (!forward) std::ranges::reverse(found);
  // What the body added is newer than all that; it gets its own sequence when it is written.
  for (std::size_t i = 0; i < events_.size(); ++i) {
    Event event = events_[i];
    event.sequence = kUnwritten + i;
    if (matches(query, event)) found.push_back(std::move(event));
  }
  return up_to_limit(std::move(found), query);
}

}  // namespace leasehold::redis
