// How a transaction gets to know what is in Redis.
#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <charconv>

#include "model/scope.h"
#include "store/json/records_json.h"
#include "store/json/stored_records.h"
#include "store/redis/scripts.h"
#include "store/redis/transaction.h"
#include "store/token.h"
#include "util/utf8.h"

namespace leasehold::redis {
namespace {

// Lua hands so many values to a call at once.
constexpr std::size_t kPathsAtOnce = 1000;
constexpr std::size_t kStringsAtOnce = 2000;

// Of the script's answer, before the further reads.
constexpr std::size_t kFixedParts = 10;

// Tokens cost nothing but numbers: microseconds are a floor for them, and few bodies draw more than one.
constexpr int kTokensAtFirst = 4;

// A caller that gives back everything most often holds a file or two.
constexpr std::size_t kGuessedLeases = 16;

// Those in front: one writer, or a few readers.
constexpr std::size_t kGuessedWaiters = 4;

// The server looks for each new key among all that this client watches.
constexpr std::size_t kWatchedMax = 20'000;

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The server knows a script it ran by the SHA-1 of its text.
const std::string& read_script_name() {
  static const std::string name = [] {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_Digest(kReadScript.data(), kReadScript.size(), digest, &size, EVP_sha1(), nullptr);
    std::string hex;
    for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
    return hex;
  }();
  return name;
}

}  // namespace

// False: it was read already.
bool RedisTransaction::learn_key(Round& round, std::string key, bool watch) {
  if (!loaded_.insert(key).second) return false;
  if (watch) round.watched.push_back(std::move(key));
  return true;
}

void RedisTransaction::want_path(Round& round, const std::string& path) {
  if (!learn_key(round, keys_.file(path))) return;
  learn_key(round, keys_.queue(path));
  round.paths.push_back(path);
}

void RedisTransaction::want_scope(Round& round, const Scope& scope) {
  want_path(round, scope.path);
  for (const std::string& above : ancestors(scope.path)) want_path(round, above);
  if (scope.subtree && is_path(scope.path)) want_below(round, scope.path);
}

// All below a directory: first which paths there are, and then those.
void RedisTransaction::want_below(Round& round, const std::string& path) {
  leftover_.below = path;
  if (!loaded_.insert("below " + path).second) return;
  const std::string prefix = prefix_below(path);
  std::string end = prefix;
  end.back() = '0';  // Comes right after '/'.
  for (const std::string& index : {keys_.paths(), keys_.waiting()}) {
    if (loaded_.insert("watched " + index).second) round.watched.push_back(index);
    round.ask({"Z", index, "[" + prefix, "(" + end}, [this, index](ReplyView found) {
      if (found.is_error()) bad_.emplace(index, found.text());
      must_be_whole(index);
      for (std::size_t i = 0; i < found.size(); ++i) found_below_.emplace_back(found[i].text());
    });
  }
}

void RedisTransaction::want_string(Round& round, const std::string& key, Round::Handler handler) {
  round.strings.push_back(key);
  round.string_handlers.push_back(std::move(handler));
}

void RedisTransaction::want_lease(Round& round, const LeaseId& id) {
  const std::string key = keys_.id(id);
  if (!learn_key(round, key)) return;
  want_string(round, key, [this, id, key](ReplyView text) {
    if (text.is_nil()) {
      auto& known = known_leases_[id.text];
      if (known.stored) throw Conflict();  // It was there a moment ago.
      known.is_protected = true;
      known.is_new = false;
      return;
    }
    auto lease = record_from_json<Lease>(text.text());
    if (text.is_error() || !lease || lease->id != id) {
      bad_.emplace(key, text.is_error() ? "it is of another type" : "its value is not a lease");
      return;
    }
    learn_lease(std::move(*lease), true);
  });
}

void RedisTransaction::want_ticket(Round& round, const GroupId& id) {
  const std::string key = keys_.ticket(id);
  if (!learn_key(round, key)) return;
  want_string(round, key, [this, id, key](ReplyView text) {
    if (text.is_nil()) {
      auto& known = known_tickets_[id.text];
      if (known.stored) throw Conflict();
      known.is_protected = true;
      known.is_new = false;
      return;
    }
    auto ticket = record_from_json<Ticket>(text.text());
    if (text.is_error() || !ticket || ticket->id != id) {
      bad_.emplace(key, text.is_error() ? "it is of another type" : "its value is not a ticket");
      return;
    }
    learn_ticket(std::move(*ticket), true);
  });
}

// How many leases it has, its notices, and what it waits for.
void RedisTransaction::want_owner(Round& round, const Owner& owner) {
  want_contentions(round, Keys::owner_text(owner));
  if (!learn_key(round, keys_.notices(owner))) return;
  learn_key(round, keys_.waits(owner));
  learn_key(round, keys_.owner(owner));
  round.owners.push_back(owner);
}

void RedisTransaction::learn_owner(const Owner& owner, ReplyView told, ReplyView count) {
  const std::string key = keys_.owner(owner);
  if (count.is_error()) bad_.emplace(key, "it is of another type");
  held_[key] = static_cast<std::size_t>(count.integer());

  const std::string notices = keys_.notices(owner);
  if (told[0].is_error()) bad_.emplace(notices, "it is of another type");
  for (std::size_t i = 0; i < told[0].size(); ++i) {
    const auto notice = record_from_json<Notice>(told[0][i].text());
    if (!notice) {
      bad_.emplace(notices, "one of its values is not a notice");
    } else if (!changed_notices_.contains(notice->id)) {
      tables_.set_notice(notice->id, *notice);
    }
  }

  const std::string waits = keys_.waits(owner);
  if (told[1].is_error()) bad_.emplace(waits, "it is of another type");
  std::vector<std::string>& tickets = lists_[waits];
  tickets.clear();
  for (std::size_t i = 0; i < told[1].size(); ++i) tickets.emplace_back(told[1][i].text());
}

void RedisTransaction::want_contentions(Round& round, std::string_view owner_text) {
  const std::string key = keys_.gate(owner_text);
  if (!learn_key(round, key)) return;
  round.ask({"V", key}, [this, key](ReplyView found) {
    if (found.is_error()) bad_.emplace(key, "it is of another type");
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto contention = contention_from_json(found[i].text());
      if (!contention) {
        bad_.emplace(key, "one of its values is not a contention");
      } else if (!changed_contentions_.contains({key, contention->path})) {
        tables_.set_contention(contention->owner(), contention->path, *contention);
      }
    }
  });
}

