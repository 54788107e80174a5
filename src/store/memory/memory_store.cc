#include "store/memory/memory_store.h"

#include <deque>
#include <mutex>

#include "store/fair_mutex.h"
#include "store/matching.h"
#include "store/memory/tables.h"
#include "store/nudged_bell.h"
#include "store/token.h"

namespace leasehold {
namespace {

// Bells of this process, by ticket. Several may listen to one ticket.
class Bells {
 public:
  void add(const GroupId& ticket, Nudge& nudge) {
    const std::lock_guard lock(mutex_);
    nudges_.insert({ticket, &nudge});
  }

  void remove(const GroupId& ticket, Nudge& nudge) {
    const std::lock_guard lock(mutex_);
    nudges_.erase({ticket, &nudge});
  }

  void ring(const GroupId& ticket) {
    const std::lock_guard lock(mutex_);
    for (auto place = nudges_.lower_bound({ticket, nullptr});
         place != nudges_.end() && place->first == ticket; ++place)
      place->second->give();
  }

 private:
  std::mutex mutex_;
  std::set<std::pair<GroupId, Nudge*>> nudges_;
};

struct Data {
  std::map<std::string, Tables> workspaces;
  std::map<std::string, std::deque<Event>> history;  // By workspace.
  std::map<std::string, Setting> settings;           // By stored key.
  std::uint64_t last_sequence = 0;
  Token last_token;
};

// Writes in place and remembers how to undo it. Unless commit() is called, destruction undoes all.
class MemoryTransaction final : public Transaction {
 public:
  MemoryTransaction(Data& data, const std::string& workspace, const StoreClock& clock)
      : data_(data),
        tables_(data.workspaces[workspace]),
        history_(data.history[workspace]),
        now_(clock.now()),
        wall_(clock.wall()) {}
  MemoryTransaction(const MemoryTransaction&) = delete;
  MemoryTransaction& operator=(const MemoryTransaction&) = delete;
  ~MemoryTransaction() override {
    for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) (*undo)();
  }

  // Returns the bells to ring.
  std::vector<GroupId> commit() {
    undo_.clear();
    return std::move(bells_);
  }

  Time now() const override { return now_; }
  WallTime wall() const override { return wall_; }
  std::vector<Lease> leases_at(const Scope& scope) override { return tables_.leases_at(scope); }
  using Transaction::tickets_at;
  std::vector<Ticket> tickets_at(const std::vector<Scope>& scopes) override {
    return tables_.tickets_at(scopes);
  }
  std::vector<InLine> line_at(const std::string& path) override { return tables_.line_at(path); }
  std::optional<Lease> lease(const LeaseId& id) override { return tables_.lease(id); }
  std::optional<Ticket> ticket(const GroupId& id) override { return tables_.ticket(id); }
  std::optional<Lease> last_lease(const Owner& owner, const std::string& path) override {
    return tables_.last_lease(owner, path);
  }
  std::optional<Lease> last_lease_in(const std::string& session_id, const std::string& path) override {
    return tables_.last_lease_in(session_id, path);
  }
  std::vector<Lease> leases(const Filter& filter) override { return tables_.leases(filter); }
  std::vector<Ticket> tickets(const Filter& filter) override { return tables_.tickets(filter); }
  std::size_t lease_count(const Owner& owner) override { return tables_.lease_count(owner); }
  std::vector<Notice> notices(const Owner& owner) override { return tables_.notices(owner); }
  std::optional<Answer> answer(const Owner& owner, const std::string& key) override {
    return tables_.answer(owner, key);
  }
  std::optional<Contention> contention(const Owner& owner, const std::string& path) override {
    return tables_.contention(owner, path);
  }
  std::vector<Contention> contentions(const Filter& filter) override { return tables_.contentions(filter); }
  std::optional<RateWindow> rate_window(const std::string& session_id) override {
    return tables_.rate_window(session_id, now_);
  }
  SessionPaths session_paths(const std::string& session_id) override {
    return {.paths = tables_.session_paths(session_id, wall_), .invalid = {}};
  }
  Due due(Time moment, std::size_t limit) override { return tables_.due(moment, limit); }
  std::vector<Event> history(const HistoryQuery& query) override;
  std::vector<Setting> settings() override;

