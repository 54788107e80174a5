// What a transaction wants to know: which keys to watch, and what to ask about them.
#include <fmt/format.h>

#include <algorithm>

#include "model/scope.h"
#include "store/json/stored_records.h"
#include "store/redis/transaction.h"
#include "store/stored.h"
#include "util/utf8.h"

namespace leasehold::redis {
namespace {

// A caller that gives back everything most often holds a file or two.
constexpr std::size_t kGuessedLeases = 16;

// Who is told of a grant later than that looks for itself.
constexpr std::chrono::seconds kGrantIsNewFor{1};

// Leases below a directory, or paths that are waited for there, that one transaction reads.
constexpr std::size_t kBelowMax = 50'000;

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
  want_above(round, scope.path);
  if (scope.subtree && is_path(scope.path)) want_below(round, scope.path);
}

// Those who have or want a directory above it. Most often nobody has one in all the workspace.
void RedisTransaction::want_above(Round& round, const std::string& path) {
  if (nothing_above_) return;
  if (!began_ && spares_above_) {
    spared_.push_back(path);
    return;
  }
  for (const std::string& above : ancestors(path)) want_path(round, above);
}

// All below a directory: first which paths there are, and then those.
void RedisTransaction::want_below(Round& round, const std::string& path) {
  if (!watches_everything_) leftover_.below = path;
  if (!loaded_.insert("below " + path).second) return;
  // As for paths that are read later: whatever was granted below until now has an older token.
  if (token_end_ != 0) round.tokens = std::max(round.tokens, kTokensAtFirst);
  for (const std::string& index : {keys_.paths(), keys_.waiting()}) {
    if (loaded_.insert("watched " + index).second) round.watched.push_back(index);
    round.ask({"Z", index, prefix_below(path), std::to_string(kBelowMax + 1)}, [=, this](ReplyView found) {
      if (found.is_error()) bad_.emplace(index, found.text());
      must_be_whole(index);
      if (found.size() > kBelowMax) {
        throw Failure{
            {Code::limit_exceeded,
             fmt::format(
                 "There are more than {} leases below {}, or paths that are waited for; that is more than "
                 "can be looked at together in Redis. Ask for directories below it.",
                 kBelowMax, in_sentence(path))}};
      }
      for (std::size_t i = 0; i < found.size(); ++i)
        found_below_.emplace_back(Keys::path_of_held(found[i].text()));
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
  // Most often the queue it stands in was read.
  if (const auto known = known_tickets_.find(id.text);
      known != known_tickets_.end() && known->second.stored && known->second.is_protected)
    return;
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

// How many leases it has, its notices, what it waits for, and what the gate remembers of it.
void RedisTransaction::want_owner(Round& round, const Owner& owner) {
  const std::string text = Keys::owner_text(owner);
  if (!learn_key(round, keys_.notices(text))) return;
  learn_key(round, keys_.gate(text));
  learn_key(round, keys_.waits(owner));
  learn_key(round, keys_.owner(text));
  round.owners.push_back(owner);
}

void RedisTransaction::want_contentions(Round& round, std::string_view owner_text) {
  const std::string key = keys_.gate(owner_text);
  if (!learn_key(round, key)) return;
  round.ask({"V", key}, [this, key](ReplyView found) { learn_contentions(key, found); });
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

void RedisTransaction::want_found_below(Round& round) {
  for (const std::string& path : std::exchange(found_below_, {})) want_path(round, path);
}

// Who reads leases by name is going to change them, and to look who waits for them.
void RedisTransaction::want_paths_of_leases(Round& round) {
  if (!writes_) return;
  for (const auto& [id, known] : known_leases_) {
    if (!known.stored || known.stored->status != Status::active) continue;
    want_path(round, known.stored->path);
    want_above(round, known.stored->path);
  }
}

// Who looks after a ticket by name looks at all it waits for. Of one path that is one round either way.
void RedisTransaction::want_paths_of_tickets(Round& round) {
  if (!writes_) return;
  for (const auto& [id, known] : known_tickets_) {
    if (!is_pending(known.stored) || known.stored->request->paths.size() < 2) continue;
    for (const WantedPath& wanted : known.stored->request->paths) want_scope(round, wanted.scope());
  }
}

// Who gives back, and knows who is going to get it, needs to know that one too; and a token for it.
void RedisTransaction::want_next(Round& round, const std::string& workspace, const std::string& path) {
  const NextInLine next = shared_.rings.take_next(workspace, path);
  if (next.owner.agent_id.empty()) return;
  want_owner(round, next.owner);
  for (const LeaseId& id : next.leases) want_lease(round, id);
  round.tokens = kTokensAtFirst;
  knows_of_waiter_ = true;
}

// Somebody waits for what is given back: the first of them are about to get it.
void RedisTransaction::want_first_in_line(Round& round) {
  for (const Ticket* ticket : first_in_line()) {
    for (const LeaseId& id : ticket->leases) want_lease(round, id);
    // To look below a directory disturbs everybody, and it is not certain yet that it has to be.
    for (const WantedPath& wanted : ticket->request->paths) {
      if (!wanted.subtree) want_scope(round, wanted.scope());
    }
    want_owner(round, ticket->request->caller.holder.owner);
    if (token_end_ == 0) round.tokens = kTokensAtFirst;
  }
}

// A server's channels are the same for all its databases and namespaces.
std::string RedisTransaction::origin() const {
  return fmt::format("{}/{}", connection_.address().database, keys_.lease_prefix());
}

// The grant that is looked for came with the ring, and is newer than all that this process has seen.
bool RedisTransaction::was_told(const Footprint& footprint) {
  const std::optional<Ring> ring = std::exchange(leftover_.ring, {});
  if (!ring || !tells_all(*ring, footprint) || ring->origin != origin()) return false;
  if (shared_.options.clock != nullptr) return false;
  const auto now = shared_.server_time.believe(ring->ticket->ended_at, kGrantIsNewFor);
  if (!now) return false;
  set_time(std::chrono::ceil<std::chrono::microseconds>(now->time_since_epoch()));
  told_ = true;
  loaded_.insert(keys_.ticket(ring->ticket->id));
  loaded_.insert(keys_.notices(ring->ticket->request->caller.holder.owner));
  learn_ticket(*ring->ticket, false);
  for (const Lease& lease : ring->leases) {
    loaded_.insert(keys_.id(lease.id));
    learn_lease(lease, false);
  }
  return true;
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
  if (bad_.empty()) return;
  must_be_whole(keys_.file(scope.path));
  must_be_whole(keys_.queue(scope.path));
  for (const std::string& above : ancestors(scope.path)) {
    must_be_whole(keys_.file(above));
    must_be_whole(keys_.queue(above));
  }
  if (!scope.subtree) return;
  for (const auto& prefix : {keys_.file(prefix_below(scope.path)), keys_.queue(prefix_below(scope.path))}) {
    for (const auto& [key, why] : bad_) {
      if (key.starts_with(prefix)) must_be_whole(key);
    }
  }
}

void RedisTransaction::begin(const Footprint& footprint) {
  if (was_told(footprint)) return;
  callers_ = footprint.owners;
  spares_above_ = !shared_.has_directories;
  Round round;
  for (const Scope& scope : footprint.scopes) {
    want_scope(round, scope);
    if (footprint.gives_back) want_next(round, footprint.workspace, scope.path);
  }
  const bool names_no_lease = footprint.scopes.empty() && footprint.leases.empty();
  for (const Owner& owner : footprint.owners) {
    if (footprint.gives_back && names_no_lease) {
      want_leases_of(round, owner, kGuessedLeases);
      for (const std::string& path : shared_.hints.held_by(keys_.owner(owner), kGuessedLeases)) {
        want_scope(round, {path});
        want_next(round, footprint.workspace, path);
      }
    }
    want_owner(round, owner);
  }
  for (const LeaseId& id : footprint.leases) {
    want_lease(round, id);
    if (const std::string path = shared_.hints.path_of(id); writes_ && !path.empty()) {
      want_scope(round, {path});
      if (footprint.gives_back) want_next(round, footprint.workspace, path);
    }
  }
  for (const GroupId& id : footprint.tickets) {
    want_ticket(round, id);
    for (const LeaseId& lease : shared_.hints.leases_of(id)) want_lease(round, lease);
  }
  for (const std::string& session_id : footprint.sessions) want_rate_window(round, session_id);
  for (const LeaseId& id : leftover_.leases) want_lease(round, id);
  for (const GroupId& id : leftover_.tickets) want_ticket(round, id);
  // Who gives back needs a token only if somebody waits.
  if (writes_ && !footprint.gives_back) round.tokens = kTokensAtFirst;
  run(round);  // Even if it asks for nothing: it also tells the time.
  round = {};
  for (const std::string& path : std::exchange(spared_, {})) want_above(round, path);
  want_found_below(round);
  load(round);
  want_paths_of_leases(round);
  if (!footprint.tickets.empty()) want_paths_of_tickets(round);
  load(round);
  if (writes_ && footprint.gives_back) {
    want_first_in_line(round);
    load(round);
  }
}

}  // namespace leasehold::redis
