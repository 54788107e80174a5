// Wrappers that pass every call on, so that a test overrides only the one it wants to break.
#pragma once

#include <memory>
#include <utility>

#include "store/store.h"

namespace leasehold {

class ForwardingTransaction : public Transaction {
 public:
  // `target` must outlive this.
  explicit ForwardingTransaction(Transaction& target) : target_(target) {}

  Time now() const override { return target_.now(); }
  WallTime wall() const override { return target_.wall(); }
  std::vector<Lease> leases_at(const Scope& scope) override { return target_.leases_at(scope); }
  std::vector<Ticket> tickets_at(const std::vector<Scope>& scopes) override {
    return target_.tickets_at(scopes);
  }
  std::vector<InLine> line_at(const std::string& path) override { return target_.line_at(path); }
  std::optional<Lease> lease(const LeaseId& id) override { return target_.lease(id); }
  std::optional<Ticket> ticket(const GroupId& id) override { return target_.ticket(id); }
  std::optional<Lease> last_lease(const Owner& owner, const std::string& path) override {
    return target_.last_lease(owner, path);
  }
  std::optional<Lease> last_lease_in(const std::string& session_id, const std::string& path) override {
    return target_.last_lease_in(session_id, path);
  }
  std::vector<Lease> leases(const Filter& filter) override { return target_.leases(filter); }
  std::vector<Ticket> tickets(const Filter& filter) override { return target_.tickets(filter); }
  std::size_t lease_count(const Owner& owner) override { return target_.lease_count(owner); }
  std::vector<Notice> notices(const Owner& owner) override { return target_.notices(owner); }
  std::optional<Answer> answer(const Owner& owner, const std::string& key) override {
    return target_.answer(owner, key);
  }
  std::optional<Contention> contention(const Owner& owner, const std::string& path) override {
    return target_.contention(owner, path);
  }
  std::vector<Contention> contentions(const Filter& filter) override { return target_.contentions(filter); }
  std::optional<RateWindow> rate_window(const std::string& session_id) override {
    return target_.rate_window(session_id);
  }
  SessionPaths session_paths(const std::string& session_id) override {
    return target_.session_paths(session_id);
  }
  Due due(Time moment, std::size_t limit) override { return target_.due(moment, limit); }
  std::vector<Event> history(const HistoryQuery& query) override { return target_.history(query); }
  std::vector<Setting> settings() override { return target_.settings(); }

  Token next_token() override { return target_.next_token(); }
  void put(const Lease& lease) override { target_.put(lease); }
  void put(const Ticket& ticket) override { target_.put(ticket); }
  void come_behind(const std::string& path, const std::optional<GroupId>& ahead) override {
    target_.come_behind(path, ahead);
  }
  void let_line_grow(const std::string& path) override { target_.let_line_grow(path); }
  void put(const Answer& answer) override { target_.put(answer); }
  void put(const Notice& notice) override { target_.put(notice); }
  void erase(const Notice& notice) override { target_.erase(notice); }
  void put(const Setting& setting) override { target_.put(setting); }
  void erase_setting(const std::string& stored_key) override { target_.erase_setting(stored_key); }
  void put(const Contention& contention) override { target_.put(contention); }
  void erase(const Contention& contention) override { target_.erase(contention); }
  void put(const RateWindow& window) override { target_.put(window); }
  void put(const SessionPath& path) override { target_.put(path); }
  void erase(const SessionPath& path) override { target_.erase(path); }
  void append(Event event) override { target_.append(std::move(event)); }
  void ring(const GroupId& ticket) override { target_.ring(ticket); }
  std::size_t forget(Time ended_before, WallTime history_before, std::size_t limit) override {
    return target_.forget(ended_before, history_before, limit);
  }

 private:
  Transaction& target_;
};

class ForwardingStore : public Store {
 public:
  // `target` must outlive this.
  explicit ForwardingStore(Store& target) : target_(target) {}

  Result<void> transact(const Footprint& footprint, const Body& body) override {
    return target_.transact(footprint, body);
  }
  Result<void> view(const Footprint& footprint, const Look& body) override {
    return target_.view(footprint, body);
  }
  Result<std::unique_ptr<Bell>> listen(const std::string& workspace, const GroupId& ticket) override {
    return target_.listen(workspace, ticket);
  }
  Result<std::vector<Defect>> examine(const std::string& workspace, bool repair) override {
    return target_.examine(workspace, repair);
  }

 private:
  Store& target_;
};

}  // namespace leasehold
