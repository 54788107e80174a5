#include "engine/explain_gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/explain.h"
#include "util/unique.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

std::string ago(Time then, Time now) { return describe(std::chrono::duration_cast<Duration>(now - then)); }

// Who is in the way of a contention's path now, or was when it was denied.
std::string who(const Denied& denied, const Contention& contention, Time now) {
  const auto still = std::ranges::find(denied.blocked, contention.path, &Blocked::path);
  if (still != denied.blocked.end()) return describe(*still, now);
  return fmt::format("{} was held by {} and is free now", in_sentence(contention.path),
                     describe(contention.in_the_way.holder));
}

std::string explain_halted(const Contention& contention, Time now) {
  if (contention.state == ContentionState::abandoned) {
    return fmt::format(
        "{} told you to leave {} alone for the rest of this session, reason: {}. Do not write it, and say so "
        "in your report.",
        in_sentence(contention.instructed_by), in_sentence(contention.path),
        in_quotes(contention.instruction_reason));
  }
  return fmt::format(
      "Stop here and report it: this is blocker {} ({}), and an operator must decide (lease blockers). Do "
      "not write the file in another way.",
      contention.id, describe_denials(contention, now));
}

// Who asked for a test did so by its source.
std::string why(const Contention& contention) {
  for (const WantedPath& wanted : contention.wanted.paths) {
    if (wanted.path == contention.path && !wanted.requested && !wanted.paired_with.empty())
      return fmt::format(" (it goes with {})", in_sentence(wanted.paired_with.front()));
  }
  return {};
}

}  // namespace

std::string describe_denials(const Contention& contention, Time now) {
  const auto retried_at = contention.retried_at.value_or(now);
  return fmt::format("first denied {} ago, retried {}, interval {}", ago(contention.first_denied_at, now),
                     retried_at == now ? "now" : ago(retried_at, now) + " ago",
                     ago(contention.first_denied_at, contention.retry_at));
}

std::string explain_denied(const Denied& denied, Time now) {
  if (denied.code == Code::retry_later) {
    const Contention& first = denied.contentions.front();
    return fmt::format(
        "Not now: {}{}. Do other work and try this write again in {}, once; earlier tries change nothing. To "
        "wait "
        "in line instead: lease acquire {} --wait 5m",
        who(denied, first, now), why(first), ago(now, denied.retry_at), as_argument(first.path));
  }
  const auto worst = std::ranges::find_if(
      denied.contentions, [](const Contention& one) { return one.state != ContentionState::scheduled; });
  // Whoever was told to leave it alone may have leased it since: what counts is what it was told.
  const bool is_in_the_way = contains(denied.blocked, worst->path, &Blocked::path);
  if (worst->state == ContentionState::abandoned && !is_in_the_way)
    return fmt::format("Blocked: {}", explain_halted(*worst, now));
  return fmt::format("Blocked: {}{}. {}", who(denied, *worst, now), why(*worst), explain_halted(*worst, now));
}

std::string explain_unreadable(std::span<const Blocked> blocked, Time now) {
  return fmt::format("Not to be read now: {}. Read it when the lease is given back.",
                     describe(blocked.front(), now));
}

std::string explain_loss(const Notice& notice, Time now) {
  std::string text = fmt::format("Not written: your lease on {}{} ended {} ago: {}", in_sentence(notice.path),
                                 notice.subtree ? " and all below" : "", ago(std::min(notice.at, now), now),
                                 describe(notice.cause));
  if (!notice.actor.empty()) text += fmt::format(" (by {})", in_sentence(notice.actor));
  if (!notice.reason.empty() && notice.reason != describe(notice.cause)) {
    text += fmt::format(", reason: {}", in_quotes(notice.reason));
  }
  return text + ". Others may have changed the file: read it again before you write.";
}

std::string explain_contention(const Contention& contention, Time now) {
  const std::string why =
      contention.wanted.reason.empty() ? "" : fmt::format("{}; ", contention.wanted.reason);
  if (contention.state == ContentionState::scheduled) {
    return fmt::format("{}held by {}; to be tried again in {}", why, describe(contention.in_the_way.holder),
                       ago(now, contention.retry_at));
  }
  return fmt::format("{}{}; {}; blocker {}", why, describe(contention.in_the_way, now),
                     describe_denials(contention, now), contention.id);
}

}  // namespace leasehold
