// What transactions of Redis and etcd have in common: everything a body reads is loaded into tables in memory
// first, once; its writes go there too, so it sees them; and the differences are written at the end. How to
// load and to write is for the store to say; what a body sees and what it changed is here.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "store/hints.h"
#include "store/matching.h"
#include "store/memory/tables.h"
#include "store/ring.h"
#include "store/store.h"
#include "store/stored.h"
#include "util/utf8.h"

namespace leasehold {

// A record under its id: how it is stored (if that is known), and whether the body wrote it.
template <class Record>
struct KnownRecord {
  std::optional<Record> stored;
  bool is_new = false;      // Written without having been read: taken for new until somebody asks.
  bool is_changed = false;  // By the body.
};

// `Self` is the store's own transaction; what is called there is no virtual function. `Keys` are the store's
// names, a `Round` is what it reads at once, and a known lease or ticket is a KnownRecord with what it adds.
template <class Self, class Keys, class Round, class KnownLease, class KnownTicket>
class LoadedTransaction : public Transaction {
 public:
  Time now() const override { return now_; }
  WallTime wall() const override { return wall_; }

  std::vector<Lease> leases_at(const Scope& scope) override {
    self().ensure(scope);
    return tables_.leases_at(scope);
  }
  using Transaction::tickets_at;
  std::vector<Ticket> tickets_at(const std::vector<Scope>& scopes) override {
    for (const Scope& scope : scopes) self().ensure(scope);
    return tables_.tickets_at(scopes);
  }
  std::vector<InLine> line_at(const std::string& path) override {
    self().ensure({path, false});
    return tables_.line_at(path);
  }
  std::optional<Lease> lease(const LeaseId& id) override {
    if (auto found = tables_.lease(id)) return found;
    Round round;
    self().want_lease(round, id);
    want_beside(round, id);
    self().load(round);
    self().must_be_whole(key_of(id));
    return tables_.lease(id);
  }
  std::optional<Ticket> ticket(const GroupId& id) override {
    if (auto found = tables_.ticket(id)) return found;
    Round round;
    self().want_ticket(round, id);
    self().load(round);
    self().must_be_whole(key_of(id));
    return tables_.ticket(id);
  }
  std::optional<Lease> last_lease(const Owner& owner, const std::string& path) override {
    return newest_at(keys_.last(owner, path), {.agent_id = owner.agent_id, .session_id = owner.session_id});
  }
  std::optional<Lease> last_lease_in(const std::string& session_id, const std::string& path) override {
    return newest_at(keys_.last({.agent_id = {}, .session_id = session_id}, path),
                     {.session_id = session_id});
  }
  std::vector<Setting> settings() override {
    self().load_settings();
    const auto all = std::views::values(settings_);
    return {all.begin(), all.end()};
  }

  using Transaction::put;
  void put(const Lease& lease) override {
    if (note_change(known_leases_[lease.id.text], changed_leases_, lease.id)) new_leases_.push_back(lease.id);
    tables_.set_lease(lease.id, Tables::StoredLease{.lease = lease});
  }
  void put(const Ticket& ticket) override {
    if (note_change(known_tickets_[ticket.id.text], changed_tickets_, ticket.id))
      new_tickets_.push_back(ticket.id);
    tables_.set_ticket(ticket.id, ticket);
  }
  void put(const Setting& setting) override {
    Setting stored = setting;
    stored.updated_at = std::chrono::floor<std::chrono::seconds>(wall_);
    settings_.insert_or_assign(stored.stored_key(), stored);
    changed_settings_.insert_or_assign(stored.stored_key(), stored);
  }
  void erase_setting(const std::string& stored_key) override {
    settings_.erase(stored_key);
    changed_settings_[stored_key] = std::nullopt;
  }
  void append(Event event) override { events_.push_back(std::move(event)); }
  void ring(const GroupId& ticket) override { bells_.push_back(ticket); }

  // Others may have granted what these waited for: now this process holds it.
  void note_granted(Hints& hints, const std::vector<GroupId>& tickets) {
    for (const GroupId& id : tickets) {
      const std::optional<Ticket> ticket = tables_.ticket(id);
      if (!ticket || ticket->status != Status::active) continue;
      for (const LeaseId& lease_id : ticket->leases) {
        if (const Lease* lease = tables_.find_lease(lease_id))
          hints.note(self().owner_key(lease->holder.owner), *lease);
      }
    }
  }

