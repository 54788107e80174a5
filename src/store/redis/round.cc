// One round trip of reading: what was wanted goes out as one script, and its answer is learned.
#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <charconv>

#include "store/redis/scripts.h"
#include "store/redis/transaction.h"
#include "store/token.h"

namespace leasehold::redis {
namespace {

// Lua hands so many values to a call at once.
constexpr std::size_t kPathsAtOnce = 1000;
constexpr std::size_t kStringsAtOnce = 2000;

// Of the script's answer, before the further reads.
constexpr std::size_t kFixedParts = 10;

// The server looks for each new key among all that this client watches: 500 cost it 1.4 ms, 5000 already
// 175. Who reads more watches the one key that every change touches.
constexpr std::size_t kWatchedMax = 500;

// How long others hold back for one that announced itself. One that reads much takes longer.
constexpr std::string_view kIntentMs = "200";
constexpr std::string_view kLongIntentMs = "1000";

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The server knows a script it ran by the SHA-1 of its text.
const std::string& read_script_name() {
  static const std::string kName = [] {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_Digest(kReadScript.data(), kReadScript.size(), digest, &size, EVP_sha1(), nullptr);
    std::string hex;
    for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
    return hex;
  }();
  return kName;
}

}  // namespace

// What most rounds ask, in the order the script takes it.
std::vector<std::string> RedisTransaction::words_of(const Round& round) const {
  std::vector<std::string> words;
  words.reserve(8 + 3 * round.paths.size() + 3 * round.owners.size() + round.strings.size() +
                round.words.size());
  for (const std::size_t count : {round.paths.size(), round.owners.size(), round.strings.size()})
    words.push_back(std::to_string(count));
  for (const std::string& path : round.paths) words.push_back(keys_.file(path));
  for (const std::string& path : round.paths) words.push_back(keys_.queue(path));
  for (const std::string& path : round.paths) words.push_back(keys_.at(path));
  for (const Owner& owner : round.owners) {
    words.push_back(keys_.notices(owner));
    words.push_back(keys_.waits(owner));
  }
  words.push_back(keys_.intent());
  for (const Owner& owner : round.owners) words.push_back(keys_.owner(owner));
  words.insert(words.end(), round.strings.begin(), round.strings.end());
  words.push_back(keys_.ticket_prefix());
  words.push_back(keys_.id_prefix());
  words.insert(words.end(), round.words.begin(), round.words.end());
  return words;
}

// Lua takes only so many keys at once: what is more goes first, in rounds of its own. What was read by them
// stays watched, so it does not matter that they are not of one moment.
void RedisTransaction::split(Round& round) {
  while (round.paths.size() > kPathsAtOnce || round.strings.size() > kStringsAtOnce) {
    Round part;
    part.may_be_late = round.may_be_late;
    part.watched = std::exchange(round.watched, {});
    const auto paths = static_cast<std::ptrdiff_t>(std::min(kPathsAtOnce, round.paths.size()));
    part.paths.assign(round.paths.end() - paths, round.paths.end());
    round.paths.resize(round.paths.size() - part.paths.size());
    const auto strings = static_cast<std::ptrdiff_t>(std::min(kStringsAtOnce, round.strings.size()));
    part.strings.assign(round.strings.end() - strings, round.strings.end());
    part.string_handlers.assign(round.string_handlers.end() - strings, round.string_handlers.end());
    round.strings.resize(round.strings.size() - part.strings.size());
    round.string_handlers.resize(round.strings.size());
    run(part);
  }
}

// The keys of a round, each by itself as long as there are few. From then on the one that stands for all;
// what was watched before stays watched.
void RedisTransaction::watch(const Round& round, bool first) {
  std::vector<std::string> keys;
  if (first && writes_) keys.push_back(keys_.guard());
  watched_ += round.watched.size();
  if (!watches_everything_ && watched_ <= kWatchedMax) {
    keys.insert(keys.end(), round.watched.begin(), round.watched.end());
  } else if (!watches_everything_) {
    watches_everything_ = true;
    leftover_.below = "/";  // Everybody may disturb it.
    keys.push_back(keys_.changes());
  }
  if (keys.empty()) return;
  std::vector<std::string_view> words = {"WATCH"};
  words.insert(words.end(), keys.begin(), keys.end());
  connection_.add(words);
  connection_.watches = true;
}

// Sends the round and lets its handlers learn. The first one also says what time it is.
void RedisTransaction::run(Round& round) {
  split(round);
  const bool first = !began_;
  began_ = true;
  if (first && connection_.watches) connection_.add({"UNWATCH"});
  if (first && !leftover_.intent.empty()) {
    connection_.add({"SET", keys_.intent(), leftover_.intent, "PX",
                     leftover_.intent.ends_with(" /") ? kLongIntentMs : kIntentMs});
  }
  watch(round, first);

  const std::vector<std::string> words = words_of(round);
  const StoreClock* clock = shared_.options.clock;
  const std::string floor =
      clock != nullptr ? std::to_string(token_after({}, clock->wall()).value) : std::string();
  const std::string tokens = std::to_string(round.tokens);
  std::vector<std::string_view> read = {"EVALSHA", read_script_name(), "0", tokens, floor, kTokenKey};
  read.insert(read.end(), words.begin(), words.end());
  const auto ask = [&] {
    connection_.add(read);
    if (!first) connection_.add({"CLIENT", "INFO"});
    return connection_.exchange();
  };
  std::vector<Reply> replies = ask();
  const std::size_t place = first ? 1 : 2;  // Of the script's answer, from the end.
  if (replies[replies.size() - place].view().text().starts_with("NOSCRIPT")) {
    read[0] = "EVAL";
    read[1] = kReadScript;
    replies = ask();
  }
  for (const Reply& reply : replies) {
    if (!reply.view().is_error()) continue;
    throw Failure{error_of(reply.view().text(), connection_.address(), "Reading the leases")};
  }
  const Reply& answer = replies[replies.size() - place];
  if (!first && !round.may_be_late) check_undisturbed(replies.back().view());
  if (answer.view().size() != kFixedParts + round.handlers.size()) {
    throw Failure{{Code::corrupt, fmt::format("Redis at {} answers something else than it was asked.",
                                              connection_.address().shown())}};
  }
  if (first) {
    const std::int64_t micros = number(answer[0].text()) * 1'000'000 + number(answer[1].text());
    server_ms_ = micros / 1000;
    now_ = clock != nullptr ? clock->now() : Time(std::chrono::microseconds(micros));
    wall_ = clock != nullptr ? clock->wall() : WallTime(std::chrono::microseconds(micros));
  }
  if (round.tokens > 0) {
    next_token_ = static_cast<std::uint64_t>(number(answer[2].text()));
    token_end_ = next_token_ + static_cast<std::uint64_t>(round.tokens);
  }
  learn(round, answer.view());
}

// The server knows whether a watched key was changed: flag d, "EXEC will fail".
void RedisTransaction::check_undisturbed(ReplyView client_info) {
  const std::string_view info = client_info.text();
  const std::size_t start = info.find(" flags=");
  if (start == std::string_view::npos) throw Conflict();
  const std::string_view flags = info.substr(start + 7, info.find(' ', start + 7) - start - 7);
  if (flags.find('d') != std::string_view::npos) throw Conflict();
}

void RedisTransaction::learn(const Round& round, ReplyView answer) {
  const ReplyView documents = answer[3];
  const ReplyView queues = answer[4];
  const ReplyView ended = answer[5];
  for (std::size_t i = 0; i < round.paths.size(); ++i) {
    if (!documents[i].is_nil()) learn_document(keys_.file(round.paths[i]), documents[i]);
    if (!queues[i].is_nil()) learn_queue(keys_.queue(round.paths[i]), queues[i]);
    // The key was dropped by Redis; that the lease is over is still to be recorded.
    if (ended[i].is_error()) bad_.emplace(keys_.file(round.paths[i]), ended[i].text());
    learn_pairs(ended[i], 0, false);
  }
  for (std::size_t i = 0; i < round.owners.size(); ++i)
    learn_owner(round.owners[i], answer[6][i], answer[8][i]);
  foreign_intent_ = answer[7].text();
  for (std::size_t i = 0; i < round.strings.size(); ++i) round.string_handlers[i](answer[9][i]);
  for (std::size_t i = 0; i < round.handlers.size(); ++i) round.handlers[i](answer[kFixedParts + i]);
}

}  // namespace leasehold::redis
