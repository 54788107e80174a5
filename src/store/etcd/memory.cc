#include "store/etcd/memory.h"

#include <algorithm>

namespace leasehold::etcd {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kRangesMax = 2'000;
constexpr std::chrono::seconds kSharedFor = 60s;

KeyRange range_of(const pb::RangeRequest& asked) { return {asked.key(), asked.range_end()}; }

bool is_in(const std::string& key, const KeyRange& range) {
  return range.second.empty() ? key == range.first : key >= range.first && key < range.second;
}

// Where in `found`, which is sorted, the key stands or would.
int place_of(const std::string& key, const pb::RangeResponse& found) {
  const auto place = std::ranges::lower_bound(found.kvs(), key, {}, &pb::KeyValue::key);
  return static_cast<int>(place - found.kvs().begin());
}

bool put(const pb::PutRequest& request, std::int64_t revision, const KeyRange& range,
         pb::RangeResponse& found) {
  if (!is_in(request.key(), range)) return false;
  const int place = place_of(request.key(), found);
  if (place == found.kvs_size() || found.kvs(place).key() != request.key()) {
    found.add_kvs()->set_create_revision(revision);
    std::rotate(found.mutable_kvs()->begin() + place, found.mutable_kvs()->end() - 1,
                found.mutable_kvs()->end());
    found.set_count(found.count() + 1);
  }
  pb::KeyValue& kv = *found.mutable_kvs(place);
  kv.set_key(request.key());
  kv.set_value(request.value());
  kv.set_mod_revision(revision);
  return true;
}

bool erase(const pb::DeleteRangeRequest& request, pb::RangeResponse& found) {
  const KeyRange gone = {request.key(), request.range_end()};
  const int first = place_of(gone.first, found);
  int end = first;
  while (end < found.kvs_size() && is_in(found.kvs(end).key(), gone)) ++end;
  found.mutable_kvs()->DeleteSubrange(first, end - first);
  found.set_count(found.count() - (end - first));
  return end > first;
}

}  // namespace

std::optional<FromMemory> Memory::find(const std::vector<pb::RangeRequest>& asked,
                                       std::chrono::nanoseconds not_before) const {
  FromMemory told = {.revision = INT64_MAX, .at = std::chrono::nanoseconds::max()};
  std::int64_t from = 0;
  const std::lock_guard lock(mutex_);
  for (const pb::RangeRequest& request : asked) {
    const auto entry = entries_.find(range_of(request));
    if (entry == entries_.end() || entry->second.shared) return std::nullopt;
    const Remembered& known = entry->second.known;
    from = std::max(from, known.from);
    told.revision = std::min(told.revision, known.to);
    told.at = std::min(told.at, known.at);
    if (told.at < not_before || told.revision < from) return std::nullopt;
  }
  for (const pb::RangeRequest& request : asked)
    told.found.push_back(entries_.at(range_of(request)).known.found);
  return told;
}

void Memory::keep(Remembered known) {
  const std::lock_guard lock(mutex_);
  if (!may_keep(known.found)) {
    entries_.erase(known.range);
    return;
  }
  if (entries_.size() >= kRangesMax) entries_.clear();
  Entry& entry = entries_[known.range];
  if (known.to < entry.known.to) return;
  if (entry.shared && known.at - *entry.shared > kSharedFor) entry.shared.reset();
  entry.known = std::move(known);
}

void Memory::forget(const KeyRange& range) {
  const std::lock_guard lock(mutex_);
  entries_.erase(range);
}

void Memory::compare(const KeyRange& range, const pb::RangeResponse& found, std::chrono::nanoseconds now) {
  if (range.second.empty()) return;
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(range);
  if (entry == entries_.end()) return;
  const Remembered& known = entry->second.known;
  const bool is_newer =
      std::ranges::any_of(found.kvs(), [&](const pb::KeyValue& kv) { return kv.mod_revision() > known.to; });
  if (is_newer) entry->second.shared = now;
}

bool apply(const pb::TxnRequest& commit, std::int64_t revision, const KeyRange& range,
           pb::RangeResponse& found) {
  bool changed = false;
  for (const pb::RequestOp& op : commit.success()) {
    if (op.has_request_put()) changed |= put(op.request_put(), revision, range, found);
    if (op.has_request_delete_range()) changed |= erase(op.request_delete_range(), found);
    if (op.has_request_txn()) changed |= apply(op.request_txn(), revision, range, found);
  }
  return changed;
}

}  // namespace leasehold::etcd
