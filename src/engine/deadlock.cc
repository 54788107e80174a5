#include "engine/deadlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/live.h"
#include "engine/ownership.h"
#include "engine/queue_order.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

// The waits of all to whom what `owner` holds is their own: as long as one of them waits, nobody gives it up.
// A caller for a whole session is among them, for each owner of that session.
std::vector<Ticket> waits_for_all_of(View& view, const Owner& owner) {
  Filter filter = {.session_id = owner.session_id};
  if (owner.session_id.empty()) filter.agent_id = owner.agent_id;
  std::vector<Ticket> tickets = view.tickets(filter);
  std::erase_if(tickets, [&](const Ticket& ticket) { return !owns(ticket.request->caller, owner); });
  return tickets;
}

// Every path that `ticket` wants, `asking` wants too, all of it and as its only user: whoever is in the way
// of the one in front is in the way of the one behind.
bool is_right_before(const Ticket& ticket, const Ticket& asking) {
  if (ticket.upgrade || !before(rank_of(ticket, false), rank_of(asking, false))) return false;
  return std::ranges::all_of(ticket.request->paths, [&](const WantedPath& wanted) {
    return std::ranges::find(asking.request->paths, wanted.scope(), &WantedPath::scope) !=
           asking.request->paths.end();
  });
}

// Who waits for nothing but what the asker waits for right behind, and so leads nowhere that the asker's own
// blockers do not: most of a long queue. Only for one who holds nothing and waits for nothing else, whom
// nobody in front can wait for.
std::set<Owner> owners_right_before(View& view, const Ticket& asking) {
  const Caller& caller = asking.request->caller;
  if (asking.upgrade || asking.request->mode != Mode::exclusive || caller.whole_session ||
      view.lease_count(caller.holder.owner) > 0)
    return {};
  std::set<Owner> found;
  std::set<Owner> others;
  for (const Ticket& ticket : view.tickets({})) {
    if (ticket.id == asking.id) continue;
    const Caller& waiter = ticket.request->caller;
    // It waits for all of its session.
    if (waiter.whole_session || owns(waiter, caller.holder.owner)) return {};
    (is_right_before(ticket, asking) ? found : others).insert(waiter.holder.owner);
  }
  std::erase_if(found, [&](const Owner& owner) { return others.contains(owner); });
  return found;
}

class CycleSearch {
 public:
  CycleSearch(View& view, const Context& context, const Ticket& asking)
      : view_(view), context_(context), asking_(asking), visited_(owners_right_before(view, asking)) {}

  // Follows everybody in the way of `waiter`; true once the way leads back to the asker.
  bool follow(const Owner& waiter, const std::vector<Blocked>& in_the_way) {
    for (const Blocked& blocked : in_the_way) {
      const Owner& holder = blocked.holder.owner;
      const std::size_t step = way_.size();
      way_.push_back({waiter, blocked.path, holder});
      if (owns(asking_.request->caller, holder) ||
          (visited_.insert(holder).second && waits_for_asker(holder))) {
        // One who waits for more than it has of the path holds it, too.
        way_[step].holder_waits = std::ranges::none_of(in_the_way, [&](const Blocked& other) {
          return !other.waits && other.path == blocked.path && other.holder.owner == holder;
        });
        return true;
      }
      way_.pop_back();
    }
    return false;
  }

  // True if one of the owner's tickets waits, be it by way of others, for the asker.
  bool waits_for_asker(const Owner& owner) {
    for (const Ticket& ticket : waits_for_all_of(view_, owner)) {
      if (ticket.id == asking_.id || lapse(ticket, view_.now(), context_) != EndCause::none) continue;
      if (follow(ticket.request->caller.holder.owner,
                 survey(view_, context_, ticket.request, &ticket, &asking_).blocked)) {
        return true;
      }
    }
    return false;
  }

  std::vector<WaitEdge> take_way() { return std::move(way_); }

 private:
  View& view_;
  const Context& context_;
  const Ticket& asking_;
  std::set<Owner> visited_;
  std::vector<WaitEdge> way_;
};

}  // namespace

bool is_waited_for(View& view, const Caller& caller) {
  const Owner& owner = caller.holder.owner;
  if (view.lease_count(owner) > 0) return true;
  Filter own = {.agent_id = owner.agent_id, .session_id = owner.session_id};
  if (caller.whole_session && !owner.session_id.empty()) {
    own.agent_id.reset();
    if (!view.leases(own).empty()) return true;
  }
  return !view.tickets(own).empty();
}

std::vector<WaitEdge> find_cycle(View& view, const Context& context, const Ticket& asking,
                                 const Survey& found) {
  CycleSearch search(view, context, asking);
  const Owner& asker = asking.request->caller.holder.owner;
  if (search.follow(asker, found.blocked) || search.waits_for_asker(asker)) return search.take_way();
  return {};
}

void fail_if_deadlocked(Ledger& ledger, const Ticket& ticket) {
  if (lapse(ticket, ledger.now(), ledger.context()) != EndCause::none) return;
  ledger.note_search();
  const Survey found = survey(ledger.transaction(), ledger.context(), ticket.request, &ticket);
  // Its owner's other waits are looked at for themselves: ending this one for them would be in vain.
  CycleSearch search(ledger.transaction(), ledger.context(), ticket);
  if (!search.follow(ticket.request->caller.holder.owner, found.blocked)) return;
  ledger.fail(ticket, EndCause::deadlock, {{}, describe(search.take_way())});
}

void fail_deadlocked_waits(Ledger& ledger, const Owner& owner) {
  for (const Ticket& ticket : waits_for_all_of(ledger.transaction(), owner)) {
    fail_if_deadlocked(ledger, ticket);
  }
}

std::string describe(const std::vector<WaitEdge>& cycle) {
  std::string text;
  for (const WaitEdge& edge : cycle) {
    text += fmt::format("{}{} waits for {} {} {}", text.empty() ? "" : ", ",
                        in_sentence(edge.waiter.agent_id), in_sentence(edge.path),
                        edge.holder_waits ? "behind" : "held by", in_sentence(edge.holder.agent_id));
  }
  return text;
}

}  // namespace leasehold
