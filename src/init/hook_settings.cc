#include "init/hook_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "init/json_spans.h"

namespace leasehold {
namespace {

constexpr std::string_view kHooks = "hooks";
constexpr std::string_view kVersion = "version";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// How the author of a text breaks and indents lines.
struct Habits {
  std::string line_break = "\n";
  std::string indent = "  ";
};

std::string_view indent_at(std::string_view text, std::size_t at) {
  const std::size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  const std::size_t end = std::min(text.find_first_not_of(" \t", line), text.size());
  return text.substr(line, end - line);
}

bool begins_line(std::string_view text, std::size_t at) {
  const std::string_view indent = indent_at(text, at);
  return indent.data() + indent.size() == text.data() + at && indent.data() != text.data();
}

Habits habits_of(std::string_view text, const JsonSpan& root) {
  Habits habits;
  if (text.find("\r\n") != std::string_view::npos) habits.line_break = "\r\n";
  if (root.members.empty() || !begins_line(text, root.members.front().begin)) return habits;
  const std::string_view indent = indent_at(text, root.members.front().begin);
  if (!indent.empty()) habits.indent = indent;
  return habits;
}

// One of our handlers, where it stands.
struct Place {
  std::size_t event = 0;                 // Which member of "hooks".
  std::size_t group = 0;                 // Which element of its list.
  std::optional<std::size_t> neighbour;  // Which handler of the group, if others' stand there, too.
  std::string event_name;
  std::string matcher;
  std::string_view text;
};

class Settings {
 public:
  static Result<Settings> read(std::string text) {
    Settings settings;
    settings.text_ = std::move(text);
    if (auto done = settings.scan(); !done) return fail(done.error());
    return settings;
  }

  const std::string& text() const { return text_; }
  bool is_blank() const { return !root_; }

  std::vector<Place> ours(HookHost host) const {
    std::vector<Place> places;
    if (hooks() == nullptr) return places;
    const std::vector<JsonMember>& events = hooks()->value.members;
    for (std::size_t event = 0; event < events.size(); ++event) {
      for (std::size_t group = 0; group < events[event].value.members.size(); ++group)
        add_ours(host, {.event = event, .group = group, .event_name = events[event].name}, places);
    }
    return places;
  }

  Result<void> add(const HookGroup& group) {
    if (!root_) {
      const std::size_t at = text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
      return insert(at, "{ " + hooks_member(group, "", {}) + " }");
    }
    const Habits habits = habits_of(text_, *root_);
    if (hooks() == nullptr) {
      const std::string indent = child_indent(*root_, habits);
      return append(*root_, indent, hooks_member(group, indent, habits), habits);
    }
    const JsonSpan& all = hooks()->value;
    if (const JsonMember* event = all.find(group.event)) {
      return append(event->value, child_indent(event->value, habits), group.text(), habits);
    }
    const std::string indent = child_indent(all, habits);
    return append(all, indent, event_member(group, indent, habits), habits);
  }

  // Behind the hooks.
  void add_version() { text_.insert(hooks()->end(), fmt::format(",\n  \"{}\": 1", kVersion)); }

  // False: nothing is left of the file.
  Result<bool> remove(const Place& place) {
    const JsonSpan& all = hooks()->value;
    const JsonSpan& event = all.members[place.event].value;
    if (place.neighbour) return erase(*handlers_of(event.members[place.group].value), *place.neighbour);
    if (!holds_only_what_we_made(event)) return erase(event, place.group);
    if (!holds_only_what_we_made(all)) return erase(all, place.event);
    if (is_ours_with_version()) return false;
    if (!holds_only_what_we_made(*root_)) return erase(*root_, hooks_index());
    if (text_[root_->begin + 1] != ' ') return false;
    text_.erase(root_->begin, root_->end - root_->begin);
    return rescan();
  }

 private:
  std::string_view text_of(const JsonSpan& span) const {
    return std::string_view(text_).substr(span.begin, span.end - span.begin);
  }

  // Null: the group is a handler itself.
  static const JsonSpan* handlers_of(const JsonSpan& group) {
    const JsonMember* const list = group.find(kHooks);
    return list == nullptr ? nullptr : &list->value;
  }

  std::string matcher_of(const JsonSpan& group) const {
    const JsonMember* const matcher = group.find("matcher");
    if (matcher == nullptr || matcher->value.kind != '"') return {};
    return std::string(boost::json::parse(text_of(matcher->value)).as_string());
  }

  // Those of the group that `place` names.
  void add_ours(HookHost host, Place place, std::vector<Place>& places) const {
    const JsonSpan& group = hooks()->value.members[place.event].value.members[place.group].value;
    place.matcher = matcher_of(group);
    const JsonSpan* const list = handlers_of(group);
    if (list == nullptr) {
      place.text = text_of(group);
      if (is_our_handler(host, place.text)) places.push_back(std::move(place));
      return;
    }
    if (list->kind != '[') return;
    const std::vector<JsonMember>& handlers = list->members;
    const auto is_ours = [&](const JsonMember& one) { return is_our_handler(host, text_of(one.value)); };
    const bool is_shared = !std::ranges::all_of(handlers, is_ours);
    for (std::size_t i = 0; i < handlers.size(); ++i) {
      if (!is_ours(handlers[i])) continue;
      if (is_shared) place.neighbour = i;
      place.text = text_of(handlers[i].value);
      places.push_back(place);
    }
  }

