#include "shell/parser.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <optional>
#include <utility>

#include "shell/characters.h"

namespace leasehold::shell {
namespace {

using Words = std::initializer_list<std::string_view>;

// Few commands have more: saves that they grow one by one.
constexpr std::size_t kWordsUsual = 4;

struct Operator {
  std::string_view symbol;
  Redirection::Kind kind;
  int fd;
  bool both;
};
using enum Redirection::Kind;
constexpr Operator kOperators[] = {
    {">", write, 1, false},      {">>", write, 1, false},     {">|", write, 1, false},
    {"&>", write, 1, true},      {"&>>", write, 1, true},     {"<>", write, 0, false},
    {"<", read, 0, false},       {">&", duplicate, 1, false}, {"<<", text, 0, false},
    {"<&", duplicate, 0, false}, {"<<-", text, 0, false},     {"<<<", text, 0, false},
};

// By its first letter: if, while, until, for, select, case, function, { and [[.
bool may_begin_compound(std::string_view word) {
  constexpr Characters kFirst = characters("iwufsc{[");
  return !word.empty() && is_in(kFirst, word[0]);
}

// name=, name+= or name[x]= in front of a word.
struct Target {
  std::string name;
  std::size_t length;  // With the =.
  bool appends;
  bool is_item;
};

std::optional<Target> assigned_by(const Word& word) {
  if (word.parts.empty() || word.parts[0].kind != Part::Kind::text || word.parts[0].quoted)
    return std::nullopt;
  const std::string& text = word.parts[0].text;
  if (!text.contains('=')) return std::nullopt;
  const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::size_t end = 0;
  while (end < text.size() && is_name(text[end])) ++end;
  if (end == 0 || std::isdigit(static_cast<unsigned char>(text[0])) != 0) return std::nullopt;
  Target target = {.name = text.substr(0, end), .length = 0, .appends = false, .is_item = false};
  if (end < text.size() && text[end] == '[') {
    end = text.find(']', end);
    if (end == std::string::npos) return std::nullopt;
    target.is_item = true;
    ++end;
  }
  if (end < text.size() && text[end] == '+') {
    target.appends = true;
    ++end;
  }
  if (end >= text.size() || text[end] != '=') return std::nullopt;
  target.length = end + 1;
  return target;
}

class Parser {
 public:
  explicit Parser(Reader& reader) : in_(reader) {}

  // Up to one of the words or symbols in `ends`, which is not taken, or to the end.
  Script script(Words ends) {
    Script script;
    while (add_chain(script, ends)) {
    }
    return script;
  }

  // False: there is no more.
  bool add_chain(Script& script, Words ends) {
    skip_separators();
    if (at_end(ends)) return false;
    const std::size_t before = in_.at();
    script.chains.push_back(chain());
    if (in_.at() == before && in_.peek().kind != Token::Kind::end) in_.give_up(unexpected());
    return true;
  }

  void expect(std::string_view text) {
    const Token& token = in_.peek();
    if (token.is(text) || token.reads(text)) {
      in_.skip();
    } else {
      in_.give_up("it lacks a \"" + std::string(text) + "\"");
    }
  }

  std::string unexpected() {
    const Token& token = in_.peek();
    return "a \"" + std::string(token.kind == Token::Kind::word ? token.word.plain() : token.symbol) +
           "\" stands where none can be";
  }

 private:
  bool at_end(Words ends) {
    const Token& token = in_.peek();
    if (token.kind == Token::Kind::end) return true;
    const std::string_view text = token.kind == Token::Kind::symbol ? token.symbol : token.word.plain();
    return std::ranges::any_of(ends, [&](std::string_view end) { return same_word(text, end); });
  }

  Chain chain() {
    Chain chain;
    Link link = Link::always;
    while (true) {
      chain.steps.push_back({link, pipeline()});
      if (in_.peek().is("&&")) {
        link = Link::and_then;
      } else if (in_.peek().is("||")) {
        link = Link::or_else;
      } else {
        break;
      }
      in_.skip();
      skip_newlines();
    }
    if (in_.peek().is("&")) {
      in_.skip();
      chain.in_background = true;
    }
    return chain;
  }

