#include "shell/reader.h"

#include <cctype>

#include "shell/ansi_quote.h"
#include "shell/characters.h"
#include "shell/parser.h"

namespace leasehold::shell {
namespace {

// Longest first.
constexpr std::string_view kSymbols[] = {"&>>", "<<<", "<<-", ";;&", "&&", "||", ";;", ";&",
                                         "|&",  "&>",  "<<",  "<&",  "<>", ">>", ">|", ">&",
                                         ";",   "|",   "&",   "<",   ">",  "(",  ")"};

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name(char c) { return is_name_start(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

constexpr Characters kEndWord = characters(" \t\n|&;()<>");
constexpr Characters kEndPlain = characters(" \t\n|&;()<>'\"\\$`");
constexpr Characters kBeginSymbol = characters("&|;<>()");

void add_text(std::vector<Part>& parts, std::string_view text, bool quoted) {
  if (parts.empty() || parts.back().kind != Part::Kind::text || parts.back().quoted != quoted) {
    parts.emplace_back().quoted = quoted;
  }
  parts.back().text += text;
}

bool is_descriptor(std::string_view text) {
  if (text.empty()) return false;
  if (text.find_first_not_of("0123456789") == std::string_view::npos) return text.size() < 6;
  return text.size() > 2 && text.front() == '{' && text.back() == '}' && is_name_start(text[1]);
}

// Where the slash is that ends the pattern of ${name/pattern/text}; else the end.
std::size_t end_of_pattern(std::string_view text) {
  char quote = '\0';
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'') {
      ++i;
    } else if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (std::string_view("'\"`").contains(c)) {
      quote = c;
    } else if (c == '{' || c == '(') {
      ++open;
    } else if (c == '}' || c == ')') {
      --open;
    } else if (c == '/' && open <= 0) {
      return i;
    }
  }
  return text.size();
}

// [@], [*] or a number, in front of a text.
std::string_view subscript_of(std::string_view text) {
  if (!text.starts_with('[')) return {};
  const std::string_view item = text.substr(1, std::min(text.find(']'), text.size()) - 1);
  const bool is_known = item == "@" || item == "*" ||
                        (!item.empty() && item.find_first_not_of("0123456789") == std::string_view::npos);
  return is_known && text.size() > item.size() + 1 ? text.substr(0, item.size() + 2) : std::string_view();
}

}  // namespace

Reader::Reader(std::string_view text, std::size_t at, int depth) : text_(text), at_(at), depth_(depth) {
  if (depth_ > kDepthMax) give_up("it is nested too deeply");
}

void Reader::give_up(std::string why) {
  if (problem_.empty()) problem_ = std::move(why);
  at_ = text_.size();
  has_token_ = false;
  pending_.clear();
}

void Reader::read_token() {
  token_.kind = Token::Kind::end;
  token_.fd.clear();
  token_.word.parts.clear();
  next();
  // Giving up in the middle of a token drops it.
  if (!problem_.empty()) token_ = Token{};
  has_token_ = true;
}

Token Reader::take() {
  peek();
  has_token_ = false;
  return std::move(token_);
}

Word Reader::take_word() {
  skip();
  return std::move(token_.word);
}

void Reader::skip_blanks() {
  while (!at_end()) {
    if (now() == ' ' || now() == '\t' || now() == '\r') {
      ++at_;
    } else if (starts_with("\\\n")) {
      at_ += 2;
    } else {
      break;
    }
  }
  if (now() == '#') at_ = std::min(text_.find('\n', at_), text_.size());
}

void Reader::next() {
  skip_blanks();
  if (at_end()) return read_here_documents();
  if (now() == '\n') {
    ++at_;
    token_.kind = Token::Kind::newline;
    return read_here_documents();
  }
  if (next_symbol(token_)) return;
  read_word(token_);
  if ((now() == '<' || now() == '>') && is_descriptor(token_.word.plain()) && next_symbol(token_)) {
    token_.fd = token_.word.plain();
    token_.word.parts.clear();
  }
}

bool Reader::next_symbol(Token& token) {
  const char first = now();
  if (!is_in(kBeginSymbol, first)) return false;
  const char second = now(1);
  if ((first == '<' || first == '>') && second == '(') return false;
  token.kind = Token::Kind::symbol;
  // Most stand alone.
  if (!is_in(kBeginSymbol, second)) {
    token.symbol = text_.substr(at_, 1);
    ++at_;
    return true;
  }
  for (const std::string_view symbol : kSymbols) {
    if (symbol[0] != first || !starts_with(symbol)) continue;
    token.symbol = symbol;
    at_ += symbol.size();
    break;
  }
  return true;
}

void Reader::read_word(Token& token) {
  token.kind = Token::Kind::word;
  std::vector<Part>& parts = token.word.parts;
  const std::size_t begin = at_;
  while (!at_end()) {
    const char c = now();
    if ((c == '<' || c == '>') && now(1) == '(') {
      at_ += 2;
      parts.push_back({.kind = Part::Kind::pipe, .quoted = true, .script = read_script()});
    } else if (c == '(' && at_ > begin && std::string_view("?*+@!").contains(text_[at_ - 1])) {
      // A pattern like @(a|b).
      const std::size_t end = text_.find(')', at_);
      if (end == std::string_view::npos) return give_up("a ( is not closed");
      add_text(parts, text_.substr(at_, end + 1 - at_), false);
      at_ = end + 1;
    } else if (is_in(kEndWord, c)) {
      break;
    } else if (c == '\'') {
      read_single_quoted(parts);
    } else if (c == '"') {
      ++at_;
      read_quoted(parts);
    } else if (c == '\\') {
      if (now(1) == '\n') {
        at_ += 2;
        continue;
      }
      add_text(parts, text_.substr(at_ + 1, 1), true);
      at_ = std::min(at_ + 2, text_.size());
    } else if (c == '$') {
      read_dollar(parts, false);
    } else if (c == '`') {
      read_backquoted(parts, false);
    } else {
      const std::size_t end = find_any(kEndPlain, text_, at_ + 1);
      add_text(parts, text_.substr(at_, end - at_), false);
      at_ = end;
    }
  }
}

void Reader::read_single_quoted(std::vector<Part>& parts) {
  const std::size_t end = text_.find('\'', at_ + 1);
  if (end == std::string_view::npos) return give_up("a quote is not closed");
  add_text(parts, text_.substr(at_ + 1, end - at_ - 1), true);
  at_ = end + 1;
}

void Reader::read_ansi_quoted(std::vector<Part>& parts) {
  std::size_t end = at_;
  while (end < text_.size() && text_[end] != '\'') end += text_[end] == '\\' ? 2 : 1;
  if (end >= text_.size()) return give_up("a quote is not closed");
  add_text(parts, ansi_unquoted(text_.substr(at_, end - at_)), true);
  at_ = end + 1;
}

// What stands between double quotes, up to the closing one; or all of a here-document.
void Reader::read_quoted(std::vector<Part>& parts, bool is_here_document) {
  add_text(parts, "", true);
  while (!at_end()) {
    const char c = now();
    if (c == '"' && !is_here_document) {
      ++at_;
      return;
    }
    if (c == '\\') {
      const char escaped = now(1);
      if (escaped == '\n') {
        // Joins the lines.
      } else if (std::string_view("$`\\").contains(escaped) || (escaped == '"' && !is_here_document)) {
        add_text(parts, text_.substr(at_ + 1, 1), true);
      } else {
        add_text(parts, text_.substr(at_, 2), true);
      }
      at_ = std::min(at_ + 2, text_.size());
    } else if (c == '$') {
      read_dollar(parts, true);
    } else if (c == '`') {
      read_backquoted(parts, true);
    } else {
      const std::size_t end = std::min(text_.find_first_of("\"\\$`", at_ + 1), text_.size());
      add_text(parts, text_.substr(at_, end - at_), true);
      at_ = end;
    }
  }
  if (!is_here_document) give_up("a quote is not closed");
}

void Reader::read_dollar(std::vector<Part>& parts, bool quoted) {
  const char next = now(1);
  if (next == '\'' && !quoted) {
    at_ += 2;
    read_ansi_quoted(parts);
  } else if (next == '"' && !quoted) {
    at_ += 2;
    read_quoted(parts);
  } else if (next == '(') {
    if (now(2) == '(') {
      if (const std::size_t end = end_of_arithmetic(at_ + 3); end != 0) {
        parts.push_back({.kind = Part::Kind::number,
                         .quoted = true,
                         .inner = parts_of(text_.substr(at_ + 3, end - at_ - 3), true)});
        at_ = end + 2;
        return;
      }
    }
    at_ += 2;
    parts.push_back({.kind = Part::Kind::output, .quoted = quoted, .script = read_script()});
  } else if (next == '{') {
    read_parameter(parts, quoted);
  } else if (is_name_start(next)) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && is_name(text_[end])) ++end;
    parts.push_back({.kind = Part::Kind::parameter,
                     .quoted = quoted,
                     .text = std::string(text_.substr(at_ + 1, end - at_ - 1))});
    at_ = end;
  } else if (next != '\0' && std::string_view("@*#?-$!0123456789").contains(next)) {
    parts.push_back({.kind = Part::Kind::parameter, .quoted = quoted, .text = std::string(1, next)});
    at_ += 2;
  } else {
    add_text(parts, "$", true);
    ++at_;
  }
}

