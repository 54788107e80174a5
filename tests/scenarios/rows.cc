#include "scenarios/rows.h"

#include <algorithm>
#include <tuple>

#include "scenarios/duration_text.h"

namespace leasehold::scenario {
namespace {

std::string from_now(Time time, const World& world) {
  return to_text(std::chrono::duration_cast<Duration>(time - world.now()));
}

std::string until_now(Time time, const World& world) {
  return to_text(std::chrono::duration_cast<Duration>(world.now() - time));
}

std::string path_list(const std::vector<std::string>& paths) {
  std::string list;
  for (const std::string& path : paths) join(list, to_text(Scope{path, false}));
  return list.empty() ? "none" : list;
}

void add_holder(Phrase& row, const Holder& holder) {
  row.pairs.push_back({"by", to_text(holder.owner)});
  row.pairs.push_back({"pr", holder.pr_id});
  row.pairs.push_back({"host", holder.host});
  row.pairs.push_back({"pid", holder.process ? std::to_string(holder.process->pid) : "none"});
}

std::string what_happened(const Notice& notice) {
  return notice.received ? "received" : std::string(word(notice.cause));
}

}  // namespace

std::vector<Notice> in_order(std::vector<Notice> notices) {
  std::ranges::stable_sort(notices, {},
                           [](const Notice& notice) { return std::tie(notice.at, notice.path); });
  return notices;
}

std::string yes_or_no(bool value) { return value ? "yes" : "no"; }

Phrase row_of(std::string word, const Lease& lease, World& world) {
  Phrase row = {std::move(word), {}};
  row.pairs.push_back({"path", to_text(lease.scope())});
  add_holder(row, lease.holder);
  row.pairs.push_back({"mode", std::string(leasehold::word(lease.mode))});
  if (lease.token.value != 0) row.pairs.push_back({"token", world.names.of(lease.token)});
  row.pairs.push_back({"id", world.names.of(lease.id)});
  row.pairs.push_back({"status", std::string(leasehold::word(lease.status))});
  row.pairs.push_back({"ended_by", std::string(leasehold::word(lease.ended_by))});
  row.pairs.push_back({"ttl", to_text(lease.ttl)});
  row.pairs.push_back({"expires_in", from_now(lease.expires_at, world)});
  row.pairs.push_back({"heard", until_now(lease.last_heartbeat_at, world)});
  row.pairs.push_back({"renewals", std::to_string(lease.renewal_count)});
  row.pairs.push_back({"max_renewals", std::to_string(lease.max_renewals)});
  row.pairs.push_back({"reason", lease.reason});
  row.pairs.push_back({"room", lease.room});
  row.pairs.push_back({"requested", yes_or_no(lease.requested)});
  row.pairs.push_back({"paired_with", path_list(lease.paired_with)});
  row.pairs.push_back({"rule", lease.rule.empty() ? "none" : lease.rule});
  row.pairs.push_back({"attended", yes_or_no(lease.attended)});
  if (lease.idle_at) row.pairs.push_back({"idle_in", from_now(*lease.idle_at, world)});
  if (lease.recalled_at) row.pairs.push_back({"recalled_in", from_now(*lease.recalled_at, world)});
  return row;
}

Phrase row_of(const Blocked& blocked, World& world) {
  Phrase row = {blocked.waits ? "waits" : "held", {}};
  row.pairs.push_back({"path", to_text(Scope{blocked.path, false})});
  row.pairs.push_back({"through", to_text(Scope{blocked.held_path, blocked.subtree})});
  add_holder(row, blocked.holder);
  row.pairs.push_back({"mode", std::string(word(blocked.mode))});
  row.pairs.push_back({"reason", blocked.reason});
  row.pairs.push_back({"since", until_now(blocked.acquired_at, world)});
  row.pairs.push_back({"heard", until_now(blocked.last_heartbeat_at, world)});
  row.pairs.push_back({"expires_in", from_now(blocked.expires_at, world)});
  row.pairs.push_back({"verdict", std::string(word(blocked.verdict.liveness))});
  row.pairs.push_back({"evidence", blocked.verdict.evidence});
  row.pairs.push_back({"ahead", std::to_string(blocked.waiters_ahead)});
  return row;
}

Phrase row_of(const Notice& notice, World& world) {
  Phrase row = {what_happened(notice), {}};
  row.pairs.push_back({"path", to_text(notice.scope())});
  row.pairs.push_back({"token", world.names.of(notice.token)});
  row.pairs.push_back({"actor", notice.actor});
  row.pairs.push_back({"reason", notice.reason});
  row.pairs.push_back({"since", until_now(notice.at, world)});
  return row;
}

Phrase row_of(const Event& event, World& world) {
  const auto status = [](const std::optional<Status>& one) { return one ? std::string(word(*one)) : "none"; };
  Phrase row = {std::string(word(event.type)), {}};
  row.pairs.push_back({"by", to_text(event.owner)});
  row.pairs.push_back({"path", event.path.empty() ? "none" : to_text(Scope{event.path, event.subtree})});
  row.pairs.push_back({"mode", std::string(word(event.mode))});
  if (event.token.value != 0) row.pairs.push_back({"token", world.names.of(event.token)});
  row.pairs.push_back({"before", status(event.status_before)});
  row.pairs.push_back({"after", status(event.status_after)});
  row.pairs.push_back({"cause", std::string(word(event.cause))});
  row.pairs.push_back({"renewals", std::to_string(event.renewal_count)});
  row.pairs.push_back({"count", std::to_string(event.count)});
  row.pairs.push_back({"actor", event.actor});
  row.pairs.push_back({"reason", event.reason});
  row.pairs.push_back({"pr", event.pr_id});
  row.pairs.push_back({"since", until_now(event.at, world)});
  return row;
}

Phrase row_of(std::string done, const Outcome& outcome, World& world) {
  std::string what = outcome.error ? std::string(info(outcome.error->code).name) : std::move(done);
  Phrase row = outcome.lease ? row_of(std::move(what), *outcome.lease, world)
                             : Phrase{std::move(what), {{"path", to_text(Scope{outcome.path, false})}}};
  row.pairs.push_back({"already", yes_or_no(outcome.already)});
  row.pairs.push_back({"ttl_clamped", yes_or_no(outcome.ttl_clamped)});
  if (outcome.error) row.pairs.push_back({"says", outcome.error->message});
  return row;
}

Answer answer_of(const std::string& done, Result<Outcomes> outcomes, World& world) {
  if (!outcomes) return answer_of(outcomes.error());
  std::ranges::stable_sort(outcomes->outcomes, {}, &Outcome::path);
  Answer answer;
  for (const Outcome& outcome : outcomes->outcomes) {
    if (outcome.error) answer.message += outcome.error->message + '\n';
    add_row(answer, row_of(done, outcome, world));
  }
  if (answer.rows.empty()) answer.head.word = "nothing";
  add_notices(answer, outcomes->notices);
  return answer;
}

void add_obstacles(Answer& answer, std::vector<Blocked> blocked, World& world) {
  std::ranges::stable_sort(blocked, {}, [](const Blocked& one) {
    return std::tie(one.waits, one.path, one.acquired_at, one.holder.owner);
  });
  for (const Blocked& one : blocked) answer.rows.push_back(row_of(one, world));
}

Answer answer_of(const Error& error) {
  return {.head = {std::string(info(error.code).name), {}}, .rows = {}, .message = error.message};
}

void add_notices(Answer& answer, const std::vector<Notice>& notices) {
  if (notices.empty()) return;
  std::string list;
  for (const Notice& notice : in_order(notices)) {
    if (!list.empty()) list += ',';
    list += what_happened(notice) + ':' + to_text(notice.scope());
  }
  answer.head.pairs.push_back({"notices", list});
}

}  // namespace leasehold::scenario