  Pipeline pipeline() {
    Pipeline pipeline;
    std::vector<Word> begun;
    while (begun.empty()) {
      if (in_.peek().reads("!")) {
        pipeline.negated = !pipeline.negated;
        in_.skip();
      } else if (in_.peek().reads("coproc")) {
        in_.skip();  // What follows runs beside the rest; a name stands only before what is no simple
                     // command.
        if (in_.peek().kind != Token::Kind::word || begins_compound()) break;
        begun.push_back(in_.take_word());
        if (begins_compound()) begun.clear();
      } else if (in_.peek().reads("time")) {
        Word word = in_.take_word();
        while (in_.peek().reads("-p") || in_.peek().reads("--")) in_.skip();
        if (ends_command()) return pipeline;
        // With options of its own it is the program, for all shells but bash.
        if (in_.peek().kind == Token::Kind::word && in_.peek().word.plain().starts_with('-'))
          begun.push_back(std::move(word));
      } else {
        break;
      }
    }
    while (true) {
      pipeline.commands.push_back(command(std::exchange(begun, {})));
      if (!in_.peek().is("|") && !in_.peek().is("|&")) return pipeline;
      in_.skip();
      skip_newlines();
    }
  }

  bool begins_compound() {
    const Token& token = in_.peek();
    if (token.is("(")) return true;
    for (const std::string_view word : {"{", "if", "while", "until", "for", "case", "select", "[["}) {
      if (token.reads(word)) return true;
    }
    return false;
  }

  bool ends_command() {
    const Token& token = in_.peek();
    return token.kind == Token::Kind::end || token.kind == Token::Kind::newline || token.is(";") ||
           token.is("&") || token.is(")");
  }

  // `begun`: words of it that are taken already.
  Command command(std::vector<Word> begun = {}) {
    Command command;
    command.words = std::move(begun);
    if (in_.depth() >= kDepthMax) {
      in_.give_up("it is nested too deeply");
      return command;
    }
    in_.enter();
    if (!command.words.empty() || !compound(command)) simple(command);
    if (command.kind != Command::Kind::simple) redirections(command);
    in_.leave();
    return command;
  }

  bool compound(Command& command) {
    std::vector<Part> inner;
    if (in_.skip_arithmetic(inner)) {
      command.kind = Command::Kind::test;
      command.words.push_back({std::move(inner)});
      return true;
    }
    const Token& token = in_.peek();
    if (token.kind == Token::Kind::word && !may_begin_compound(token.word.plain())) return false;
    if (token.is("(")) {
      in_.skip();
      command.kind = Command::Kind::subshell;
      command.body = script({")"});
      expect(")");
    } else if (token.reads("{")) {
      in_.skip();
      command.kind = Command::Kind::group;
      command.body = script({"}"});
      expect("}");
    } else if (token.reads("if")) {
      branches(command);
    } else if (token.reads("while") || token.reads("until")) {
      in_.skip();
      command.kind = Command::Kind::loop;
      command.condition = script({"do"});
      body(command);
    } else if (token.reads("for") || token.reads("select")) {
      each(command);
    } else if (token.reads("case")) {
      choice(command);
    } else if (token.reads("function")) {
      in_.skip();
      const std::string name(in_.take_word().plain());
      if (in_.peek().is("(")) {
        in_.skip();
        expect(")");
      }
      function(command, name);
    } else if (token.reads("[[")) {
      test(command);
    } else {
      return false;
    }
    return true;
  }

  void body(Command& command) {
    expect("do");
    command.body = script({"done"});
    expect("done");
  }

  void branches(Command& command) {
    command.kind = Command::Kind::branches;
    do {
      in_.skip();  // if, elif
      Branch branch = {.condition = script({"then"})};
      expect("then");
      branch.body = script({"elif", "else", "fi"});
      command.branches.push_back(std::move(branch));
    } while (in_.peek().reads("elif"));
    if (in_.peek().reads("else")) {
      in_.skip();
      command.branches.push_back({.body = script({"fi"})});
    }
    expect("fi");
  }

  void each(Command& command) {
    in_.skip();
    std::vector<Part> inner;
    if (in_.skip_arithmetic(inner)) {
      command.kind = Command::Kind::loop;
      return body_or_group(command);
    }
    command.kind = Command::Kind::each;
    command.name = in_.take_word().plain();
    skip_newlines();
    command.has_list = in_.peek().reads("in");
    if (command.has_list) {
      in_.skip();
      while (in_.peek().kind == Token::Kind::word) command.words.push_back(in_.take_word());
    }
    body_or_group(command);
  }

  // for f in a b; { ...; } is another way to write it.
  void body_or_group(Command& command) {
    skip_separators();
    if (!in_.peek().reads("{")) return body(command);
    in_.skip();
    command.body = script({"}"});
    expect("}");
  }

  void choice(Command& command) {
    command.kind = Command::Kind::choice;
    in_.skip();
    command.words.push_back(in_.take_word());
    skip_newlines();
    expect("in");
    skip_newlines();
    while (in_.peek().kind != Token::Kind::end && !in_.peek().reads("esac")) {
      while (in_.peek().kind != Token::Kind::end && !in_.peek().is(")")) in_.skip();  // The patterns.
      expect(")");
      command.branches.push_back({.body = script({";;", ";&", ";;&", "esac"})});
      if (!in_.peek().reads("esac")) in_.skip();
      skip_newlines();
    }
    expect("esac");
  }

