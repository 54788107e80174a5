#include "cli/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "cli/lease_names.h"
#include "cli/render_text.h"
#include "util/utf8.h"
#include "util/wall_now.h"
#include "wire/answer_json.h"

namespace leasehold {
namespace {

constexpr std::int64_t kTokenMax = (std::int64_t{1} << 53) - 1;

// For what was done to `lease`. That is told also if the store cannot be asked once more: it was just now.
Moment moment_of(Call& call, const Lease& lease) {
  return call.moment(lease.path).value_or(Moment{lease.updated_at, wall_now()});
}

std::string holds_nothing(Call& call) {
  if (call.command().uses != Uses::owner) return "nothing of that kind is held.";
  const auto pr = call.arguments().text("pr");
  return fmt::format("you ({}) hold nothing{}.", in_sentence(call.identity().owner.agent_id),
                     pr ? fmt::format(" for pull request {}", in_sentence(*pr)) : "");
}

// How many leases were lost, by the notices. One that is only asked back is there still.
std::size_t told_losses(const Outcomes& outcomes) {
  std::set<LeaseId> lost;
  for (const Notice& notice : outcomes.notices) {
    if (!notice.received) lost.insert(notice.lease_id);
  }
  for (const Outcome& outcome : outcomes.outcomes) {
    if (outcome.lease && !outcome.error) lost.erase(outcome.lease->id);
  }
  return lost.size();
}

// Returns the status of the first that failed; `missing` is about none of them.
int show(Call& call, const Outcomes& outcomes, std::string_view done, std::string_view already,
         const std::optional<Error>& missing) {
  int status = 0;
  for (const Outcome& outcome : outcomes.outcomes) {
    if (outcome.error && status == 0) status = info(outcome.error->code).exit_code;
  }
  if (missing && status == 0) status = info(missing->code).exit_code;
  if (call.out().json()) {
    Moment at;
    if (!outcomes.outcomes.empty() && outcomes.outcomes.front().lease)
      at = moment_of(call, *outcomes.outcomes.front().lease);
    auto document = outcomes_json(outcomes, at);
    if (missing) document["error"] = error_json(*missing);
    call.out().document(document);
    return status;
  }
  tell(call.out(), outcomes.notices);
  for (const Outcome& outcome : outcomes.outcomes) {
    if (outcome.error) {
      call.out().complain(outcome.error->message);
    } else {
      call.out().print(outcome_text(outcome, done, already, call.out()));
      if (outcome.ttl_clamped) call.out().note("The TTL was cut to the longest there is.");
    }
  }
  if (missing) call.out().complain(missing->message);
  return status;
}

}  // namespace

void tell(const Output& out, const std::vector<Notice>& notices) {
  for (const Notice& notice : notices) out.note(notice_text(notice, wall_now()));
}

Result<int> answer(Call& call, const AcquireRequest& request, AcquireAnswer answer) {
  auto* refused = std::get_if<Refused>(&answer.decision);
  if (refused != nullptr && !refused->next_command.empty()) {
    // Under a profile that waits by itself, this one did.
    refused->next_command = call.waiting(refused->code == Code::timeout);
  }
  auto status = refused == nullptr ? Result<int>(0) : call.exit_status(refused->code);
  if (!status) return status;
  if (call.out().json()) {
    const auto* granted = std::get_if<Granted>(&answer.decision);
    const auto at = granted != nullptr ? moment_of(call, granted->leases.front())
                                       : call.moment(request.paths.front().path);
    if (!at) return fail(at.error());
    auto document = acquire_json(answer, *at);
    // As it is, also where the user chose it.
    if (refused != nullptr) document["error"].as_object()["exit_code"] = *status;
    call.out().document(document);
    return status;
  }
  tell(call.out(), answer.notices);
  if (refused != nullptr) {
    call.out().complain(refused->next_command.empty()
                            ? refused->message
                            : fmt::format("{} To wait for it: {}", refused->message, refused->next_command));
  } else if (const auto* granted = std::get_if<Granted>(&answer.decision)) {
    call.out().print(granted_text(*granted, call.out()));
    if (granted->ttl_clamped) call.out().note("The TTL was cut to the longest there is.");
  }
  return status;
}

Result<int> answer(Call& call, const Outcomes& outcomes, std::string_view done, std::string_view already) {
  const int status = show(call, outcomes, done, already, std::nullopt);
  if (outcomes.outcomes.empty() && !call.out().json())
    call.out().note("There was nothing to do: " + holds_nothing(call));
  return status;
}

Result<int> answer_heartbeat(Call& call, const Outcomes& outcomes) {
  std::optional<Error> missing;
  if (const std::size_t count = told_losses(outcomes);
      count > 0 && (call.arguments().has("all") || outcomes.outcomes.empty())) {
    missing = Error{Code::lost, fmt::format("{} not yours any more{}. Acquire again what you need.",
                                            count == 1 ? "One lease is" : fmt::format("{} leases are", count),
                                            outcomes.outcomes.empty() ? "; nothing was renewed" : "")};
  } else if (outcomes.outcomes.empty()) {
    missing = Error{Code::not_found, "There was nothing to renew: " + holds_nothing(call)};
  }
  return show(call, outcomes, "renewed", {}, missing);
}

Result<Outcomes> in_pieces(Selection which, const std::function<Result<Outcomes>(Selection)>& ask) {
  constexpr std::size_t kNamedAtOnce = 1'000;
  if (which.paths.size() <= kNamedAtOnce) return ask(std::move(which));
  // Else what is named again would be over already.
  std::set<std::string> seen;
  std::erase_if(which.paths, [&](const std::string& path) { return !seen.insert(path).second; });
  Outcomes all;
  for (std::size_t from = 0; from < which.paths.size(); from += kNamedAtOnce) {
    const auto first = which.paths.begin() + static_cast<std::ptrdiff_t>(from);
    const std::size_t count = std::min(kNamedAtOnce, which.paths.size() - from);
    auto some = ask({.paths = {first, first + static_cast<std::ptrdiff_t>(count)}});
    if (!some) return some;
    std::ranges::move(some->outcomes, std::back_inserter(all.outcomes));
    std::ranges::move(some->notices, std::back_inserter(all.notices));
  }
  return all;
}

Result<Selection> selection(Call& call) {
  const Arguments& arguments = call.arguments();
  Selection which = {.all = arguments.has("all")};
  for (std::string& id : arguments.texts("id")) which.ids.push_back({std::move(id)});
  // For those who act as somebody with --pr it is no way of naming leases.
  which.pr_id = arguments.text("pr");
  auto paths = call.paths();
  if (!paths) return fail(paths.error());
  auto keys = keys_of_leases(call, *paths, true);
  if (!keys) return fail(keys.error());
  which.paths = *std::move(keys);
  const int ways = (which.all ? 1 : 0) + (which.ids.empty() ? 0 : 1) + (which.pr_id ? 1 : 0) +
                   (which.paths.empty() ? 0 : 1);
  if (ways == 1) return which;
  return fail(Code::invalid_argument,
              fmt::format("{} Name paths, or give one of --id, --all and --pr. See: lease help {}",
                          ways == 0 ? "Which leases?" : "Leases are named in one way at a time.",
                          call.command().name));
}

Result<std::optional<Token>> token(const Arguments& arguments) {
  const auto number = arguments.number("token", 1, kTokenMax);
  if (!number) return fail(number.error());
  if (!*number) return std::nullopt;
  return Token{static_cast<std::uint64_t>(**number)};
}

}  // namespace leasehold
