#include "open/preferring_client.h"

#include <mutex>
#include <type_traits>
#include <utility>

namespace leasehold {
namespace {

// Nobody is there, or somebody who is no lease server, or has other settings.
bool is_gone(Code code) {
  return code == Code::unavailable || code == Code::outcome_unknown || code == Code::corrupt;
}

class PreferringClient final : public Client {
 public:
  PreferringClient(std::shared_ptr<Client> server, std::function<Result<std::shared_ptr<Client>>()> open)
      : server_(std::move(server)), open_(std::move(open)) {}

  Result<AcquireAnswer> acquire(const AcquireRequest& request) override {
    return ask([&](Client& client) { return client.acquire(request); });
  }
  Result<AcquireAnswer> acquire_and_wait(const AcquireRequest& request, int cancelled) override {
    return ask_store([&](Client& client) { return client.acquire_and_wait(request, cancelled); });
  }
  Result<AcquireAnswer> poll(const Caller& caller, const GroupId& ticket) override {
    return ask([&](Client& client) { return client.poll(caller, ticket); });
  }
  Result<void> cancel(const Caller& caller, const GroupId& ticket) override {
    return ask([&](Client& client) { return client.cancel(caller, ticket); });
  }
  Result<AcquireAnswer> upgrade(const AcquireRequest& request) override {
    return ask([&](Client& client) { return client.upgrade(request); });
  }
  Result<Outcomes> downgrade(const ReleaseRequest& request) override {
    return ask([&](Client& client) { return client.downgrade(request); });
  }
  Result<Outcomes> renew(const RenewRequest& request) override {
    return ask([&](Client& client) { return client.renew(request); });
  }
  Result<Outcomes> release(const ReleaseRequest& request) override {
    return ask([&](Client& client) { return client.release(request); });
  }
  Result<Outcomes> transfer(const TransferRequest& request) override {
    return ask([&](Client& client) { return client.transfer(request); });
  }
  Result<Outcomes> force_release(const ForceReleaseRequest& request) override {
    return ask([&](Client& client) { return client.force_release(request); });
  }
  Result<CheckAnswer> check(const Caller& caller, const std::string& path, Token token) override {
    return ask([&](Client& client) { return client.check(caller, path, token); });
  }
  Result<std::size_t> turn_started(const Holder& holder) override {
    return ask([&](Client& client) { return client.turn_started(holder); });
  }
  Result<std::size_t> turn_stopped(const Holder& holder) override {
    return ask([&](Client& client) { return client.turn_stopped(holder); });
  }
  Result<Outcomes> end_session(const Caller& caller) override {
    return ask([&](Client& client) { return client.end_session(caller); });
  }
  Result<SessionPaths> session_paths(const std::string& session_id) override {
    return ask([&](Client& client) { return client.session_paths(session_id); });
  }
  Result<GateAnswer> gate(const GateRequest& request) override {
    return ask([&](Client& client) { return client.gate(request); });
  }
  Result<GateAnswer> gate_and_wait(const GateRequest& request, Duration at_most,
                                   const std::function<void(const GateAnswer&)>& denied,
                                   int cancelled) override {
    return ask_store(
        [&](Client& client) { return client.gate_and_wait(request, at_most, denied, cancelled); });
  }
  Result<Blockers> blockers() override {
    return ask([](Client& client) { return client.blockers(); });
  }
  Result<Contention> instruct(const InstructRequest& request) override {
    return ask([&](Client& client) { return client.instruct(request); });
  }
  Result<Lease> lease(const LeaseId& id) override {
    return ask([&](Client& client) { return client.lease(id); });
  }
  Result<Board> board(const Listing& listing) override {
    return ask([&](Client& client) { return client.board(listing); });
  }
  Result<std::vector<Event>> history(const HistoryQuery& query) override {
    return ask([&](Client& client) { return client.history(query); });
  }
  Result<std::vector<Event>> events(std::uint64_t after, Duration wait, int cancelled) override {
    return ask_store([&](Client& client) { return client.events(after, wait, cancelled); });
  }
  Result<Swept> sweep(bool dead_owners) override {
    return ask([&](Client& client) { return client.sweep(dead_owners); });
  }
  Result<Swept> cleanup() override {
    return ask([](Client& client) { return client.cleanup(); });
  }
  Result<std::vector<Setting>> settings() override {
    return ask([](Client& client) { return client.settings(); });
  }
  Result<void> put_setting(const Setting& setting) override {
    return ask([&](Client& client) { return client.put_setting(setting); });
  }
  Result<void> erase_setting(const std::string& stored_key) override {
    return ask([&](Client& client) { return client.erase_setting(stored_key); });
  }

 private:
  template <class Call>
  std::invoke_result_t<Call, Client&> ask(const Call& call) {
    if (!store_if_open()) {
      auto answer = call(*server_);
      if (answer || !is_gone(answer.error().code)) return answer;
    }
    return ask_store(call);
  }

  template <class Call>
  std::invoke_result_t<Call, Client&> ask_store(const Call& call) {
    const auto store = open_store();
    if (!store) return fail(store.error());
    return call(**store);
  }

  std::shared_ptr<Client> store_if_open() {
    const std::lock_guard lock(mutex_);
    return store_;
  }

  Result<std::shared_ptr<Client>> open_store() {
    const std::lock_guard lock(mutex_);
    if (store_) return store_;
    auto opened = open_();
    if (opened) store_ = *opened;
    return opened;
  }

  const std::shared_ptr<Client> server_;
  const std::function<Result<std::shared_ptr<Client>>()> open_;
  std::mutex mutex_;  // Guards what follows.
  std::shared_ptr<Client> store_;
};

}  // namespace

std::shared_ptr<Client> prefer_server(std::shared_ptr<Client> server,
                                      std::function<Result<std::shared_ptr<Client>>()> open) {
  return std::make_shared<PreferringClient>(std::move(server), std::move(open));
}

}  // namespace leasehold
