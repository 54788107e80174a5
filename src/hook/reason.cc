#include "hook/reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "engine/explain.h"
#include "util/shell_word.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

std::string clock_text(Time then, const GateAnswer& answer) {
  const WallTime wall = wall_time(then, answer.at, answer.wall);
  const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(wall) -
                                   std::chrono::floor<std::chrono::days>(wall));
  return fmt::format("{:02}:{:02}:{:02} UTC", time.hours().count(), time.minutes().count(),
                     time.seconds().count());
}

std::string span(Time from, Time to) { return describe(std::chrono::duration_cast<Duration>(to - from)); }

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

// What nobody asked for, where the same owner has what it goes with: tests come and go with their sources.
std::set<std::string> along_with_others(const Denied& denied) {
  std::map<std::string, Owner> holders;
  for (const Blocked& blocked : denied.blocked) holders.emplace(blocked.path, blocked.holder.owner);
  std::set<std::string> along;
  for (const Contention& contention : denied.contentions) {
    for (const WantedPath& wanted : contention.wanted.paths) {
      const auto its = holders.find(wanted.path);
      const bool goes_along = !wanted.requested && its != holders.end() &&
                              std::ranges::any_of(wanted.paired_with, [&](const std::string& source) {
                                const auto other = holders.find(source);
                                return other != holders.end() && other->second == its->second;
                              });
      if (goes_along) along.insert(wanted.path);
    }
  }
  return along;
}

// Who is first in the way of each path. Empty only if nobody is.
std::vector<const Blocked*> in_the_way(const Denied& denied) {
  std::vector<const Blocked*> first;
  std::set<std::string> left_out = along_with_others(denied);
  for (const Blocked& blocked : denied.blocked) {
    if (left_out.insert(blocked.path).second) first.push_back(&blocked);
  }
  if (first.empty() && !denied.blocked.empty()) first.push_back(&denied.blocked.front());
  return first;
}

constexpr std::size_t kNamed = 3;
constexpr std::size_t kNameMost = 30;

std::string names(const std::vector<const Blocked*>& some) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, some.size()); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", short_path(some[i]->path, kNameMost));
  if (some.size() > kNamed) text += fmt::format(" and {} more", some.size() - kNamed);
  return text;
}

// The first path speaks for those of the same holder; what others have is named after it.
std::string who_has(const Denied& denied, const GateAnswer& answer, const Owner& self) {
  std::vector<const Blocked*> others = in_the_way(denied);
  const Blocked& blocked = *others.front();
  const auto is_its = [&](const Blocked* one) { return one->holder.owner == blocked.holder.owner; };
  others.erase(others.begin());
  std::vector<const Blocked*> its;
  std::ranges::copy_if(others, std::back_inserter(its), is_its);
  std::erase_if(others, is_its);
  std::string text = with_source(blocked.path, denied);
  if (!its.empty()) text += fmt::format(" and {} more ({})", its.size(), names(its));
  text +=
      fmt::format(" {} {} by {} for {}", its.empty() ? "is" : "are", blocked.waits ? "waited for" : "leased",
                  name_of(blocked.holder.owner, self), span(blocked.acquired_at, answer.at));
  if (!blocked.waits && blocked.expires_at != kForever && blocked.expires_at > answer.at) {
    text += fmt::format(", until {} or longer", clock_text(blocked.expires_at, answer));
  }
  if (!blocked.reason.empty()) text += fmt::format(" ({})", in_quotes(shortened(blocked.reason, 60)));
  if (!others.empty()) {
    text += fmt::format(
        "; {} by {}{}", names(others), name_of(others.front()->holder.owner, self),
        std::ranges::all_of(
            others, [&](const Blocked* one) { return one->holder.owner == others.front()->holder.owner; })
            ? ""
            : " and others");
  }
  return text;
}

std::string what_stands(const GateAnswer& answer, const Denied& denied, const Owner& self) {
  if (!denied.blocked.empty()) return who_has(denied, answer, self);
  if (denied.contentions.empty()) return "Nobody is in the way";
  const Contention& first = denied.contentions.front();
  return fmt::format("{} was leased by {} and is free now", short_path(first.path),
                     name_of(first.in_the_way.holder.owner, self));
}

// A path as a command takes it.
std::string in_command(const std::string& key, const std::string& tree) {
  if (key == "/") return tree.empty() ? "--subtree ." : "--subtree file:/";
  return shell_word(tree.empty() ? key.substr(1) : "file:" + key);
}

