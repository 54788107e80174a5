#include "hook/reason.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/explain.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

constexpr std::size_t kMost = kReasonMost;

std::string clock_text(Time then, const GateAnswer& answer) {
  const WallTime wall = wall_time(then, answer.at, answer.wall);
  const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(wall) -
                                   std::chrono::floor<std::chrono::days>(wall));
  return fmt::format("{:02}:{:02}:{:02} UTC", time.hours().count(), time.minutes().count(),
                     time.seconds().count());
}

std::string span(Time from, Time to) { return describe(std::chrono::duration_cast<Duration>(to - from)); }

// Two sessions of one agent have one name.
std::string name_of(const Owner& owner, const Owner& self) {
  std::string name(shortened(in_sentence(owner.agent_id), 60));
  if (owner.session_id.empty()) return name;
  if (owner.session_id == self.session_id) return name + " of your own session";
  return fmt::format("{} (session {})", name, shortened(in_sentence(owner.session_id), 8));
}

// A test that nobody asked for is asked for by its source.
std::string with_source(const std::string& path, const Denied& denied) {
  for (const Contention& contention : denied.contentions) {
    for (const WantedPath& wanted : contention.wanted.paths) {
      if (wanted.path == path && !wanted.requested && !wanted.paired_with.empty())
        return fmt::format("{} (it goes with {})", short_path(path), short_path(wanted.paired_with.front()));
    }
  }
  return short_path(path);
}

std::string who_has(const Denied& denied, const GateAnswer& answer, const Owner& self) {
  const Blocked& blocked = denied.blocked.front();
  std::string text = fmt::format("{} is {} by {} for {}", with_source(blocked.path, denied),
                                 blocked.waits ? "waited for" : "leased", name_of(blocked.holder.owner, self),
                                 span(blocked.acquired_at, answer.at));
  if (!blocked.waits && blocked.expires_at != kForever && blocked.expires_at > answer.at) {
    text += fmt::format(", until {} or longer", clock_text(blocked.expires_at, answer));
  }
  if (!blocked.reason.empty()) text += fmt::format(" ({})", in_quotes(shortened(blocked.reason, 60)));
  return text;
}

std::string what_stands(const GateAnswer& answer, const Denied& denied, const Owner& self) {
  if (!denied.blocked.empty()) return who_has(denied, answer, self);
  if (denied.contentions.empty()) return "Nobody is in the way";
  const Contention& first = denied.contentions.front();
  return fmt::format("{} was leased by {} and is free now", short_path(first.path),
                     name_of(first.in_the_way.holder.owner, self));
}

// The command line acts for the session's main agent: what a subagent waited for with it would be in its way.
std::string_view hint_to_wait(const Owner& self) {
  return self.agent_id.contains('/') ? "" : " Or wait in line: lease acquire PATH --wait 5m";
}

// What to do stands in the last sentence: of a long text the middle goes.
std::string with_its_end(const std::string& text) {
  const auto last = text.rfind(". ");
  if (text.size() <= kMost || last == std::string::npos || text.size() - last > kMost / 2) return text;
  const std::string end = text.substr(last);
  return std::string(shortened(text, kMost - end.size() - 2)) + ".." + end;
}

}  // namespace

std::string short_path(const std::string& key, std::size_t most) {
  return short_name(key.starts_with('/') ? key.substr(1) : key, most);
}

std::string short_name(const std::string& path, std::size_t most) {
  // The end of a path says more than its beginning.
  if (in_sentence(path).size() <= most + 2) return in_sentence(path);
  // Escaped, it may be four times as long.
  std::string end = path.substr(path.size() - std::min(path.size(), most));
  while (in_sentence(end).size() > most) end.erase(0, std::max<std::size_t>(end.size() / 8, 1));
  while (!end.empty() && (static_cast<unsigned char>(end.front()) & 0xc0) == 0x80) end.erase(0, 1);
  return in_sentence("..." + end);
}

std::string_view shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

std::string short_reason(const GateAnswer& answer, const Denied& denied, const Owner& self) {
  std::string text;
  switch (denied.code) {
    case Code::retry_later:
      text = fmt::format("{}. Do other work; try this write again once, at {} (in {}), not earlier.",
                         what_stands(answer, denied, self), clock_text(denied.retry_at, answer),
                         span(answer.at, denied.retry_at));
      if (text.size() + hint_to_wait(self).size() <= kMost) text += hint_to_wait(self);
      break;
    case Code::halted: {
      const auto worst = std::ranges::find_if(
          denied.contentions, [](const Contention& one) { return one.state != ContentionState::scheduled; });
      if (worst->state == ContentionState::abandoned) {
        constexpr std::size_t kShown = 140;
        const std::string why = in_sentence(shortened(worst->instruction_reason, kShown));
        text = fmt::format(
            "You were told to leave {} alone for this session{}. Do not write it; say so in your report.",
            short_path(worst->path), why.empty() ? "" : fmt::format(" ({})", why));
      } else {
        text = fmt::format(
            "{}, still, at the retry. Stop this work, do not write the file in another way, and report "
            "blocker "
            "{}: somebody has to decide (lease blockers).",
            what_stands(answer, denied, self), worst->id);
      }
      break;
    }
    default:
      text = with_its_end(denied.message);
  }
  return std::string(shortened(text, kMost));
}

}  // namespace leasehold
