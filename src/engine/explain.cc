#include "engine/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/scope.h"
#include "util/shell_word.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

std::string waiters_ahead(std::span<const Blocked> blocked) {
  std::size_t most = 0;
  for (const Blocked& one : blocked) most = std::max(most, one.waiters_ahead);
  if (most == 0) return {};
  return fmt::format("; {} {} before you", most, most == 1 ? "waits" : "wait");
}

}  // namespace

std::string describe(EndCause cause) {
  switch (cause) {
    case EndCause::none:
      return "it is live";
    case EndCause::released:
      return "it was released";
    case EndCause::expired:
      return "its time ran out";
    case EndCause::silent:
      return "its owner was silent for too long";
    case EndCause::idle:
      return "its owner stopped and stayed idle";
    case EndCause::owner_dead:
      return "its owner is dead";
    case EndCause::recalled:
      return "it was asked back and its time is up";
    case EndCause::forced:
      return "an operator ended it";
    case EndCause::transferred:
      return "it was handed to another owner";
    case EndCause::timed_out:
      return "it was waited for as long as allowed";
    case EndCause::cancelled:
      return "the wait was cancelled";
    case EndCause::deadlock:
      return "waiting for it would never end";
    case EndCause::merged:
      return "its owner already held the path";
  }
  return {};
}

std::string describe(const Holder& holder) {
  const std::string text = in_sentence(holder.owner.agent_id);
  std::string details;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    details += fmt::format("{}{} {}", details.empty() ? "" : ", ", name, in_sentence(value));
  };
  add("session", holder.owner.session_id);
  add("pr", holder.pr_id);
  add("host", holder.host);
  if (holder.process) add("pid", std::to_string(holder.process->pid));
  return details.empty() ? text : fmt::format("{} ({})", text, details);
}

std::string describe(const Blocked& blocked, Time now) {
  const auto span = [](auto duration) { return describe(std::chrono::duration_cast<Duration>(duration)); };
  std::string text = fmt::format("{} is {} by {}, {}, for {}", in_sentence(blocked.path),
                                 blocked.waits ? "waited for" : "held", describe(blocked.holder),
                                 word(blocked.mode), span(now - blocked.acquired_at));
  if (blocked.held_path != blocked.path) {
    text +=
        fmt::format(" through {}{}", in_sentence(blocked.held_path), blocked.subtree ? " and all below" : "");
  }
  if (!blocked.waits) {
    text += fmt::format(", last heard of {} ago", span(now - blocked.last_heartbeat_at));
    if (blocked.expires_at == kForever) {
      text += ", until released";
    } else if (blocked.expires_at > now) {
      text += fmt::format(", ends in {}", span(blocked.expires_at - now));
    }
  }
  text += fmt::format(" ({}: {})", word(blocked.verdict.liveness), blocked.verdict.evidence);
  // Somebody else wrote it, and an agent will read it.
  if (!blocked.reason.empty()) text += fmt::format(", reason: {}", in_quotes(blocked.reason));
  return text;
}

std::string as_argument(const std::string& key) { return shell_word(is_path(key) ? "file:" + key : key); }

std::string describe(Duration duration) {
  if (duration < 0ms) duration = 0ms;
  if (duration < 1s) return fmt::format("{}ms", duration.count());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  const auto days = seconds / 86400;
  const auto hours = seconds / 3600 % 24;
  const auto minutes = seconds / 60 % 60;
  std::string text;
  if (days > 0) text += fmt::format("{}d", days);
  if (hours > 0) text += fmt::format("{}h", hours);
  if (minutes > 0) text += fmt::format("{}m", minutes);
  if (seconds % 60 > 0) text += fmt::format("{}s", seconds % 60);
  return text;
}

std::string explain_blocked(std::span<const Blocked> blocked, Time now) {
  // The first few are enough for a sentence; the answer carries them all.
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(blocked.size(), kShown); ++i) {
    text += (i == 0 ? "" : "; ") + describe(blocked[i], now);
  }
  if (blocked.size() > kShown) text += fmt::format("; and {} more", blocked.size() - kShown);
  return text + waiters_ahead(blocked) + ".";
}

// What was asked for, and nothing that would be another request next time. Pairs come along by themselves. Of
// many more files the asker has a list, which `-` reads.
std::string next_command(const AcquireRequest& request) {
  constexpr std::ptrdiff_t kShown = 50;
  const bool is_list = std::ranges::count(request.paths, true, &WantedPath::requested) > kShown &&
                       std::ranges::none_of(request.paths, &WantedPath::subtree);
  std::string command = is_list ? "lease acquire -" : "lease acquire";
  for (const WantedPath& wanted : request.paths) {
    if (wanted.requested && !is_list)
      command += fmt::format(" {}{}", wanted.subtree ? "--subtree " : "", as_argument(wanted.path));
  }
  if (request.mode == Mode::shared) command += " --mode shared";
  return command + " --wait 5m";
}

}  // namespace leasehold