 protected:
  // For a round that is loaded: none is wanted twice.
  void want_new(Round& round) {
    for (const LeaseId& id : std::exchange(new_leases_, {})) {
      if (known_leases_[id.text].is_new) self().want_lease(round, id);
    }
    for (const GroupId& id : std::exchange(new_tickets_, {})) {
      if (known_tickets_[id.text].is_new) self().want_ticket(round, id);
    }
  }
  void ensure_nothing_is_new() {
    Round round;
    want_new(round);
    self().load(round);
  }

  // What is stored, in `held_` and elsewhere, and what the body made of it.
  std::size_t count_of(const Owner& owner, std::size_t elsewhere = 0) {
    std::size_t count = held_[self().owner_key(owner)] + elsewhere;
    const auto counts = [&](const auto& lease) { return is_active(lease) && lease->holder.owner == owner; };
    for (const LeaseId& id : changed_leases_) {
      if (counts(tables_.find_lease(id))) ++count;
      if (counts(known_leases_[id.text].stored) && count > 0) --count;
    }
    return count;
  }

  // The lease, if it is or was held in that place: by a session, or an agent without one, on a path.
  std::optional<Lease> held_at(const std::string& place, const Filter& whose, const LeaseId& id) {
    std::optional<Lease> found = self().lease(id);
    if (!found || place_of(*found) != place || !matches(whose, found->holder)) return std::nullopt;
    if (found->status == Status::pending || found->status == Status::failed) return std::nullopt;
    return found;
  }

  // One path of a session as it was found, or what was found instead.
  void learn_session_path(const std::string& session_id, const std::string& field,
                          std::optional<SessionPath> path, std::string_view text) {
    if (!path || session_field(*path) != field) {
      invalid_paths_[session_id].push_back(
          fmt::format("{}: {} is not such a path", in_quotes(field), in_quotes(text)));
      return;
    }
    path->session_id = session_id;
    tables_.set_session_path(*path, path);
  }
  void learn_setting(Setting setting) {
    if (!changed_settings_.contains(setting.stored_key()))
      settings_.emplace(setting.stored_key(), std::move(setting));
  }

  // Of those that were loaded.
  std::size_t forget_ended(Time before, std::size_t limit) {
    const std::vector<LeaseId> leases = tables_.forgettable_leases(before, limit);
    for (const LeaseId& id : leases) {
      note_change(known_leases_[id.text], changed_leases_, id);
      tables_.set_lease(id, std::nullopt);
    }
    const std::vector<GroupId> tickets = tables_.forgettable_tickets(before, limit - leases.size());
    for (const GroupId& id : tickets) {
      note_change(known_tickets_[id.text], changed_tickets_, id);
      tables_.set_ticket(id, std::nullopt);
    }
    return leases.size() + tickets.size();
  }

  // Ids that a commit took for new and that may exist, for the next run to read.
  template <class Leftover>
  void leave_new(Leftover& leftover) {
    for (const LeaseId& id : changed_leases_) {
      if (known_leases_[id.text].is_new) leftover.leases.push_back(id);
    }
    for (const GroupId& id : changed_tickets_) {
      if (known_tickets_[id.text].is_new) leftover.tickets.push_back(id);
    }
  }
  void leave_hints(Hints& hints) {
    for (const LeaseId& id : changed_leases_) {
      if (const Lease* lease = tables_.find_lease(id))
        hints.note(self().owner_key(lease->holder.owner), *lease);
    }
    for (const GroupId& id : changed_tickets_) {
      if (const auto ticket = tables_.ticket(id)) hints.note(*ticket);
    }
  }

  // Those who are about to get what is given back: one writer, or a few readers.
  std::vector<const Ticket*> first_in_line() const {
    constexpr std::size_t kMost = 4;
    std::vector<const Ticket*> waiting;
    for (const auto& [id, known] : known_tickets_) {
      if (is_pending(known.stored)) waiting.push_back(&*known.stored);
    }
    std::ranges::sort(waiting, {}, [](const Ticket* ticket) { return ticket->order; });
    // Behind one who writes nobody goes.
    const auto writer = std::ranges::find_if(
        waiting, [](const Ticket* ticket) { return ticket->request->mode == Mode::exclusive; });
    if (writer != waiting.end()) waiting.erase(writer + 1, waiting.end());
    waiting.resize(std::min(waiting.size(), kMost));
    return waiting;
  }