// ${...}
void Reader::read_parameter(std::vector<Part>& parts, bool quoted) {
  std::size_t end = at_ + 2;
  char quote = '\0';
  for (int open = 1; end < text_.size(); ++end) {
    const char c = text_[end];
    if (c == '\\') {
      ++end;
    } else if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      // Between double quotes a single one is nothing special.
      if (c == '"' || !quoted) quote = c;
    } else if (c == '{') {
      ++open;
    } else if (c == '}' && --open == 0) {
      break;
    }
  }
  if (end >= text_.size()) return give_up("a ${ is not closed");
  const std::string_view inside = text_.substr(at_ + 2, end - at_ - 2);
  at_ = end + 1;
  std::size_t name_end = 0;
  while (name_end < inside.size() && is_name(inside[name_end])) ++name_end;
  if (name_end == 0 && !inside.empty() && std::string_view("@*?").contains(inside[0])) name_end = 1;
  if (name_end > 0) name_end += subscript_of(inside.substr(name_end)).size();
  Part part = {
      .kind = Part::Kind::parameter, .quoted = quoted, .text = std::string(inside.substr(0, name_end))};
  std::string_view rest = inside.substr(name_end);
  for (const std::string_view operation :
       {":-", ":=", ":+", "##", "%%", "//", "/#", "/%", "^^", ",,", "-", "#", "%", "/"}) {
    if (part.text.empty() || !rest.starts_with(operation)) continue;
    part.operation = operation;
    rest.remove_prefix(operation.size());
    break;
  }
  if (part.operation.empty() && (part.text.empty() || !rest.empty())) part.operation = "?";  // Another.
  if (part.operation.starts_with('/')) {
    const std::size_t slash = end_of_pattern(rest);
    part.other = parts_of(rest.substr(std::min(slash + 1, rest.size())), false);
    rest = rest.substr(0, slash);
  }
  part.inner = parts_of(rest, false);
  parts.push_back(std::move(part));
}

