// One round trip of reading: what was wanted goes out as one script, and its answer is learned.
#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <span>

#include "store/redis/scripts.h"
#include "store/redis/transaction.h"
#include "store/token.h"
#include "util/number.h"

namespace leasehold::redis {
namespace {

// Lua hands so many values to a call at once.
constexpr std::size_t kPathsAtOnce = 1000;
constexpr std::size_t kStringsAtOnce = 2000;

// Of the script's answer, before the further reads.
constexpr std::size_t kFixedParts = 9;

// The server looks for each new key among all that this client watches: 500 cost it 1.4 ms, 5000 already
// 175. Who reads more watches the two keys of which every change touches one.
constexpr std::size_t kWatchedMax = 500;

// How long others hold back for one that announced itself. One that reads much takes longer.
constexpr std::string_view kIntentMs = "200";
constexpr std::string_view kLongIntentMs = "1000";

std::int64_t number(std::string_view text) { return parse_number<std::int64_t>(text).value_or(0); }

// The server knows a script it ran by the SHA-1 of its text.
std::string name_of(std::string_view script) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(script.data(), script.size(), digest, &size, EVP_sha1(), nullptr);
  std::string hex;
  for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace

// What most rounds ask, in the order the script takes it.
std::vector<std::string> RedisTransaction::words_of(const Round& round) const {
  std::vector<std::string> words;
  words.reserve(8 + 2 * round.paths.size() + 4 * round.owners.size() + round.strings.size() +
                round.words.size());
  for (const std::size_t count : {round.paths.size(), round.owners.size(), round.strings.size()})
    words.push_back(std::to_string(count));
  for (const std::string& path : round.paths) words.push_back(keys_.file(path));
  for (const std::string& path : round.paths) words.push_back(keys_.queue(path));
  for (const Owner& owner : round.owners) {
    words.push_back(keys_.notices(owner));
    words.push_back(keys_.waits(owner));
    words.push_back(keys_.gate(owner));
  }
  words.push_back(keys_.intent());
  for (const Owner& owner : round.owners) words.push_back(keys_.owner(owner));
  words.insert(words.end(), round.strings.begin(), round.strings.end());
  words.push_back(keys_.lease_prefix());
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

// The keys of a round, each by itself as long as there are few. From then on the two that stand for all;
// what was watched before stays watched.
void RedisTransaction::watch(const Round& round, bool first) {
  std::vector<std::string> own;
  // Who draws a token is about to grant something, under a new id.
  watches_guard_ |= first && writes_ && round.tokens > 0;
  if (first && watches_guard_) own.push_back(keys_.guard());
  if (first && spares_above_) own.push_back(keys_.dirs());
  watched_ += round.watched.size();
  std::vector<std::string_view> words = {"WATCH"};
  if (!watches_everything_ && watched_ <= kWatchedMax) {
    words.insert(words.end(), round.watched.begin(), round.watched.end());
  } else if (!watches_everything_) {
    watches_everything_ = true;
    leftover_.below = "/";  // Everybody may disturb it.
    own.push_back(keys_.changes());
    own.push_back(keys_.history());
  }
  words.insert(words.end(), own.begin(), own.end());
  if (words.size() == 1) return;
  connection_.add(words);
  connection_.watches = true;
}

// Asks for the time, and for tokens if there are to be some.
void RedisTransaction::ask_clock(const Round& round) {
  if (round.tokens == 0) {
    connection_.add({"TIME"});
    return;
  }
  static const std::string kName = name_of(kTokenScript);
  const StoreClock* clock = shared_.options.clock;
  const std::string floor =
      clock != nullptr ? std::to_string(token_after({}, clock->wall()).value) : std::string();
  connection_.add({"EVALSHA", kName, "1", kTokenKey, std::to_string(round.tokens), floor});
}

void RedisTransaction::learn_clock(const Round& round, ReplyView answer, bool first) {
  if (first) {
    const std::chrono::microseconds time(number(answer[0].text()) * 1'000'000 + number(answer[1].text()));
    shared_.server_time.note(Time(time), asked_);
    set_time(time);
  }
  if (round.tokens > 0) {
    next_token_ = static_cast<std::uint64_t>(answer[2].integer());
    token_end_ = next_token_ + static_cast<std::uint64_t>(round.tokens);
  }
}

void RedisTransaction::set_time(std::chrono::microseconds server_time) {
  const StoreClock* clock = shared_.options.clock;
  server_ms_ = std::chrono::duration_cast<std::chrono::milliseconds>(server_time).count();
  now_ = clock != nullptr ? clock->now() : Time(server_time);
  wall_ = clock != nullptr ? clock->wall() : WallTime(server_time);
}

// Sends what `add` adds, behind what waits to be sent, and returns the answers to that. A server that does
// not know our scripts is told them.
std::vector<Reply> RedisTransaction::ask(const std::function<void()>& add) {
  const auto exchange = [&] {
    asked_ = since_boot();
    const std::size_t before = connection_.pending();
    add();
    std::vector<Reply> replies = connection_.exchange();
    for (std::size_t i = 0; i < before; ++i) must_be_answered(replies[i]);
    replies.erase(replies.begin(), replies.begin() + static_cast<std::ptrdiff_t>(before));
    return replies;
  };
  std::vector<Reply> replies = exchange();
  const auto is_unknown = [](const Reply& reply) { return reply.view().text().starts_with("NOSCRIPT"); };
  if (!std::ranges::any_of(replies, is_unknown)) return replies;
  for (const std::string_view script : {kTokenScript, kReadScript})
    connection_.add({"SCRIPT", "LOAD", script});
  return exchange();
}

void RedisTransaction::must_be_answered(const Reply& reply) const {
  if (reply.view().is_error())
    throw failure_of(reply.view().text(), connection_.address(), "Reading the leases");
}

// Sends the round and lets its handlers learn. The first one also says what time it is.
void RedisTransaction::run(Round& round) {
  if (told_) throw Conflict();  // What is read now is not of the ring's moment: the next run reads all.
  split(round);
  const bool first = !began_;
  began_ = true;
  if (first && connection_.watches) connection_.add({"UNWATCH"});
  if (first && !leftover_.intent.empty()) {
    connection_.add({"SET", keys_.intent(), leftover_.intent, "PX",
                     leftover_.intent.ends_with(" /") ? kLongIntentMs : kIntentMs});
  }
  watch(round, first);
  // A token has to be newer than all that was granted before its paths were read.
  if (!first && !round.paths.empty() && token_end_ != 0)
    round.tokens = std::max(round.tokens, kTokensAtFirst);
  const bool may_glance = first && writes_ && round.handlers.empty() && !round.paths.empty();
  if (may_glance && !knows_of_waiter_ && shared_.is_calm && glance(round)) return;

  static const std::string kName = name_of(kReadScript);
  const std::vector<std::string> words = words_of(round);
  std::vector<std::string_view> read = {"EVALSHA", kName, "0"};
  read.insert(read.end(), words.begin(), words.end());
  const std::vector<Reply> replies = ask([&] {
    ask_clock(round);
    connection_.add(read);
    if (!first) connection_.add({"CLIENT", "INFO"});
  });
  for (const Reply& reply : replies) must_be_answered(reply);
  if (!first && !round.may_be_late && is_disturbed(replies[2].view())) throw Conflict();
  const ReplyView answer = replies[1].view();
  if (answer.size() != kFixedParts + round.handlers.size()) {
    throw Failure{{Code::corrupt, fmt::format("Redis at {} answers something else than it was asked.",
                                              connection_.address().shown())}};
  }
  learn_clock(round, replies[0].view(), first);
  learn(round, answer);
  if (first) learn_above(answer[7].integer());
  of_one_moment_ = true;
  if (may_glance) shared_.is_calm = answer[3].is_nil();
}

// Whether anything above the paths that were asked for matters, as the script tells it.
void RedisTransaction::learn_above(std::int64_t answer) {
  shared_.has_directories = answer == 0;
  nothing_above_ = spares_above_ && answer != 0;
  makes_format_ = spares_above_ && answer == 2;
}

// Who gives back, and needs no token for it, finds that every path is held, unless it looks above them too.
bool RedisTransaction::may_find_none(const Round& round) const { return round.tokens > 0 || !spares_above_; }

void RedisTransaction::ask_glance(const Round& round) {
  ask_clock(round);
  // What is most often not there; and the documents, of which one of another type reads as none.
  connection_.begin(2 + 2 * round.paths.size() + 3 * round.owners.size() + (spares_above_ ? 1 : 0));
  connection_.word("EXISTS");
  for (const std::string& path : round.paths) connection_.word(keys_.file(path));
  connection_.word(keys_.intent());
  if (spares_above_) connection_.word(keys_.dirs());
  for (const std::string& path : round.paths) connection_.word(keys_.queue(path));
  for (const Owner& owner : round.owners) {
    const std::string text = Keys::owner_text(owner);
    connection_.word(keys_.notices(text));
    connection_.word(keys_.gate(text));
    connection_.word(keys_.waits(owner));
  }
  for (const Owner& owner : round.owners) connection_.add({"HLEN", keys_.owner(owner)});
  connection_.begin(2 + round.paths.size() + round.strings.size());
  connection_.word("MGET");
  for (const std::string& path : round.paths) connection_.word(keys_.file(path));
  for (const std::string& key : round.strings) connection_.word(key);
  connection_.word(keys_.format());
  if (may_find_none(round)) {
    const std::string index = keys_.paths();
    connection_.add({"ZCARD", index});
    connection_.add({"ZCOUNT", index, "0", "0"});
    for (const std::string& path : round.paths)
      connection_.add({"ZLEXCOUNT", index, "[" + Keys::held(path, {}), "(" + path + '\1'});
  }
  if (!spares_above_) connection_.add({"EXISTS", keys_.dirs()});
}

// Most often nobody waits and nobody is to be told anything. Plain commands find that out for a third of what
// the script costs the server. False: there is more than documents; the script has to read it.
//
// They are not of one moment, but what matters is: documents and records are read by one of them, the rest is
// counts. See is_of_one_moment().
bool RedisTransaction::glance(Round& round) {
  const std::vector<Reply> replies = ask([&] { ask_glance(round); });
  const std::size_t documents = round.paths.size();
  const std::size_t owners = round.owners.size();
  const std::size_t values = documents + round.strings.size() + 1;
  const auto counts = std::span(replies).subspan(2, owners);  // Of the owners' leases.
  const ReplyView found = replies[2 + owners].view();
  // Of the index of paths: all its members, those with the score they all should have, those of each path.
  const auto index = std::span(replies).subspan(3 + owners, may_find_none(round) ? 2 + documents : 0);
  must_be_answered(replies.front());
  for (const Reply& reply : replies) {
    // Of another type: the script finds out which key.
    if (!reply.view().text().starts_with("WRONGTYPE")) must_be_answered(reply);
  }
  learn_clock(round, replies[0].view(), true);
  round.tokens = 0;

  std::int64_t there = 0;
  bool is_plain = found.size() == values;
  const bool is_ordered =
      !index.empty() && !index[0].view().is_error() && index[0].view().integer() == index[1].view().integer();
  for (std::size_t i = 0; i < documents; ++i) {
    const bool is_there = !found[i].is_nil();
    there += is_there ? 1 : 0;
    // Redis may have dropped the document of some whose end nobody recorded.
    is_plain &= is_there || (is_ordered && index[2 + i].view().integer() == 0);
  }
  is_plain &= replies[1].view().integer() == there;
  for (const Reply& count : counts) is_plain &= !count.view().is_error();
  // What is not there may be of another type.
  for (std::size_t i = documents; i < documents + round.strings.size(); ++i) is_plain &= !found[i].is_nil();
  const bool is_known = found[values - 1].text() == kFormat;
  if (!is_plain || (spares_above_ && !is_known)) {
    shared_.is_calm = false;
    return false;
  }

  const bool has_none = spares_above_ || replies.back().view().integer() == 0;
  learn_above(is_known && has_none ? 1 : 0);
  for (std::size_t i = 0; i < documents; ++i) {
    if (!found[i].is_nil()) learn_document(keys_.file(round.paths[i]), found[i]);
  }
  for (std::size_t i = 0; i < owners; ++i) learn_owner(round.owners[i], ReplyView(nullptr), counts[i].view());
  for (std::size_t i = 0; i < round.strings.size(); ++i) round.string_handlers[i](found[documents + i]);
  of_one_moment_ = false;
  return true;
}

bool RedisTransaction::is_of_one_moment() {
  if (of_one_moment_) return true;
  connection_.add({"CLIENT", "INFO"});
  return !is_disturbed(connection_.exchange().front().view());
}

// The server knows whether a watched key was changed: flag d, "EXEC will fail".
bool RedisTransaction::is_disturbed(ReplyView client_info) {
  const std::string_view info = client_info.text();
  const std::size_t start = info.find(" flags=");
  if (start == std::string_view::npos) return true;
  const std::string_view flags = info.substr(start + 7, info.find(' ', start + 7) - start - 7);
  return flags.find('d') != std::string_view::npos;
}

void RedisTransaction::learn(const Round& round, ReplyView answer) {
  const ReplyView documents = answer[0];
  const ReplyView queues = answer[1];
  const ReplyView ended = answer[2];
  const std::set<std::string_view> unreadable = learn_tickets(answer[8]);
  for (std::size_t i = 0; i < round.paths.size(); ++i) {
    if (!documents[i].is_nil()) learn_document(keys_.file(round.paths[i]), documents[i]);
    if (!queues[i].is_nil()) learn_queue(keys_.queue(round.paths[i]), queues[i], unreadable);
    // The key was dropped by Redis; that the lease is over is still to be recorded.
    if (ended[i].is_error()) {
      bad_.emplace(keys_.paths(), "it is of another type, or has other scores");
      must_be_whole(keys_.paths());
    }
    learn_pairs(ended[i], 0, false);
  }
  for (std::size_t i = 0; i < round.owners.size(); ++i)
    learn_owner(round.owners[i], answer[3][i], answer[5][i]);
  foreign_intent_ = answer[4].text();
  for (std::size_t i = 0; i < round.strings.size(); ++i) round.string_handlers[i](answer[6][i]);
  for (std::size_t i = 0; i < round.handlers.size(); ++i) round.handlers[i](answer[kFixedParts + i]);
}

}  // namespace leasehold::redis