  Token next_token() override {
    const Token before = data_.last_token;
    data_.last_token = token_after(before, wall_);
    undo_.emplace_back([this, before] { data_.last_token = before; });
    return data_.last_token;
  }

  void put(const Lease& lease) override {
    auto before = tables_.set_lease(lease.id, Tables::StoredLease{.lease = lease});
    undo_.emplace_back([this, id = lease.id, before = std::move(before)] { tables_.set_lease(id, before); });
  }
  void extend(const Lease& lease) override {
    const Tables::Term before = tables_.set_term(lease.id, Tables::Term(lease));
    undo_.emplace_back([this, id = lease.id, before] { tables_.set_term(id, before); });
  }
  void put(const Ticket& ticket) override {
    auto before = tables_.set_ticket(ticket.id, ticket);
    undo_.emplace_back(
        [this, id = ticket.id, before = std::move(before)] { tables_.set_ticket(id, before); });
  }
  void put(const Answer& answer) override { set(answer.owner, answer.key, answer); }
  void put(const Notice& notice) override { set(notice.id, notice); }
  void erase(const Notice& notice) override { set(notice.id, std::nullopt); }
  void put(const Contention& contention) override { set(contention, contention); }
  void erase(const Contention& contention) override { set(contention, std::nullopt); }

  void put(const RateWindow& window) override { set(window, window); }
  void put(const SessionPath& path) override { set(path, path); }
  void erase(const SessionPath& path) override { set(path, std::nullopt); }

  void put(const Setting& setting) override {
    Setting stored = setting;
    stored.updated_at = std::chrono::floor<std::chrono::seconds>(wall_);
    set_setting(setting.stored_key(), std::move(stored));
  }
  void erase_setting(const std::string& stored_key) override { set_setting(stored_key, std::nullopt); }

  void append(Event event) override {
    event.sequence = ++data_.last_sequence;
    history_.push_back(std::move(event));
    undo_.emplace_back([this] {
      --data_.last_sequence;
      history_.pop_back();
    });
  }

  void ring(const GroupId& ticket) override { bells_.push_back(ticket); }

  std::size_t forget(Time ended_before, WallTime history_before, std::size_t limit) override;

 private:
  void set(const Owner& owner, const std::string& key, std::optional<Answer> value) {
    auto before = tables_.set_answer(owner, key, std::move(value));
    undo_.emplace_back(
        [this, owner, key, before = std::move(before)] { tables_.set_answer(owner, key, before); });
  }
  void set(const Contention& key, std::optional<Contention> value) {
    auto before = tables_.set_contention(key.owner(), key.path, std::move(value));
    undo_.emplace_back([this, owner = key.owner(), path = key.path, before = std::move(before)] {
      tables_.set_contention(owner, path, before);
    });
  }
  void set(const RateWindow& key, std::optional<RateWindow> value) {
    auto before = tables_.set_rate_window(key.session_id, std::move(value));
    undo_.emplace_back([this, session = key.session_id, before = std::move(before)] {
      tables_.set_rate_window(session, before);
    });
  }
  void set(const SessionPath& key, std::optional<SessionPath> value) {
    auto before = tables_.set_session_path(key, std::move(value));
    undo_.emplace_back([this, key, before = std::move(before)] { tables_.set_session_path(key, before); });
  }
  void set(const std::string& id, std::optional<Notice> value) {
    auto before = tables_.set_notice(id, std::move(value));
    undo_.emplace_back([this, id, before = std::move(before)] { tables_.set_notice(id, before); });
  }

  void set_setting(const std::string& key, const std::optional<Setting>& value) {
    std::optional<Setting> before;
    if (const auto found = data_.settings.find(key); found != data_.settings.end()) before = found->second;
    undo_.emplace_back([this, key, before = std::move(before)] { assign_setting(key, before); });
    assign_setting(key, value);
  }
  void assign_setting(const std::string& key, const std::optional<Setting>& value) {
    if (value) {
      data_.settings.insert_or_assign(key, *value);
    } else {
      data_.settings.erase(key);
    }
  }