void Reader::read_backquoted(std::vector<Part>& parts, bool quoted) {
  std::string script;
  ++at_;
  while (!at_end() && now() != '`') {
    if (now() == '\\' && (std::string_view("$`\\").contains(now(1)) || (quoted && now(1) == '"'))) ++at_;
    if (!at_end()) script += now();
    ++at_;
  }
  if (at_end()) return give_up("a ` is not closed");
  ++at_;
  Parsed parsed = parse(script, depth_ + 1);
  if (!parsed.problem.empty()) return give_up(std::move(parsed.problem));
  parts.push_back({.kind = Part::Kind::output,
                   .quoted = quoted,
                   .script = std::make_shared<const Script>(std::move(parsed.script))});
}

// Up to the ) that ends it, which is taken as well.
std::shared_ptr<const Script> Reader::read_script() {
  Reader nested(text_, at_, depth_ + 1);
  auto script = std::make_shared<const Script>(parse_until_closed(nested));
  if (!nested.problem().empty()) {
    give_up(nested.problem());
  } else {
    at_ = nested.at();
  }
  return script;
}

// Where the )) is that closes what begins at `begin`; 0: it is none.
std::size_t Reader::end_of_arithmetic(std::size_t begin) const {
  int open = 0;
  for (std::size_t i = begin; i < text_.size(); ++i) {
    if (text_[i] == '(') ++open;
    if (text_[i] != ')') continue;
    if (open == 0) return text_.substr(i).starts_with("))") ? i : 0;
    --open;
  }
  return 0;
}

bool Reader::skip_arithmetic(std::vector<Part>& inner) {
  if (!peek().is("(") || now() != '(') return false;
  const std::size_t end = end_of_arithmetic(at_ + 1);
  if (end == 0) return false;
  inner = parts_of(text_.substr(at_ + 1, end - at_ - 1), true);
  if (!problem_.empty()) return true;
  at_ = end + 2;
  has_token_ = false;
  return true;
}

void Reader::expect_text(const Word& delimiter, bool strip_tabs, std::shared_ptr<Word> body) {
  Pending pending = {.is_quoted = false, .strips_tabs = strip_tabs, .body = std::move(body)};
  for (const Part& part : delimiter.parts) {
    pending.delimiter += part.text;
    pending.is_quoted = pending.is_quoted || part.quoted;
  }
  pending_.push_back(std::move(pending));
}

void Reader::read_here_documents() {
  std::vector<Pending> all;
  all.swap(pending_);
  for (Pending& one : all) {
    std::string text;
    while (!at_end()) {
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      std::string_view line = text_.substr(at_, end - at_);
      at_ = std::min(end + 1, text_.size());
      if (one.strips_tabs) line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
      if (line == one.delimiter) break;
      text += line;
      text += '\n';
    }
    if (one.is_quoted) {
      one.body->parts = {{.quoted = true, .text = std::move(text)}};
    } else {
      one.body->parts = parts_of(text, true);
    }
  }
}

std::vector<Part> Reader::parts_of(std::string_view text, bool quoted) {
  Reader nested(text, 0, depth_ + 1);
  std::vector<Part> parts;
  if (!nested.problem_.empty()) {
    give_up(nested.problem_);
    return parts;
  }
  if (quoted) {
    nested.read_quoted(parts, true);
  } else {
    // Blanks and the like end no word here.
    while (!nested.at_end()) {
      Token token;
      nested.read_word(token);
      for (Part& part : token.word.parts) parts.push_back(std::move(part));
      if (nested.at_end()) break;
      add_text(parts, nested.text_.substr(nested.at_, 1), false);
      ++nested.at_;
    }
  }
  if (!nested.problem_.empty()) give_up(nested.problem_);
  return parts;
}

}  // namespace leasehold::shell