  Result<void> scan() {
    auto root = json_spans(text_);
    if (!root) return fail(root.error());
    root_ = std::move(*root);
    if (!root_) return {};
    if (root_->kind != '{') return fail(Code::invalid_argument, "1: it is no JSON object");
    if (hooks() == nullptr) return {};
    if (hooks()->value.kind != '{') return wrong(*hooks(), "an object");
    for (const JsonMember& event : hooks()->value.members) {
      if (event.value.kind != '[') return wrong(event, "a list");
    }
    return {};
  }

  Result<bool> rescan() {
    if (auto done = scan(); !done) return fail(done.error());
    return true;
  }

  std::unexpected<Error> wrong(const JsonMember& member, std::string_view wanted) const {
    const auto line =
        std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(member.begin), '\n');
    return fail(Code::invalid_argument,
                fmt::format("{}: \"{}\" has to be {}", line + 1, member.name, wanted));
  }

  const JsonMember* hooks() const { return root_ ? root_->find(kHooks) : nullptr; }
  std::size_t hooks_index() const { return static_cast<std::size_t>(hooks() - root_->members.data()); }

  std::string child_indent(const JsonSpan& container, const Habits& habits) const {
    for (const JsonMember& sibling : container.members) {
      if (begins_line(text_, sibling.begin)) return std::string(indent_at(text_, sibling.begin));
    }
    return std::string(indent_at(text_, container.begin)) + habits.indent;
  }

  static std::string event_member(const HookGroup& group, const std::string& indent, const Habits& habits) {
    return fmt::format("\"{0}\": [{1}{2}{3}{4}{1}{2}]", group.event, habits.line_break, indent, habits.indent,
                       group.text());
  }

  static std::string hooks_member(const HookGroup& group, const std::string& indent, const Habits& habits) {
    const std::string deeper = indent + habits.indent;
    return fmt::format("\"{0}\": {{{1}{2}{3}{1}{4}}}", kHooks, habits.line_break, deeper,
                       event_member(group, deeper, habits), indent);
  }

  Result<void> insert(std::size_t at, const std::string& what) {
    text_.insert(at, what);
    return scan();
  }

  Result<void> append(const JsonSpan& container, const std::string& indent, const std::string& what,
                      const Habits& habits) {
    if (container.members.empty()) return insert(container.begin + 1, what);
    const std::size_t end = container.members.back().end();
    text_.insert(behind_remark(text_, end), habits.line_break + indent + what);
    return insert(end, ",");
  }

  bool holds_only_what_we_made(const JsonSpan& container) const {
    if (container.members.size() != 1) return false;
    const JsonMember& member = container.members.front();
    return member.begin != container.begin + 1 && !has_comment(text_, container.begin + 1, member.begin) &&
           !has_comment(text_, member.end(), container.end - 1);
  }

  bool is_ours_with_version() const {
    const std::vector<JsonMember>& members = root_->members;
    return members.size() == 2 && &members.front() == hooks() && members.back().name == kVersion &&
           members.front().begin != root_->begin + 1;
  }

  Result<bool> erase(const JsonSpan& container, std::size_t index) {
    erase_member(text_, container, index);
    return rescan();
  }

  std::string text_;
  std::optional<JsonSpan> root_;
};

bool is_same_json(std::string_view one, std::string_view other) {
  boost::system::error_code error;
  boost::json::parse_options options;
  options.allow_comments = true;
  return boost::json::parse(one, error, {}, options) == boost::json::parse(other, error) && !error;
}

bool has_all(const Settings& settings, HookHost host, std::span<const HookGroup> groups) {
  const std::vector<Place> places = settings.ours(host);
  return places.size() == groups.size() && std::ranges::all_of(groups, [&](const HookGroup& group) {
           return std::ranges::any_of(places, [&](const Place& place) {
             return place.event_name == group.event && place.matcher == group.matcher &&
                    is_same_json(place.text, group.handler);
           });
         });
}

}  // namespace

Result<std::string> with_groups(const FileText& text, HookHost host, std::span<const HookGroup> groups) {
  if (text) {
    const auto present = Settings::read(*text);
    if (!present) return fail(present.error());
    if (has_all(*present, host, groups)) return *text;
  }
  const auto bare = without_groups(text, host);
  if (!bare) return fail(bare.error());
  // A file of our own begins as an object with one line, which goes as soon as there is something in it.
  auto settings = Settings::read(bare->value_or(std::string("{\n}\n")));
  if (!settings) return fail(settings.error());
  for (const HookGroup& group : groups) {
    if (auto added = settings->add(group); !added) return fail(added.error());
  }
  if (!*bare && has_version(host)) settings->add_version();
  std::string result = settings->text();
  if (!*bare) result.replace(0, 1, "{\n  ");
  return result;
}

Result<FileText> without_groups(const FileText& text, HookHost host) {
  if (!text) return text;
  auto settings = Settings::read(*text);
  if (!settings) return fail(settings.error());
  // From the last to the first: each was put behind the one before.
  for (auto places = settings->ours(host); !places.empty(); places = settings->ours(host)) {
    const auto left = settings->remove(places.back());
    if (!left) return fail(left.error());
    if (!*left) return FileText();
  }
  return settings->text();
}

bool has_groups(const FileText& text, HookHost host, std::span<const HookGroup> groups) {
  if (!text) return false;
  const auto settings = Settings::read(*text);
  return settings && has_all(*settings, host, groups);
}

}  // namespace leasehold
