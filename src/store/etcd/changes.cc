#include "store/etcd/changes.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/etcd/failure.h"

namespace leasehold::etcd {
namespace {

pb::Compare not_after(const KeyRange& range, std::int64_t revision) {
  pb::Compare compare;
  compare.set_key(range.first);
  compare.set_range_end(range.second);
  compare.set_target(pb::Compare::MOD);
  compare.set_result(pb::Compare::LESS);
  compare.set_mod_revision(revision + 1);
  return compare;
}

// Sorted ranges, as at most `most` that contain them.
std::vector<KeyRange> merged(const std::vector<KeyRange>& ranges, std::size_t most) {
  if (ranges.empty()) return {};
  const std::size_t together = (ranges.size() + most - 1) / most;
  std::vector<KeyRange> found;
  for (std::size_t i = 0; i < ranges.size(); i += together) {
    KeyRange whole = ranges[i];
    for (std::size_t j = i + 1; j < std::min(i + together, ranges.size()); ++j)
      whole.second = std::max(whole.second, ranges[j].second);
    found.push_back(std::move(whole));
  }
  return found;
}

}  // namespace

pb::Compare exactly(const std::string& key, std::int64_t mod_revision) {
  pb::Compare compare;
  compare.set_key(key);
  compare.set_target(pb::Compare::MOD);
  compare.set_result(pb::Compare::EQUAL);
  compare.set_mod_revision(mod_revision);
  return compare;
}

pb::RequestOp put_op(const std::string& key, std::string value, std::int64_t lease) {
  pb::RequestOp op;
  pb::PutRequest& put = *op.mutable_request_put();
  put.set_key(key);
  put.set_value(std::move(value));
  put.set_lease(lease);
  return op;
}

std::vector<pb::Compare> Basis::compares(std::int64_t revision, std::size_t most) const {
  std::vector<pb::Compare> found;
  std::vector<KeyRange> ranges(ranges_.begin(), ranges_.end());
  if (ranges_.size() + keys_.size() > most) {
    // Single keys too: what is deleted of them (forgotten records) nobody changes any more.
    std::vector<KeyRange> single;
    for (const auto& [key, mod_revision] : keys_) single.emplace_back(key, key + '\0');
    const std::size_t for_ranges =
        std::clamp<std::size_t>(ranges.size(), 1, most - std::min(single.size(), most / 2));
    for (const KeyRange& range : merged(single, most - for_ranges))
      found.push_back(not_after(range, revision));
    ranges = merged(ranges, for_ranges);
  } else {
    for (const auto& [key, mod_revision] : keys_) found.push_back(exactly(key, mod_revision));
  }
  for (const KeyRange& range : ranges) found.push_back(not_after(range, revision));
  if (has_room_for_fleeting(most)) {
    for (const auto& [key, mod_revision] : fleeting_) found.push_back(exactly(key, mod_revision));
  }
  return found;
}

bool Changes::is_touched(const std::string& area) const {
  const std::string end = etcd::area(area).second;
  const auto put = puts_.lower_bound(area);
  const auto retired = retired_.lower_bound(area);
  return (put != puts_.end() && put->first < end) || (retired != retired_.end() && *retired < end);
}

bool Changes::needs_guards() const {
  const auto is_put = [&](const std::string& key) { return puts_.contains(key); };
  return !std::ranges::all_of(retired_, is_put) || !marked_.empty() ||
         std::ranges::any_of(guards_, [&](const std::string& area) { return !is_touched(area); });
}

std::vector<pb::RequestOp> Changes::ops(std::int64_t guard_lease) const {
  std::vector<pb::RequestOp> all;
  for (const auto& [key, put] : puts_) all.push_back(put_op(key, put.value, put.lease));
  for (const std::string& key : deletes_) {
    if (puts_.contains(key)) continue;  // Another one stands there now, with all that belongs to it.
    all.emplace_back().mutable_request_delete_range()->set_key(key);
  }
  for (const std::string& key : retired_) {
    if (!puts_.contains(key)) all.push_back(put_op(key, {}, guard_lease));
  }
  for (const std::string& area : marked_) all.push_back(put_op(area, {}, guard_lease));
  for (const std::string& area : guards_) {
    if (!is_touched(area) && !marked_.contains(area)) all.push_back(put_op(area, {}, guard_lease));
  }
  return all;
}

pb::TxnRequest transaction_of(std::vector<pb::Compare> compares, std::vector<pb::RequestOp> ops,
                              std::size_t ops_max, const Address& address) {
  pb::TxnRequest request;
  const std::size_t conditions = compares.size();
  for (pb::Compare& compare : compares) *request.add_compare() = std::move(compare);
  if (ops.size() <= ops_max) {
    for (pb::RequestOp& op : ops) *request.add_success() = std::move(op);
    return request;
  }
  // etcd takes in each inner one what the outer one leaves: half of them inside half of them is most.
  const std::size_t outer = std::max(conditions, ops_max / 2);
  const std::size_t inner = ops_max - std::min(outer, ops_max);
  if (outer * inner < ops.size()) {
    throw Failure{
        {Code::limit_exceeded,
         fmt::format("This would be {} operations in one transaction of etcd at {}, and it takes {}. Ask "
                     "for less at once, or start etcd with a greater --max-txn-ops and say so in the URL "
                     "(?max_txn_ops=).",
                     ops.size(), address.shown(), outer * inner)}};
  }
  for (std::size_t i = 0; i < ops.size(); i += inner) {
    pb::TxnRequest& part = *request.add_success()->mutable_request_txn();
    for (std::size_t j = i; j < std::min(i + inner, ops.size()); ++j) *part.add_success() = std::move(ops[j]);
  }
  return request;
}

}  // namespace leasehold::etcd