  void function(Command& command, const std::string& name) {
    command.kind = Command::Kind::function;
    command.name = name;
    skip_newlines();
    command.definition = std::make_shared<const Command>(this->command());
  }

  void test(Command& command) {
    command.kind = Command::Kind::test;
    while (in_.peek().kind != Token::Kind::end && !in_.peek().reads("]]")) {
      Token token = in_.take();
      if (token.kind == Token::Kind::word) command.words.push_back(std::move(token.word));
    }
    expect("]]");
  }

  void simple(Command& command) {
    while (true) {
      if (redirection(command)) continue;
      if (in_.peek().kind != Token::Kind::word) break;
      Word word = in_.take_word();
      if (command.words.empty()) {
        if (const auto target = assigned_by(word)) {
          assignment(command, *target, std::move(word));
          continue;
        }
        if (!word.plain().empty() && in_.peek().is("(")) {
          in_.skip();
          expect(")");
          return function(command, std::string(word.plain()));
        }
      } else if (const auto target = assigned_by(word); target && in_.touches('(')) {
        // declare name=(...)
        assignment(command, *target, std::move(word));
        continue;
      }
      if (command.words.empty()) command.words.reserve(kWordsUsual);
      command.words.push_back(std::move(word));
    }
    const bool is_empty =
        command.words.empty() && command.assignments.empty() && command.redirections.empty();
    if (is_empty && in_.peek().kind != Token::Kind::end) in_.give_up(unexpected());
  }

  void assignment(Command& command, const Target& target, Word word) {
    Assignment made = {.name = target.name, .appends = target.appends, .is_item = target.is_item};
    word.parts[0].text.erase(0, target.length);
    if (word.parts.size() == 1 && word.parts[0].text.empty() && in_.touches('(')) {
      made.is_list = true;
      in_.skip();
      while (in_.peek().kind == Token::Kind::word || in_.peek().kind == Token::Kind::newline) {
        Token token = in_.take();
        if (token.kind == Token::Kind::word) made.values.push_back(std::move(token.word));
      }
      expect(")");
    } else {
      made.values.push_back(std::move(word));
    }
    command.assignments.push_back(std::move(made));
  }

  void redirections(Command& command) {
    if (command.kind == Command::Kind::function) return;
    while (redirection(command)) {
    }
  }

  bool redirection(Command& command) {
    const Token& token = in_.peek();
    if (token.kind != Token::Kind::symbol || token.symbol == ";" || token.symbol == "|") return false;
    const auto* found = std::ranges::find(kOperators, token.symbol, &Operator::symbol);
    if (found == std::end(kOperators)) return false;
    Redirection made = {.kind = found->kind, .fd = found->fd, .both = found->both};
    if (!token.fd.empty()) made.fd = token.fd.front() == '{' ? -1 : std::stoi(token.fd);
    in_.skip();
    Token target = in_.take();
    if (target.kind != Token::Kind::word) {
      in_.give_up("a redirection names no file");
      return true;
    }
    if (found->symbol.starts_with("<<") && found->symbol != "<<<") {
      const auto body = std::make_shared<Word>();
      made.text = body;
      in_.expect_text(target.word, found->symbol == "<<-", body);
    } else {
      made.target = std::move(target.word);
      if (made.kind == Redirection::Kind::duplicate && !is_descriptor(made.target.plain())) {
        made.kind = found->symbol == ">&" ? Redirection::Kind::write : Redirection::Kind::duplicate;
        made.both = made.kind == Redirection::Kind::write;
      }
    }
    command.redirections.push_back(std::move(made));
    return true;
  }

  // 1, 1-, -
  static bool is_descriptor(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789-") == std::string_view::npos;
  }

  void skip_newlines() {
    while (in_.peek().kind == Token::Kind::newline) in_.skip();
  }
  void skip_separators() {
    while (in_.peek().kind == Token::Kind::newline || in_.peek().is(";")) in_.skip();
  }

  Reader& in_;
};

}  // namespace

std::optional<Script> PieceParser::next() {
  Parser parser(reader_);
  Script piece;
  while (parser.add_chain(piece, {})) {
    if (!reader_.expects_text()) break;
  }
  if (piece.chains.empty()) return std::nullopt;
  return piece;
}

Parsed parse(std::string_view text, int depth) {
  Reader reader(text, 0, depth);
  Parser parser(reader);
  Parsed parsed;
  parsed.script = parser.script({});
  parsed.problem = reader.problem();
  return parsed;
}

Script parse_until_closed(Reader& reader) {
  Parser parser(reader);
  Script script = parser.script({")"});
  parser.expect(")");
  return script;
}

}  // namespace leasehold::shell
