// The contract every backend satisfies: records, atomicity, bells. A store knows nothing of modes,
// queues or time to live; the engine decides those over the view it gives.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "leasehold/gate.h"
#include "leasehold/lease.h"
#include "leasehold/result.h"
#include "store/records.h"

namespace leasehold {

// Names what a decision needs, so that a store can fetch it in one round and protect what it read.
// A body may read outside its footprint; that costs one more round, never correctness.
struct Footprint {
  std::string workspace;      // Nothing of another workspace is seen or written.
  std::vector<Scope> scopes;  // Leases and tickets that overlap them.
  std::vector<Owner> owners;  // Their leases, tickets, notices and contentions.
  std::vector<LeaseId> leases;
  std::vector<GroupId> tickets;
  std::vector<std::string> sessions;  // Their rate windows.
  bool gives_back = false;  // Frees more than it takes: may use what a store keeps back for a full disk.
};

// All set fields must match.
struct Filter {
  std::optional<std::string> agent_id;
  std::optional<std::string> session_id;
  std::optional<std::string> pr_id;
};

// What may have lapsed: a place for the sweeper to look, not a verdict. Earliest first.
struct Due {
  std::vector<Lease> leases;    // Active, with expires_at, idle_at or recalled_at not after the moment.
  std::vector<Ticket> tickets;  // Pending, with wait_until or proven_until not after it.
};

// A consistent view. Reads return what is there; one that fails (an unreachable store, a record
// that cannot be parsed) ends the body at once and becomes the result of the transaction: the store
// unwinds with an exception that nobody else throws, catches or sees.
class View {
 public:
  virtual ~View() = default;

  // Store time, fixed for one run of the body.
  virtual Time now() const = 0;
  virtual WallTime wall() const = 0;

  // Active leases, and pending tickets, with a path that overlaps `scope`.
  virtual std::vector<Lease> leases_at(const Scope& scope) = 0;
  // Of several scopes each once: one that waits for many paths is large.
  virtual std::vector<Ticket> tickets_at(const std::vector<Scope>& scopes) = 0;
  std::vector<Ticket> tickets_at(const Scope& scope) { return tickets_at(std::vector{scope}); }
  // Those at one path in short, in no particular order: a line may be long, and its tickets are large.
  virtual std::vector<InLine> line_at(const std::string& path) = 0;

  // By id, whatever the status, as long as they are kept.
  virtual std::optional<Lease> lease(const LeaseId& id) = 0;
  virtual std::optional<Ticket> ticket(const GroupId& id) = 0;

  // The owner's newest lease on exactly this path that it holds or held: one that is pending, or
  // failed while it was, is passed over. Newest: inserted last; putting an older one again does not
  // change that.
  virtual std::optional<Lease> last_lease(const Owner& owner, const std::string& path) = 0;
  // The same of whichever agent of a session; the session has a name.
  virtual std::optional<Lease> last_lease_in(const std::string& session_id, const std::string& path) = 0;

  // Active leases and pending tickets, in no particular order.
  virtual std::vector<Lease> leases(const Filter& filter) = 0;
  virtual std::vector<Ticket> tickets(const Filter& filter) = 0;

  // Active leases of one owner. Costs the same however many there are.
  virtual std::size_t lease_count(const Owner& owner) = 0;

  virtual std::vector<Notice> notices(const Owner& owner) = 0;
  virtual std::optional<Answer> answer(const Owner& owner, const std::string& key) = 0;
  // What the gate remembers of an owner and a path; and all of it, in no particular order.
  virtual std::optional<Contention> contention(const Owner& owner, const std::string& path) = 0;
  virtual std::vector<Contention> contentions(const Filter& filter) = 0;
  virtual Due due(Time moment, std::size_t limit) = 0;  // At most `limit` of each.
  virtual std::vector<Event> history(const HistoryQuery& query) = 0;

  // Neither is there any more once its time (ends_at, drop_at) is past.
  virtual std::optional<RateWindow> rate_window(const std::string& session_id) = 0;
  virtual SessionPaths session_paths(const std::string& session_id) = 0;

  // The runtime configuration (Setting, calls.h), by stored key. Workspaces may share it: on sqlite, all of
  // one file do. A new store may bring some of its own.
  virtual std::vector<Setting> settings() = 0;
};

// A view that can be written. Reads see the body's own writes.
class Transaction : public View {
 public:
  // Greater than every token drawn before on an overlapping path, also after the store lost data;
  // below 2^53, whatever the wall clock says (token_after() in store/token.h).
  virtual Token next_token() = 0;