// What leads a command to a tree elsewhere.
std::string in_tree(const std::string& tree) {
  return tree.starts_with('/') ? " -C " + shell_word(tree) : "";
}

bool is_subagent(const Owner& owner) { return owner.agent_id.contains('/'); }

// What helps besides the retry. The command line acts for the whole session: within one it finds nothing to
// wait for, and what a subagent waited for with it would be in its way.
std::string other_way(const Denied& denied, const Owner& self, const std::string& tree, std::size_t room) {
  const Owner none;
  const Owner& holder = denied.blocked.empty() ? none : denied.blocked.front().holder.owner;
  const bool is_own_session = !self.session_id.empty() && holder.session_id == self.session_id;
  if (is_own_session && !is_subagent(self) && is_subagent(holder)) {
    return fmt::format(" It is your subagent {}'s, and comes back to you when that one stops.",
                       shortened(in_sentence(holder.agent_id.substr(holder.agent_id.find('/') + 1)), 40));
  }
  if (is_own_session && is_subagent(self) && !is_subagent(holder)) {
    return fmt::format(" Your main agent can give it up: lease release{} {}", in_tree(tree),
                       in_command(denied.blocked.front().path, tree));
  }
  if (is_subagent(self) || is_own_session) return "";
  std::string paths;
  for (const Blocked* one : in_the_way(denied)) paths += " " + in_command(one->path, tree);
  // Free by now: then it is the command that gets it.
  for (const Contention& one : denied.contentions)
    if (denied.blocked.empty()) paths += " " + in_command(one.path, tree);
  std::string command = fmt::format(" Or wait in line: lease acquire{}{} --wait 5m", in_tree(tree), paths);
  return command.size() <= room ? command : " Or wait in line: lease acquire PATH --wait 5m";
}

// What to do stands in the last sentence: of a long text the middle goes.
std::string with_its_end(const std::string& text, std::size_t most) {
  const auto last = text.rfind(". ");
  if (text.size() <= most || last == std::string::npos || text.size() - last > most / 2) return text;
  const std::string end = text.substr(last);
  return std::string(shortened(text, most - end.size() - 2)) + ".." + end;
}

// How things stand, as far as there is room, and what to do, as a whole.
std::string both(const std::string& stand, const std::string& what_to_do, std::size_t most) {
  if (stand.size() + what_to_do.size() <= most) return stand + what_to_do;
  return std::string(shortened(stand, most - std::min(most, what_to_do.size() + 2))) + ".." + what_to_do;
}

}  // namespace

std::string name_of(const Owner& owner, const Owner& self) {
  std::string name(shortened(in_sentence(owner.agent_id), 60));
  if (owner.session_id.empty()) return name;
  if (owner.session_id == self.session_id) return name + " of your own session";
  return fmt::format("{} (session {})", name, shortened(in_sentence(owner.session_id), 8));
}

std::string short_path(const std::string& key, std::size_t most) {
  if (key == "/") return "the whole workspace";
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

std::string with_short_path(const std::string& text, std::size_t most) {
  constexpr std::string_view kGone = "...";
  if (text.size() <= most) return text;
  std::string_view longest;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (word.size() > longest.size()) longest = word;
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  std::size_t excess = text.size() - most + kGone.size();
  if (excess >= longest.size()) return std::string(shortened(text, most - kGone.size())).append(kGone);
  while (excess < longest.size() && (static_cast<unsigned char>(longest[excess]) & 0xc0) == 0x80) ++excess;
  const auto begin = static_cast<std::size_t>(longest.data() - text.data());
  return text.substr(0, begin).append(kGone).append(text, begin + excess);
}

std::string_view shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

std::string short_reason(const GateAnswer& answer, const Denied& denied, const Owner& self,
                         const std::string& tree, std::size_t most) {
  std::string text;
  switch (denied.code) {
    case Code::retry_later: {
      text = both(what_stands(answer, denied, self),
                  fmt::format(". Do other work; try this write again once, at {} (in {}), not earlier.",
                              clock_text(denied.retry_at, answer), span(answer.at, denied.retry_at)),
                  most);
      const std::string more = other_way(denied, self, tree, most - std::min(most, text.size()));
      if (text.size() + more.size() <= most) text += more;
      break;
    }
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
        text = both(what_stands(answer, denied, self),
                    fmt::format(", still, at the retry. Stop this work, do not write the file in another "
                                "way, and report blocker {}: somebody has to decide (lease blockers).",
                                worst->id),
                    most);
      }
      break;
    }
    default:
      text = with_its_end(denied.message, most);
  }
  return std::string(shortened(text, most));
}

}  // namespace leasehold