  // What the one who waited under this ticket would look for.
  Ring ring_of(const GroupId& ticket) {
    constexpr std::size_t kToldMost = 16;  // Who waits for more is rare, and its ids are long.
    Ring ring = {.ticket = tables_.ticket(ticket)};
    if (!ring.ticket || ring.ticket->request->paths.empty()) return {};
    const Owner& owner = ring.ticket->request->caller.holder.owner;
    const std::string& path = ring.ticket->request->paths.front().path;
    const std::vector<const Ticket*> waiting = tables_.find_tickets_at({path, false});
    const auto first = std::ranges::min_element(waiting, {}, &Ticket::order);
    if (first != waiting.end()) {
      ring.next = {ring.ticket->workspace, path, (*first)->request->caller.holder.owner, {}};
      if ((*first)->leases.size() <= kToldMost) ring.next.leases = (*first)->leases;
    }
    for (const LeaseId& id : ring.ticket->leases) {
      if (const Lease* lease = tables_.find_lease(id); is_active(lease)) ring.leases.push_back(*lease);
    }
    // It would look for notices, too.
    const bool is_all = ring.leases.size() == ring.ticket->leases.size() && self().knows_notices(owner) &&
                        tables_.notices(owner).empty();
    if (!is_all) {
      ring.ticket.reset();
      ring.leases.clear();
    }
    return ring;
  }

  // Nothing else is looked for than what the ring tells of.
  static bool tells_all(const Ring& ring, const Footprint& footprint) {
    return ring.ticket && ring.ticket->status == Status::active &&
           ring.ticket->workspace == footprint.workspace &&
           footprint.tickets == std::vector{ring.ticket->id} && footprint.scopes.empty() &&
           footprint.leases.empty();
  }

  const Keys& keys_;
  const bool writes_;
  Time now_;
  WallTime wall_;

  Tables tables_;
  std::unordered_set<std::string> loaded_;  // What was read: keys, or what else it is called.
  std::unordered_map<std::string, KnownLease> known_leases_;
  std::unordered_map<std::string, KnownTicket> known_tickets_;
  std::unordered_map<std::string, std::size_t> held_;              // By owner's key: how many are stored.
  std::map<std::string, std::vector<std::string>> invalid_paths_;  // By session.
  std::map<std::string, Setting> settings_;  // By stored key; complete once they were loaded.

  // What the body changed, in order.
  std::vector<LeaseId> changed_leases_;
  std::vector<GroupId> changed_tickets_;
  std::map<std::string, std::optional<Setting>> changed_settings_;
  std::vector<Event> events_;
  std::vector<GroupId> bells_;
  std::vector<std::string> trimmed_;  // Events that are to go.

 private:
  friend Self;  // Nobody else derives from this one.
  LoadedTransaction(const Keys& keys, bool writes) : keys_(keys), writes_(writes) {}

  // True: it is new.
  template <class Known, class Id>
  bool note_change(Known& known, std::vector<Id>& changed, const Id& id) {
    if (known.is_changed) return false;
    known.is_changed = true;
    changed.push_back(id);
    if (!known.stored) known.is_new = !loaded_.contains(key_of(id));
    return known.is_new;
  }
  // Who asks for one lease of a request that waits asks for all of them.
  void want_beside(Round& round, const LeaseId& id) {
    for (const auto& [name, known] : known_tickets_) {
      if (!is_pending(known.stored) ||
          std::ranges::find(known.stored->leases, id) == known.stored->leases.end())
        continue;
      for (const LeaseId& other : known.stored->leases) self().want_lease(round, other);
    }
  }
  std::optional<Lease> newest_at(const std::string& place, const Filter& whose) {
    ensure_nothing_is_new();
    // What the body put there is newer than anything stored.
    for (const LeaseId& id : std::views::reverse(changed_leases_)) {
      const std::optional<Lease>& stored = known_leases_[id.text].stored;
      if (stored && place_of(*stored) == place) continue;
      if (auto found = held_at(place, whose, id)) return found;
    }
    return self().newest_stored(place, whose);
  }
  std::string place_of(const Lease& lease) const { return keys_.last(lease.holder.owner, lease.path); }

  Self& self() { return static_cast<Self&>(*this); }
  std::string key_of(const LeaseId& id) const { return keys_.id(id); }
  std::string key_of(const GroupId& id) const { return keys_.ticket(id); }

  // What was taken for new, and nobody looked yet whether it is.
  std::vector<LeaseId> new_leases_;
  std::vector<GroupId> new_tickets_;
};

}  // namespace leasehold