// Their number; and the leases too, if there are not more than `most`.
void RedisTransaction::want_leases_of(Round& round, const Owner& owner, std::size_t most) {
  const std::string key = keys_.owner(owner);
  if (!learn_key(round, key) && (most == 0 || loaded_.contains("leases " + key))) return;
  round.ask({"O", key, std::to_string(most)}, [this, key](ReplyView found) {
    if (found.is_error()) {
      bad_.emplace(key, "it is of another type");
      return;
    }
    held_[key] = static_cast<std::size_t>(found[0].integer());
    if (found.size() == 1 && held_[key] > 0) return;  // Too many.
    loaded_.insert("leases " + key);
    // The owner's key changes with each of its leases, and is watched.
    learn_pairs(found, 1, true);
  });
}

// What leads from an index to records: {id, record, ...}. One that cannot be read is passed over here, so
// that it is in nobody's way but those who name it.
void RedisTransaction::learn_pairs(ReplyView pairs, std::size_t first, bool is_protected) {
  for (std::size_t i = first; i + 1 < pairs.size(); i += 2) {
    auto lease = record_from_json<Lease>(pairs[i + 1].text());
    if (lease && lease->id.text == pairs[i].text()) learn_lease(std::move(*lease), is_protected);
  }
}

void RedisTransaction::want_new(Round& round) {
  for (const LeaseId& id : changed_leases_) {
    if (known_leases_[id.text].is_new) want_lease(round, id);
  }
  for (const GroupId& id : changed_tickets_) {
    if (known_tickets_[id.text].is_new) want_ticket(round, id);
  }
}

