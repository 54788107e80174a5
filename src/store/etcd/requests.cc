#include "store/etcd/requests.h"

#include <fmt/format.h>

#include "store/etcd/changes.h"
#include "store/etcd/failure.h"
#include "store/etcd/keys.h"

namespace leasehold::etcd {
namespace {

// A slot that idled may be gone with its lease; a new one is as good.
constexpr std::chrono::seconds kIdleMax{10};

// And one that is used is kept younger than that.
constexpr std::chrono::seconds kWrittenFor{5};
static_assert(kWrittenFor < kIdleMax && kIdleMax < kRequestLife);

std::string cancelled(const RequestSlot& slot) { return "cancelled " + slot.request; }

}  // namespace

bool needs_name(RequestSlot& slot, std::string event) {
  slot.event.clear();
  const auto now = std::chrono::steady_clock::now();
  if (event.empty() || slot.mod_revision == 0 || now - slot.written > kWrittenFor) return true;
  slot.event = std::move(event);
  return false;
}

pb::Compare unchanged(const RequestSlot& slot) { return exactly(slot.key, slot.mod_revision); }

pb::RequestOp write_name(const RequestSlot& slot, const std::string& name) {
  return put_op(slot.key, name, slot.lease);
}

pb::RequestOp read_back(const std::string& key) {
  pb::RequestOp op;
  op.mutable_request_range()->set_key(key);
  return op;
}

RequestSlot Requests::take() {
  const std::int64_t lease = leases_.borrow(kRequestLife, kRequestSlack);
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  if (client_.empty()) client_ = fmt::format("{:x}", static_cast<std::uint64_t>(lease));
  RequestSlot slot;
  if (!idle_.empty() && now - idle_.back().written < kIdleMax) {
    slot = std::move(idle_.back());
    idle_.pop_back();
  } else {
    idle_.clear();  // One below may have been written later; a new one is as good.
    slot.key = request_key(cluster_.address().prefix, client_, ++slots_);
  }
  slot.lease = lease;
  slot.request = fmt::format("{}", ++requests_);
  return slot;
}

void Requests::give_back(RequestSlot slot) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(slot));
}

std::int64_t Requests::made_at(RequestSlot& slot) const {
  pb::TxnRequest request;
  *request.add_compare() = unchanged(slot);
  *request.add_success() = write_name(slot, cancelled(slot));
  *request.add_failure() = read_back(slot.key);
  if (!slot.event.empty()) {
    *request.add_compare() = exactly(slot.event, 0);
    *request.add_failure() = read_back(slot.event);
  }
  pb::TxnResponse response;
  const auto sent = std::chrono::steady_clock::now();
  try {
    response = cluster_.read(request);
  } catch (const Failure& failure) {
    throw Failure{
        {Code::outcome_unknown,
         fmt::format("The answer to a change was lost: {} Whether it was made is not known; asking again "
                     "is safe.",
                     failure.error.message)}};
  }
  if (response.succeeded()) {
    slot.mod_revision = response.header().revision();
    slot.written = sent;
    return 0;
  }
  const auto& found = response.responses(0).response_range();
  if (!slot.event.empty() && response.responses(1).response_range().kvs_size() == 1)
    return response.responses(1).response_range().kvs(0).mod_revision();
  if (found.kvs_size() == 1) {
    slot.mod_revision = found.kvs(0).mod_revision();
    if (found.kvs(0).value() == slot.request) return slot.mod_revision;
    if (found.kvs(0).value() == cancelled(slot)) return 0;
  }
  throw Failure{
      {Code::outcome_unknown,
       fmt::format("The answer of etcd at {} to a change was lost, and it came back too late to tell whether "
                   "the change was made. Asking again is safe.",
                   cluster_.address().shown())}};
}

}  // namespace leasehold::etcd