  // Inserts, or replaces the record with the same id.
  virtual void put(const Lease& lease) = 0;
  // The same for a lease that is there and has nothing new but its term: expires_at, ttl, last_heartbeat_at,
  // updated_at and renewal_count. An owner may extend a hundred thousand.
  virtual void extend(const Lease& lease) { put(lease); }
  virtual void put(const Ticket& ticket) = 0;
  // Hints that let two kinds of transactions ignore each other where somebody waits; a store may disregard
  // them. Every other transaction that read who waits there still conflicts with both.
  //
  // This one puts a ticket at `path` behind all that wait there. While `ahead`, if that is given, still
  // waits, others who say the same, and those who let the line grow, do not affect it. Two who come so at one
  // moment may have drawn the same token for their place.
  virtual void come_behind(const std::string& path, const std::optional<GroupId>& ahead) {
    static_cast<void>(path);
    static_cast<void>(ahead);
  }
  // This one gives `path` to somebody who waits. Those who come behind do not affect it.
  virtual void let_line_grow(const std::string& path) { static_cast<void>(path); }
  virtual void put(const Answer& answer) = 0;
  virtual void put(const Notice& notice) = 0;
  virtual void erase(const Notice& notice) = 0;
  virtual void put(const Contention& contention) = 0;  // By its owner and path.
  virtual void erase(const Contention& contention) = 0;

  virtual void put(const RateWindow& window) = 0;  // By its session.
  virtual void put(const SessionPath& path) = 0;   // By its session and scope.
  virtual void erase(const SessionPath& path) = 0;

  // A setting is known by its stored_key(); `updated_at` is the transaction's wall(), in whole seconds,
  // whatever it says.
  virtual void put(const Setting& setting) = 0;
  virtual void erase_setting(const std::string& stored_key) = 0;

  // Appends to history and fills in the sequence.
  virtual void append(Event event) = 0;

  // Wakes whoever listens to this ticket, after the commit and only then.
  virtual void ring(const GroupId& ticket) = 0;

  // Forgets up to `limit` records nobody needs any more (one more, if two are kept as one): leases and
  // tickets that ended before `ended_before` (by updated_at and ended_at), notices and contentions past
  // their drop_at, answers past theirs whose leases are all forgotten, history from before `history_before`.
  // Returns how many: fewer are all there were. (Rate windows and paths of sessions do not count.)
  virtual std::size_t forget(Time ended_before, WallTime history_before, std::size_t limit) = 0;
};

// One ticket's bell.
class Bell {
 public:
  virtual ~Bell() = default;

  // Readable (poll(2)) from the first ring on. A ring is a hint to look again; what a store
  // learns with it, it may answer that look from (docs/design/decisions.md, "A ring brings the grant").
  virtual int fd() const = 0;
};

class Store {
 public:
  using Body = std::function<Result<void>(Transaction&)>;
  using Look = std::function<Result<void>(View&)>;

  virtual ~Store() = default;

  // Runs `body` on a consistent view of `footprint` and commits all of its writes, or none.
  // Serializable against every other transact() on the same data, whichever process or host it
  // comes from. A conflict runs the body again, so it must have no effect outside the transaction
  // but on values it sets anew each time.
  //
  // Errors: unavailable, transaction_conflict, corrupt (nothing written), outcome_unknown (commit
  // sent, answer lost), and whatever the body returned (nothing written).
  // Thread-safe. May block for the store's timeout. Must not be called from a body.
  virtual Result<void> transact(const Footprint& footprint, const Body& body) = 0;

  // The same for a body that only reads. Waits for no writer.
  virtual Result<void> view(const Footprint& footprint, const Look& body) = 0;

  // Runs `calls`, whose calls of transact() and view(), by this thread, may become one commit: what each
  // wrote is all or nothing as ever and seen by those after it, but others see it, and bells ring, only when
  // this returns. For those who serve many and answer none of them before that.
  // Errors: outcome_unknown (perhaps all of it was kept, perhaps nothing); any other: nothing that any of
  // them wrote was kept, whatever it was told. transaction_conflict: one failed after it wrote something, and
  // could not be undone alone; the next time it can.
  virtual Result<void> together(const std::function<void()>& calls) {
    calls();
    return {};
  }

  // Opens the bell of a ticket. Open it before the ticket is written and no ring is missed.
  virtual Result<std::unique_ptr<Bell>> listen(const std::string& workspace, const GroupId& ticket) = 0;

  // Looks for what no transaction of ours could have left behind, and with `repair` removes it, as far as
  // that can be done while others go on. Returns what was wrong. Errors: unavailable, outcome_unknown.
  virtual Result<std::vector<Defect>> examine(const std::string& workspace, bool repair) = 0;
};

}  // namespace leasehold