void RedisTransaction::want_found_below(Round& round) {
  for (const std::string& path : std::exchange(found_below_, {})) want_path(round, path);
}

// Who reads leases by name is going to change them, and to look who waits for them.
void RedisTransaction::want_paths_of_leases(Round& round) {
  if (!writes_) return;
  for (const auto& [id, known] : known_leases_) {
    if (!known.stored || known.stored->status != Status::active) continue;
    want_path(round, known.stored->path);
    for (const std::string& above : ancestors(known.stored->path)) want_path(round, above);
  }
}

// Somebody waits for what is given back: the first of them are about to get it, under a new token.
void RedisTransaction::want_waiters(Round& round) {
  std::vector<const Ticket*> waiting;
  for (const auto& [id, known] : known_tickets_) {
    if (known.stored && known.stored->status == Status::pending) waiting.push_back(&*known.stored);
  }
  if (waiting.empty()) return;
  const std::size_t first = std::min(waiting.size(), kGuessedWaiters);
  std::ranges::partial_sort(waiting, waiting.begin() + static_cast<std::ptrdiff_t>(first), {},
                            [](const Ticket* ticket) { return ticket->order; });
  waiting.resize(first);
  for (const Ticket* ticket : waiting) {
    for (const LeaseId& id : ticket->leases) want_lease(round, id);
    for (const WantedPath& wanted : ticket->request.paths) want_scope(round, wanted.scope());
    want_contentions(round, Keys::owner_text(ticket->request.caller.holder.owner));
  }
  round.tokens = kTokensAtFirst;
}

void RedisTransaction::load(Round& round) {
  while (!round.empty()) {
    run(round);
    round = {};
    want_found_below(round);
  }
}

void RedisTransaction::ensure(const Scope& scope) {
  Round round;
  want_new(round);
  want_scope(round, scope);
  load(round);
  must_be_whole(keys_.file(scope.path));
  must_be_whole(keys_.queue(scope.path));
  for (const std::string& above : ancestors(scope.path)) {
    must_be_whole(keys_.file(above));
    must_be_whole(keys_.queue(above));
  }
  if (!scope.subtree || bad_.empty()) return;
  for (const auto& prefix : {keys_.file(prefix_below(scope.path)), keys_.queue(prefix_below(scope.path))}) {
    for (const auto& [key, why] : bad_) {
      if (key.starts_with(prefix)) must_be_whole(key);
    }
  }
}

void RedisTransaction::ensure_nothing_is_new() {
  Round round;
  want_new(round);
  load(round);
}

void RedisTransaction::begin(const Footprint& footprint) {
  Round round;
  for (const Scope& scope : footprint.scopes) want_scope(round, scope);
  const bool names_no_lease = footprint.scopes.empty() && footprint.leases.empty();
  for (const Owner& owner : footprint.owners) {
    if (footprint.gives_back && names_no_lease) {
      want_leases_of(round, owner, kGuessedLeases);
      for (const std::string& path : shared_.hints.held_by(keys_.owner(owner), kGuessedLeases))
        want_scope(round, {path});
    }
    want_owner(round, owner);
  }
  for (const LeaseId& id : footprint.leases) {
    want_lease(round, id);
    if (const std::string path = shared_.hints.path_of(id); writes_ && !path.empty())
      want_scope(round, {path});
  }
  for (const GroupId& id : footprint.tickets) {
    want_ticket(round, id);
    for (const LeaseId& lease : shared_.hints.leases_of(id)) want_lease(round, lease);
  }
  for (const LeaseId& id : leftover_.leases) want_lease(round, id);
  for (const GroupId& id : leftover_.tickets) want_ticket(round, id);
  if (writes_) {
    round.watched.push_back(keys_.guard());
    // Who gives back needs a token only if somebody waits.
    if (!footprint.gives_back) round.tokens = kTokensAtFirst;
  }
  run(round);  // Even if it asks for nothing: it also tells the time.
  round = {};
  want_found_below(round);
  load(round);
  want_paths_of_leases(round);
  load(round);
}

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

