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

// Walks a text that is known to be JSON.
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
      at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
    }
    span.end = at_;
    return span;
  }

  // Where an object has a name that it had before.
  std::optional<std::size_t> repeated() const { return repeated_; }

 private:
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size()); }

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

const JsonMember* JsonSpan::find(std::string_view name) const {
  const auto found = std::ranges::find(members, name, &JsonMember::name);
  return found == members.end() ? nullptr : &*found;
}

Result<std::optional<JsonSpan>> json_spans(std::string_view text) {
  const std::size_t begin = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  if (text.find_first_not_of(kBlanks, begin) == std::string_view::npos) return std::nullopt;

  json::stream_parser parser;
  boost::system::error_code error;
  const std::size_t read = parser.write_some(text.substr(begin), error);
  if (!error) parser.finish(error);
  if (!error && read < text.size() - begin) error = json::error::extra_data;
  if (error) return wrong_at(text, begin + read, error.message());

  Scanner scanner(text, begin);
  JsonSpan span = scanner.value();
  if (scanner.repeated()) return wrong_at(text, *scanner.repeated(), "a name that its object had before");
  return span;
}

}  // namespace leasehold