  Data& data_;
  Tables& tables_;
  std::deque<Event>& history_;
  const Time now_;
  const WallTime wall_;
  std::vector<std::function<void()>> undo_;
  std::vector<GroupId> bells_;
};

std::vector<Event> MemoryTransaction::history(const HistoryQuery& query) {
  const auto begin = std::ranges::upper_bound(history_, query.after, {}, &Event::sequence);
  std::vector<Event> found;
  const auto take = [&](const Event& event) {
    if (matches(query, event)) found.push_back(event);
    return query.limit > 0 && found.size() == query.limit;
  };
  if (query.oldest) {
    for (auto event = begin; event != history_.end(); ++event) {
      if (take(*event)) break;
    }
    return found;
  }
  for (auto event = history_.end(); event != begin;) {
    if (take(*--event)) break;
  }
  std::ranges::reverse(found);
  return found;
}

std::vector<Setting> MemoryTransaction::settings() {
  std::vector<Setting> found;
  for (const auto& [key, setting] : data_.settings) found.push_back(setting);
  return found;
}

std::size_t MemoryTransaction::forget(Time ended_before, WallTime history_before, std::size_t limit) {
  std::size_t forgotten = 0;
  for (const LeaseId& id : tables_.forgettable_leases(ended_before, limit)) {
    auto before = tables_.set_lease(id, std::nullopt);
    undo_.emplace_back([this, id, before = std::move(before)] { tables_.set_lease(id, before); });
    ++forgotten;
  }
  for (const GroupId& id : tables_.forgettable_tickets(ended_before, limit - forgotten)) {
    auto before = tables_.set_ticket(id, std::nullopt);
    undo_.emplace_back([this, id, before = std::move(before)] { tables_.set_ticket(id, before); });
    ++forgotten;
  }
  for (const Notice& notice : tables_.forgettable_notices(now_, limit - forgotten)) {
    set(notice.id, std::nullopt);
    ++forgotten;
  }
  for (const Contention& contention : tables_.forgettable_contentions(now_, limit - forgotten)) {
    erase(contention);
    ++forgotten;
  }
  for (const Answer& answer : tables_.forgettable_answers(now_, limit - forgotten)) {
    set(answer.owner, answer.key, std::nullopt);
    ++forgotten;
  }
  for (const RateWindow& window : tables_.closed_rate_windows(now_)) set(window, std::nullopt);
  for (const SessionPath& path : tables_.dropped_session_paths(wall_)) erase(path);
  while (forgotten < limit && !history_.empty() && history_.front().wall < history_before) {
    undo_.emplace_back([this, event = std::move(history_.front())] { history_.push_front(event); });
    history_.pop_front();
    ++forgotten;
  }
  return forgotten;
}

// One mutex around everything: a body never meets a conflict here, and runs once. A view waits for
// the body that runs just then, which is never long.
class MemoryStore final : public Store {
 public:
  explicit MemoryStore(const StoreClock& clock) : clock_(clock) {}

  Result<void> transact(const Footprint& footprint, const Body& body) override {
    std::vector<GroupId> bells;
    {
      const std::lock_guard lock(mutex_);
      MemoryTransaction transaction(data_, footprint.workspace, clock_);
      if (auto done = body(transaction); !done) return done;
      bells = transaction.commit();
    }
    for (const GroupId& ticket : bells) bells_->ring(ticket);
    return {};
  }

  Result<void> view(const Footprint& footprint, const Look& body) override {
    const std::lock_guard lock(mutex_);
    MemoryTransaction transaction(data_, footprint.workspace, clock_);
    return body(transaction);
  }

  Result<std::vector<Defect>> examine(const std::string&, bool) override { return {}; }

  Result<std::unique_ptr<Bell>> listen(const std::string&, const GroupId& ticket) override {
    auto bell = open_bell([bells = bells_, id = ticket](Nudge& nudge) { bells->remove(id, nudge); });
    if (bell) bells_->add(ticket, *(*bell)->nudge());
    return bell;
  }

 private:
  const StoreClock& clock_;
  FairMutex mutex_;
  Data data_;
  const std::shared_ptr<Bells> bells_ = std::make_shared<Bells>();
};

}  // namespace

std::unique_ptr<Store> open_memory_store(const StoreClock& clock) {
  return std::make_unique<MemoryStore>(clock);
}

}  // namespace leasehold