// Sends the round and lets its handlers learn. The first one also says what time it is.
void RedisTransaction::run(Round& round) {
  if (loaded_.size() > kWatchedMax) {
    throw Failure{{Code::limit_exceeded,
                   fmt::format("This would touch more than {} keys in one transaction. Ask for less at once.",
                               kWatchedMax)}};
  }
  split(round);
  const bool first = !began_;
  began_ = true;
  if (first && connection_.watches) connection_.add({"UNWATCH"});
  if (first && !leftover_.intent.empty())
    connection_.add({"SET", keys_.intent(), leftover_.intent, "PX", "200"});
  if (!round.watched.empty()) {
    std::vector<std::string_view> watch = {"WATCH"};
    watch.insert(watch.end(), round.watched.begin(), round.watched.end());
    connection_.add(watch);
    connection_.watches = true;
  }

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

// The server knows whether a watched key was changed: flag d, "EXEC will fail".
void RedisTransaction::check_undisturbed(ReplyView client_info) {
  const std::string_view info = client_info.text();
  const std::size_t start = info.find(" flags=");
  if (start == std::string_view::npos) throw Conflict();
  const std::string_view flags = info.substr(start + 7, info.find(' ', start + 7) - start - 7);
  if (flags.find('d') != std::string_view::npos) throw Conflict();
}

void RedisTransaction::learn_document(const std::string& key, ReplyView document) {
  if (document.is_nil()) return;
  auto leases = leases_from_document(document.text());
  if (document.is_error() || !leases) {
    bad_.emplace(key, document.is_error() ? "it is of another type" : "its value is not a list of leases");
    return;
  }
  for (Lease& lease : *leases) learn_lease(std::move(lease), true);
}

void RedisTransaction::learn_queue(const std::string& key, ReplyView queue) {
  if (queue.is_error()) bad_.emplace(key, "it is of another type");
  for (std::size_t i = 0; i + 1 < queue.size(); i += 2) {
    auto ticket = record_from_json<Ticket>(queue[i + 1].text());
    if (ticket && ticket->id.text == queue[i].text()) {
      // The queue changes with each of its tickets, and is watched.
      learn_ticket(std::move(*ticket), true);
    } else if (!queue[i + 1].is_nil()) {
      bad_.emplace(key, fmt::format("the ticket {} in it cannot be read", in_sentence(queue[i].text())));
    }
  }
}

void RedisTransaction::learn_lease(Lease lease, bool is_protected) {
  auto& known = known_leases_[lease.id.text];
  const bool was_protected = known.is_protected;
  known.is_protected |= is_protected;
  if (known.stored) {
    // Two copies of one record: what the body saw unprotected must not have changed since.
    if (!was_protected && *known.stored != lease) throw Conflict();
    return;
  }
  known.is_new = false;
  if (!known.is_changed) tables_.set_lease(lease.id, Tables::StoredLease{.lease = lease});
  known.stored = std::move(lease);
}

void RedisTransaction::learn_ticket(Ticket ticket, bool is_protected) {
  auto& known = known_tickets_[ticket.id.text];
  const bool was_protected = known.is_protected;
  known.is_protected |= is_protected;
  if (known.stored) {
    if (!was_protected && *known.stored != ticket) throw Conflict();
    return;
  }
  known.is_new = false;
  if (!known.is_changed) tables_.set_ticket(ticket.id, ticket);
  known.stored = std::move(ticket);
}

void RedisTransaction::must_be_whole(const std::string& key) const {
  if (bad_.empty()) return;
  const auto found = bad_.find(key);
  if (found == bad_.end()) return;
  throw Failure{
      {Code::corrupt, fmt::format("The key {} in Redis at {} is not what Leasehold wrote: {}. Look at it "
                                  "with redis-cli, then run: lease doctor --repair",
                                  in_quotes(key), connection_.address().shown(), found->second)}};
}

}  // namespace leasehold::redis
