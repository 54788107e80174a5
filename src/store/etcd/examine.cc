#include "store/etcd/examine.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/etcd/history.h"
#include "store/etcd/ticket_end.h"
#include "store/json/records_json.h"
#include "store/json/stored_records.h"
#include "store/token.h"
#include "util/number.h"
#include "util/wall_now.h"

namespace leasehold::etcd {
namespace {

bool is_lease(const std::string& value) { return record_from_json<Lease>(value).has_value(); }

bool is_end(std::string_view value) {
  Ticket ignored;
  return how_it_ended(value).empty() || add_end(how_it_ended(value), ignored);
}

// What a value has to be, by where it stands; empty: it is that, or anything will do.
std::string_view what_is_missing(std::string_view name, const std::string& value) {
  const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
  const std::size_t nul = name.find('\0');
  const char kind = nul == std::string_view::npos || nul + 1 == name.size() ? '\0' : name[nul + 1];
  if (begins("at/") && kind == 'l' && !value.empty() && !is_lease(value)) return "lease";
  if (begins("at/") && kind == 't' && !value.empty() && !record_from_json<Ticket>(value)) return "ticket";
  if (begins("of/") && kind == 'q' && value.find(' ') == std::string::npos) return "lease and ticket";
  if (begins("of/") && kind == 'n' && !record_from_json<Notice>(value)) return "notice";
  if (begins("of/") && kind == 'c' && !contention_from_json(value)) return "contention";
  if (begins("id/") && !value.starts_with('@') && !is_lease(value)) return "lease";
  if (begins("ticket/") && kind == '\0' && !record_from_json<Ticket>(value)) return "ticket";
  if (begins("ticket/") && kind == 'e' && !is_end(value)) return "end of a ticket";
  if (begins("answer/") && !record_from_json<Answer>(value)) return "answer";
  if (begins("rate/") && !rate_window_from_json(value)) return "count";
  if (begins("session/") && kind == 'p' && !session_path_from_json(value)) return "path";
  if (begins("config") && kind == 's' && !record_from_json<Setting>(value)) return "setting";
  if (begins("history/") && !events_from(value)) return "event";
  return {};
}

class Examination {
 public:
  Examination(Shared& shared, const Keys& keys, bool repair)
      : shared_(shared), keys_(keys), repair_(repair) {}

  std::vector<Defect> run() {
    const KeyRange all = names_below(keys_.root());
    pb::RangeRequest request;
    request.set_key(all.first);
    request.set_range_end(all.second);
    const pb::RangeResponse found = shared_.cluster->range(request);
    for (const pb::KeyValue& kv : found.kvs()) {
      if (is_named(kv, "at/", 'l')) {
        if (const auto lease = record_from_json<Lease>(kv.value())) held_.emplace(lease->path, lease->id);
      } else if (kv.key().starts_with(keys_.all("ticket/"))) {
        if (const auto ticket = record_from_json<Ticket>(kv.value())) {
          waited_for_.insert(ticket->leases.begin(), ticket->leases.end());
        }
      }
    }
    for (const pb::KeyValue& kv : found.kvs()) examine(kv);
    examine_base(found.header().revision());
    return std::move(defects_);
  }

 private:
  void examine(const pb::KeyValue& kv) {
    const std::string_view name = std::string_view(kv.key()).substr(keys_.root().size());
    if (const std::string_view missing = what_is_missing(name, kv.value()); !missing.empty()) {
      note(kv, fmt::format("its value is no {}", missing));
      return;
    }
    if (name.starts_with("id/") && leads_nowhere(LeaseId{std::string(name.substr(3))}, kv.value()))
      note(kv, "it leads nowhere");
    if (is_named(kv, "of/", 'a') && !kv.value().empty()) {
      const auto [id, path] = Keys::owned_lease(name.substr(name.find('\0') + 1), kv.value());
      if (!held_.contains({path, id})) note(kv, "it leads nowhere");
    }
    if (name.starts_with("at/")) {
      if (const auto lease = record_from_json<Lease>(kv.value()))
        highest_ = std::max(highest_, lease->token.value);
    }
  }

  // What stands under the id of a lease: its path while it is active, or the lease as it was when somebody
  // began to wait for it.
  bool leads_nowhere(const LeaseId& id, const std::string& value) const {
    if (value.starts_with('@')) return !held_.contains({value.substr(1), id});
    const auto lease = record_from_json<Lease>(value);
    return lease && lease->status == Status::pending && !waited_for_.contains(id) &&
           !held_.contains({lease->path, id});
  }

  // In an area of this kind, under such a name.
  bool is_named(const pb::KeyValue& kv, std::string_view area, char kind) const {
    const std::string_view name = std::string_view(kv.key()).substr(keys_.root().size());
    const std::size_t nul = name.find('\0');
    return name.starts_with(area) && nul != std::string_view::npos && name.substr(nul + 1).starts_with(kind);
  }

  // Deletes it, unless somebody wrote it meanwhile.
  void note(const pb::KeyValue& kv, std::string what) {
    bool done = false;
    if (repair_) {
      pb::TxnRequest request;
      *request.add_compare() = exactly(kv.key(), kv.mod_revision());
      pb::DeleteRangeRequest& gone = *request.add_success()->mutable_request_delete_range();
      gone.set_key(kv.key());
      // A ticket without its end would wait again.
      if (is_named(kv, "ticket/", 'e')) {
        const KeyRange ticket = area(kv.key().substr(0, kv.key().find('\0')));
        gone.set_key(ticket.first);
        gone.set_range_end(ticket.second);
      }
      done = shared_.cluster->read(request).succeeded();
    }
    std::string shown = kv.key();
    std::ranges::replace(shown, '\0', ' ');
    defects_.push_back({.where = std::move(shown), .what = std::move(what), .repaired = done});
  }

  void examine_base(std::int64_t revision) {
    pb::RangeRequest request;
    request.set_key(base_key(shared_.prefix()));
    const pb::RangeResponse found = shared_.cluster->range(request);
    if (found.kvs_size() == 0) return;
    const auto base = parse_number<std::uint64_t>(found.kvs(0).value());
    if (base && *base < kTokenEnd &&
        *base + kTokensPerRevision * (static_cast<std::uint64_t>(revision) + 1) > highest_)
      return;
    if (repair_) {
      pb::TxnRequest raise;
      *raise.add_success() =
          put_op(base_key(shared_.prefix()), std::to_string(token_after({highest_}, wall_now()).value));
      shared_.cluster->read(raise);
    }
    defects_.push_back(
        {.where = base_key(shared_.prefix()),
         .what = "tokens that are in use are above it, as after restoring an older copy of the cluster",
         .repaired = repair_});
  }

  Shared& shared_;
  const Keys& keys_;
  const bool repair_;
  std::set<std::pair<std::string, LeaseId>> held_;  // By path.
  std::set<LeaseId> waited_for_;
  std::uint64_t highest_ = 0;
  std::vector<Defect> defects_;
};

}  // namespace

std::vector<Defect> examine_keys(Shared& shared, const Keys& keys, bool repair) {
  return Examination(shared, keys, repair).run();
}

}  // namespace leasehold::etcd
