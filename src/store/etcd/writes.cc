// What a body writes stays in memory until the commit.
#include <fmt/format.h>

#include <algorithm>

#include "store/etcd/failure.h"
#include "store/etcd/transaction.h"
#include "store/json/records_json.h"
#include "store/json/stored_records.h"
#include "store/token.h"

namespace leasehold::etcd {
// Whoever is granted an overlapping path later has read what this commit writes, at a greater revision.
Token EtcdTransaction::next_token() {
  if (tokens_drawn_++ == kTokensPerRevision) {
    throw Failure{
        {Code::limit_exceeded, fmt::format("This would draw more than {} tokens in one transaction. Ask for "
                                           "less at once.",
                                           kTokensPerRevision)}};
  }
  const std::uint64_t first = base_ + kTokensPerRevision * (static_cast<std::uint64_t>(revision_) + 1);
  // What was read is lower, unless the cluster was restored from an older copy of itself.
  last_token_ = std::max({first, last_token_ + 1, highest_token_ + 1});
  if (last_token_ >= kTokenEnd) {
    throw Failure{{Code::corrupt,
                   "There are no fencing tokens left: the key that says where they begin is wrong. Run: "
                   "lease doctor --repair"}};
  }
  return {last_token_};
}

void EtcdTransaction::put(const Answer& answer) {
  tables_.set_answer(answer.owner, answer.key, answer);
  changed_values_[keys_.answer(answer.owner, answer.key)] = to_json(answer);
}

void EtcdTransaction::put(const Notice& notice) {
  tables_.set_notice(notice.id, notice);
  changed_values_[keys_.notice_of(notice.owner, notice.id)] = to_json(notice);
}

void EtcdTransaction::erase(const Notice& notice) {
  tables_.set_notice(notice.id, std::nullopt);
  changed_values_[keys_.notice_of(notice.owner, notice.id)] = std::nullopt;
  changed_areas_.insert(keys_.of(notice.owner));
}

void EtcdTransaction::put(const Contention& contention) {
  tables_.set_contention(contention.owner(), contention.path, contention);
  changed_values_[keys_.gate_of(contention.owner(), contention.path)] = to_json(contention);
}

void EtcdTransaction::erase(const Contention& contention) {
  tables_.set_contention(contention.owner(), contention.path, std::nullopt);
  changed_values_[keys_.gate_of(contention.owner(), contention.path)] = std::nullopt;
  changed_areas_.insert(keys_.of(contention.owner()));
}

void EtcdTransaction::put(const RateWindow& window) {
  tables_.set_rate_window(window.session_id, window);
  changed_values_[keys_.rate(window.session_id)] = to_json(window);
}

void EtcdTransaction::put(const SessionPath& path) {
  tables_.set_session_path(path, path);
  changed_values_[Keys::member(keys_.session(path.session_id), 'p', session_field(path))] = to_json(path);
}

void EtcdTransaction::erase(const SessionPath& path) {
  const std::string area = keys_.session(path.session_id);
  tables_.set_session_path(path, std::nullopt);
  changed_values_[Keys::member(area, 'p', session_field(path))] = std::nullopt;
  changed_areas_.insert(area);
}

}  // namespace leasehold::etcd
