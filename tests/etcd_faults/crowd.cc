#include "etcd_faults/crowd.h"

#include <fmt/format.h>

#include "support/contended_request.h"

namespace leasehold {
namespace {

constexpr Duration kTtl = 5s;
constexpr Duration kWait = 3s;

}  // namespace

Crowd::Crowd(const EtcdCluster& cluster, int clients) : url_(cluster.url()) {
  for (int i = 0; i < clients; ++i)
    clients_.emplace_back([this, i] { work(fmt::format("client {}", i), static_cast<unsigned>(i + 1)); });
  follower_ = std::jthread([this] { follow(); });
}

Crowd::~Crowd() {
  stop_ = true;
  stop_following_ = true;
}

bool Crowd::goes_on(int grants) const {
  const int before = grants_;
  for (int i = 0; i < 2 && grants_ < before + grants; ++i)
    eventually([&] { return grants_ >= before + grants; });
  return grants_ >= before + grants;
}

void Crowd::work(const std::string& name, unsigned seed) {
  EtcdClient client(url_);
  Dice dice(seed);
  while (!stop_) {
    const AcquireRequest wanted = contended_request(dice, {{.owner = {name, "session"}}}, kTtl, kWait);
    const auto answer = client.manager->acquire_and_wait(wanted);
    if (!answer) {
      complain(answer.error());
    } else if (const auto* granted = std::get_if<Granted>(&answer->decision)) {
      {
        const std::lock_guard lock(mutex_);
        for (const Lease& lease : granted->leases) acknowledged_.insert(lease.id.text);
        if (granted->leases.size() != wanted.paths.size()) errors_.push_back("a part of what was asked for");
      }
      ++grants_;
    }
    // Also after an error: it may have been granted all the same. The next request must not find what this
    // one left.
    for (bool is_free = false; !is_free && !stop_;) {
      const auto released = client.manager->release({.caller = wanted.caller, .which = {.all = true}});
      is_free = released.has_value();
      if (!released) complain(released.error());
    }
  }
}

void Crowd::complain(const Error& error) {
  if (error.code == Code::transaction_conflict || error.code == Code::unavailable ||
      error.code == Code::outcome_unknown) {
    ++troubles_;
    std::this_thread::sleep_for(50ms);
    return;
  }
  const std::lock_guard lock(mutex_);
  errors_.push_back(fmt::format("{}: {}", info(error.code).name, error.message));
}

std::optional<std::string> Crowd::look(EtcdClient& client) {
  std::optional<std::string> wrong;
  const auto looked = client.store->view({.workspace = kWorkspace}, [&](View& view) -> Result<void> {
    for (const Event& event : view.history({})) in_history_.insert(event.lease_id.text);
    wrong = replay_.follow(view);
    return {};
  });
  return looked ? wrong : std::nullopt;
}

// History keeps so much only; it is read as it grows.
void Crowd::follow() {
  EtcdClient client(url_);
  while (!stop_following_) {
    const auto wrong = look(client);
    if (wrong) {
      const std::lock_guard lock(mutex_);
      if (!wrong_) wrong_ = wrong;
      return;
    }
    std::this_thread::sleep_for(200ms);
  }
}

void Crowd::end_and_check() {
  stop_ = true;
  clients_.clear();
  stop_following_ = true;
  follower_ = {};
  EXPECT_EQ(wrong_, std::nullopt);
  for (const std::string& error : errors_) ADD_FAILURE() << error;

  EtcdClient client(url_);
  EXPECT_TRUE(eventually([&] { return client.is_quiet(); })) << "somebody still holds, or waits";
  if (!wrong_) {
    EXPECT_EQ(look(client), std::nullopt);
    EXPECT_EQ(replay_.find_stranded(), std::nullopt);
  }
  for (const std::string& id : acknowledged_) {
    EXPECT_TRUE(in_history_.contains(id)) << "the acknowledged lease " << id << " is not in history";
  }
  EXPECT_GE(replay_.grants(), static_cast<std::size_t>(grants_.load()));
  std::printf("%zu events, %zu grants, %zu waits; %d calls in trouble\n", replay_.events(), replay_.grants(),
              replay_.waits(), troubles_.load());
}

}  // namespace leasehold
