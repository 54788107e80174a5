#include "store/etcd/etcd_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "store/backoff.h"
#include "store/etcd/bells.h"
#include "store/etcd/examine.h"
#include "store/etcd/failure.h"
#include "store/etcd/foresight.h"
#include "store/etcd/round.h"
#include "store/etcd/transaction.h"
#include "util/wall_now.h"

namespace leasehold {
namespace {

using namespace etcd;
using namespace std::chrono_literals;

class EtcdStore final : public Store {
 public:
  EtcdStore(std::unique_ptr<Cluster> cluster, EtcdOptions options)
      : shared_(std::move(cluster), std::move(options)),
        bells_(std::make_shared<Bells>(*shared_.cluster, shared_.rings)) {}
  EtcdStore(const EtcdStore&) = delete;
  EtcdStore& operator=(const EtcdStore&) = delete;
  // Bells that somebody still holds must not use the cluster any more.
  ~EtcdStore() override {
    bells_->stop();
    foresight_.stop();
  }

  Result<void> start();

  Result<void> transact(const Footprint& footprint, const Body& body) override {
    return repeat(footprint, true, [&](EtcdTransaction& transaction) { return body(transaction); });
  }
  Result<void> view(const Footprint& footprint, const Look& body) override {
    return repeat(footprint, false, [&](EtcdTransaction& transaction) { return body(transaction); });
  }
  Result<std::unique_ptr<Bell>> listen(const std::string& workspace, const GroupId& ticket) override {
    return bells_->listen(workspace, ticket);
  }
  Result<std::vector<Defect>> examine(const std::string& workspace, bool repair) override;

 private:
  Leftover first_guess(const Footprint& footprint, bool writes);
  std::unique_ptr<Foreseen> foreseen_for(const Footprint& footprint, const Keys& keys);
  template <class Call>
  Result<void> repeat(const Footprint& footprint, bool writes, const Call& call);

  Shared shared_;
  Foresight foresight_{shared_};
  std::shared_ptr<Bells> bells_;
  Backoff backoff_;
};

// Says at once whether anybody is there, and how far our clock is from those of others.
Result<void> EtcdStore::start() {
  backoff_.seed(static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count()));
  try {
    pb::RangeRequest request;
    request.set_key(stamp_key(shared_.prefix()));
    const std::chrono::nanoseconds asked = since_boot();
    const pb::RangeResponse found = shared_.cluster->range(request);
    shared_.freshness.note({.revision = found.header().revision(), .at = asked});
    if (found.kvs_size() == 0 || !shared_.options.on_warning || shared_.options.clock != nullptr) return {};
    const WallTime stamp{WallTime::duration(number(found))};
    const auto local = wall_now();
    if (stamp - local > kSkewReported) {
      shared_.options.on_warning(
          fmt::format("The clock of this machine is {} s behind that of another one that uses etcd at {}. "
                      "Leases end when etcd "
                      "says so, but waits and what history shows go by clocks: set them.",
                      std::chrono::duration_cast<std::chrono::seconds>(stamp - local).count(),
                      shared_.cluster->address().shown()));
    }
  } catch (const Failure& failure) {
    return fail(failure.error);
  } catch (const Conflict&) {
  }
  return {};
}

// How old what is read first may be.
Leftover EtcdStore::first_guess(const Footprint& footprint, bool writes) {
  // Who looks after its ticket most often changes nothing; who names nothing looks through everything.
  const bool names_paths =
      !footprint.scopes.empty() || !footprint.owners.empty() || !footprint.leases.empty();
  const bool is_look = !footprint.tickets.empty() && !footprint.gives_back;
  const bool is_checked_first = writes && names_paths && !is_look;
  Leftover leftover = {.may_be_old = is_checked_first, .may_be_from_memory = is_checked_first};
  if (!writes && footprint.tickets.size() == 1) {
    // Whoever told of the ring has what was committed with it, and that is what is looked for.
    leftover.ring = shared_.rings.take(footprint.tickets.front());
    leftover.may_be_old = leftover.ring.has_value();
  }
  return leftover;
}

// What was read ahead for one who writes, if it is what he needs; else it is old by what he does.
std::unique_ptr<Foreseen> EtcdStore::foreseen_for(const Footprint& footprint, const Keys& keys) {
  if (footprint.owners.size() != 1) return nullptr;
  auto foreseen = foresight_.take(keys.of(footprint.owners.front()));
  if (foreseen && footprint.gives_back && foreseen->transaction.resume()) return foreseen;
  return nullptr;
}

template <class Call>
Result<void> EtcdStore::repeat(const Footprint& footprint, bool writes, const Call& call) {
  const Keys keys(shared_.prefix(), footprint.workspace);
  Leftover leftover = first_guess(footprint, writes);
  const std::unique_ptr<Foreseen> foreseen = writes ? foreseen_for(footprint, keys) : nullptr;
  for (int conflicts = 0; conflicts < shared_.options.attempts_max; ++conflicts) {
    if (conflicts > 1) backoff_.pause(conflicts);
    try {
      std::optional<EtcdTransaction> begun;
      if (conflicts > 0 || !foreseen) {
        begun.emplace(shared_, keys, writes, leftover);
        begun->begin(footprint);
      }
      EtcdTransaction& transaction = begun ? *begun : foreseen->transaction;
      const Result<void> done = call(transaction);
      // What changes nothing is not checked by a commit: it has to rest on the latest.
      const bool is_checked = done && transaction.has_changes();
      if (!writes) {
        if (done) transaction.note_granted(shared_.hints, footprint.tickets);
        if (done && leftover.ring) foresight_.look_ahead(*leftover.ring);
        return done;
      }
      if (!leftover.may_be_old || is_checked) {
        if (!done) return done;
        if (transaction.commit()) return {};
      }
      if (!begun) leftover = foreseen->leftover;
      // What this process knew was old; what a member has may not be.
      leftover.may_be_old = is_checked && transaction.was_from_memory();
      leftover.may_be_from_memory = false;
    } catch (const Conflict&) {
      leftover.may_be_old = leftover.may_be_from_memory = false;
      leftover.ring.reset();
    } catch (const Failure& failure) {
      return fail(failure.error);
    }
  }
  return fail(
      Code::transaction_conflict,
      fmt::format("Others changed the same leases in etcd at {} each of the {} times this was tried. Nothing "
                  "was written. Ask again.",
                  shared_.cluster->address().shown(), shared_.options.attempts_max));
}

Result<std::vector<Defect>> EtcdStore::examine(const std::string& workspace, bool repair) {
  try {
    return examine_keys(shared_, Keys(shared_.prefix(), workspace), repair);
  } catch (const Conflict&) {
    return fail(Code::unavailable, fmt::format("etcd at {} was compacted meanwhile. Ask again.",
                                               shared_.cluster->address().shown()));
  } catch (const Failure& failure) {
    return fail(failure.error);
  }
}

}  // namespace

Result<std::unique_ptr<Store>> open_etcd_store(std::string_view url, const EtcdOptions& options) {
  auto address = parse_url(url);
  if (!address) return fail(address.error());
  EtcdOptions all = options;
  all.timeout = address->timeout.value_or(options.timeout);
  all.max_txn_ops = std::max(address->max_txn_ops.value_or(options.max_txn_ops), 8);
  auto cluster = Cluster::open(std::move(*address), all.timeout);
  if (!cluster) return fail(cluster.error());
  auto store = std::make_unique<EtcdStore>(std::move(*cluster), std::move(all));
  if (auto started = store->start(); !started) return fail(started.error());
  return store;
}

}  // namespace leasehold
