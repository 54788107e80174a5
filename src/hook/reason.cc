#include "hook/reason.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/explain.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

constexpr std::size_t kMost = 400;

std::string clock_text(Time then, const GateAnswer& answer) {
  const WallTime wall = wall_time(then, answer.at, answer.wall);
  const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(wall) -
                                   std::chrono::floor<std::chrono::days>(wall));
  return fmt::format("{:02}:{:02}:{:02} UTC", time.hours().count(), time.minutes().count(),
                     time.seconds().count());
}

std::string span(Time from, Time to) { return describe(std::chrono::duration_cast<Duration>(to - from)); }

// Cut where a character begins.
std::string_view shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

std::string short_path(const std::string& key) {
  constexpr std::size_t kShown = 90;
  const std::string path = key.starts_with('/') ? key.substr(1) : key;
  // The end of a path says more than its beginning.
  return path.size() <= kShown ? in_sentence(path) : in_sentence("..." + path.substr(path.size() - kShown));
}

std::string who_has(const Blocked& blocked, const GateAnswer& answer) {
  std::string text = fmt::format(
      "{} is {} by {} for {}", short_path(blocked.path), blocked.waits ? "waited for" : "leased",
      shortened(in_sentence(blocked.holder.owner.agent_id), 60), span(blocked.acquired_at, answer.at));
  if (!blocked.waits && blocked.expires_at != kForever && blocked.expires_at > answer.at) {
    text += fmt::format(", until {} if not renewed", clock_text(blocked.expires_at, answer));
  }
  if (!blocked.reason.empty()) text += fmt::format(" ({})", in_quotes(shortened(blocked.reason, 60)));
  return text;
}

std::string what_stands(const GateAnswer& answer, const Denied& denied) {
  if (!denied.blocked.empty()) return who_has(denied.blocked.front(), answer);
  if (denied.contentions.empty()) return "Nobody is in the way";
  const Contention& first = denied.contentions.front();
  return fmt::format("{} was leased by {} and is free now", short_path(first.path),
                     shortened(in_sentence(first.in_the_way.holder.owner.agent_id), 60));
}

}  // namespace

std::string short_reason(const GateAnswer& answer, const Denied& denied) {
  std::string text;
  switch (denied.code) {
    case Code::retry_later:
      text = fmt::format(
          "{}. Do other work; try this write again once, at {} (in {}), not earlier. Or wait in line: lease "
          "acquire PATH --wait 5m",
          what_stands(answer, denied), clock_text(denied.retry_at, answer), span(answer.at, denied.retry_at));
      break;
    case Code::halted: {
      const auto worst = std::ranges::find_if(
          denied.contentions, [](const Contention& one) { return one.state != ContentionState::scheduled; });
      if (worst->state == ContentionState::abandoned) {
        text = fmt::format(
            "You were told to leave {} alone for this session. Do not write it; say so in your report.",
            short_path(worst->path));
      } else {
        text = fmt::format(
            "{}, still, at the retry. Stop this work, do not write the file in another way, and report "
            "blocker "
            "{}: somebody has to decide (lease blockers).",
            what_stands(answer, denied), worst->id);
      }
      break;
    }
    default:
      text = denied.message;
  }
  return std::string(shortened(text, kMost));
}

}  // namespace leasehold
