#include "init/json_spans.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "util/utf8.h"

namespace leasehold {
namespace {

namespace json = boost::json;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kBlanks = " \t\r\n";

std::unexpected<Error> wrong_at(std::string_view text, std::size_t at, std::string_view what) {
  const auto line = std::ranges::count(text.substr(0, at), '\n') + 1;
  return fail(Code::invalid_argument, fmt::format("{}: {}", line, what));
}

// Behind the comment that begins here.
std::size_t behind_comment(std::string_view text, std::size_t at) {
  const bool is_line = text.substr(at).starts_with("//");
  const std::size_t end = text.find(is_line ? "\n" : "*/", at + 2);
  return end == std::string_view::npos ? text.size() : end + (is_line ? 0 : 2);
}

bool begins_comment(std::string_view text, std::size_t at) {
  return text.substr(at).starts_with("//") || text.substr(at).starts_with("/*");
}

// Walks a text that is known to be JSON, with comments.
class Scanner {
 public:
  Scanner(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  JsonSpan value() {
    skip_blanks();
    JsonSpan span = {.begin = at_, .kind = text_[at_]};
    if (span.kind == '{' || span.kind == '[') {
      members(span);
    } else if (span.kind == '"') {
      skip_string();
    } else {
      at_ = std::min(text_.find_first_of(",]}/ \t\r\n", at_), text_.size());
    }
    span.end = at_;
    return span;
  }

  // Where an object has a name that it had before.
  std::optional<std::size_t> repeated() const { return repeated_; }

 private:
  void skip_blanks() { at_ = behind_blanks(text_, at_); }

  void skip_string() {
    for (++at_; text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  void members(JsonSpan& span) {
    const char close = span.kind == '{' ? '}' : ']';
    ++at_;
    for (skip_blanks(); text_[at_] != close; skip_blanks()) {
      if (text_[at_] == ',') {
        ++at_;
        skip_blanks();
      }
      JsonMember member = {.begin = at_};
      if (span.kind == '{') {
        skip_string();
        member.name = json::parse(text_.substr(member.begin, at_ - member.begin)).as_string();
        if (span.find(member.name) != nullptr) repeated_ = member.begin;
        skip_blanks();
        ++at_;  // The colon.
      }
      member.value = value();
      span.members.push_back(std::move(member));
    }
    ++at_;
  }

  std::string_view text_;
  std::size_t at_;
  std::optional<std::size_t> repeated_;
};

}  // namespace

std::size_t behind_blanks(std::string_view text, std::size_t at) {
  while (true) {
    at = std::min(text.find_first_not_of(kBlanks, at), text.size());
    if (!begins_comment(text, at)) return at;
    at = behind_comment(text, at);
  }
}

std::size_t behind_remark(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (true) {
    const std::size_t next = std::min(text.find_first_not_of(" \t", end), text.size());
    if (!begins_comment(text, next)) return end;
    end = behind_comment(text, next);
    if (text.substr(end - 1).starts_with('\r')) --end;
  }
}

bool has_comment(std::string_view text, std::size_t begin, std::size_t end) {
  return text.substr(begin, end - begin).contains('/');
}

void erase_member(std::string& text, const JsonSpan& container, std::size_t index) {
  const auto cut = [&](std::size_t begin, std::size_t end) { text.erase(begin, end - begin); };
  const std::vector<JsonMember>& members = container.members;
  const JsonMember& one = members[index];
  const std::size_t before = index == 0 ? one.begin : members[index - 1].end();
  const bool has_remark = has_comment(text, before, one.begin);
  if (index > 0 && !has_remark) {
    cut(before, one.end());
  } else if (index + 1 < members.size()) {
    cut(one.begin, text.find_first_not_of(kBlanks, behind_blanks(text, one.end()) + 1));
  } else if (has_remark) {
    cut(text.find_last_not_of(kBlanks, one.begin - 1) + 1, one.end());
    text.erase(behind_blanks(text, before), 1);
  } else {
    cut(one.begin, one.end());
  }
}

const JsonMember* JsonSpan::find(std::string_view name) const {
  const auto found = std::ranges::find(members, name, &JsonMember::name);
  return found == members.end() ? nullptr : &*found;
}

Result<std::optional<JsonSpan>> json_spans(std::string_view text) {
  const std::size_t begin = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  if (text.find_first_not_of(kBlanks, begin) == std::string_view::npos) return std::nullopt;

  json::parse_options options;
  options.allow_comments = true;
  json::stream_parser parser({}, options);
  boost::system::error_code error;
  const std::size_t read = parser.write_some(text.substr(begin), error);
  // A comment at the very end may have no line end.
  if (!error && read == text.size() - begin) parser.write_some("\n", error);
  if (!error) parser.finish(error);
  if (!error && read < text.size() - begin) error = json::error::extra_data;
  if (error) return wrong_at(text, begin + read, error.message());

  Scanner scanner(text, begin);
  JsonSpan span = scanner.value();
  if (scanner.repeated()) return wrong_at(text, *scanner.repeated(), "a name that its object had before");
  return span;
}

}  // namespace leasehold
