// From characters to the tokens of a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shell/characters.h"
#include "shell/syntax.h"

namespace leasehold::shell {

struct Token {
  enum class Kind { end, newline, word, symbol };
  Kind kind = Kind::end;
  std::string_view symbol;  // && | ( >> ...
  std::string fd;           // What stands right in front of a redirection: "2", "{name}".
  Word word;

  bool is(std::string_view text) const { return kind == Kind::symbol && same_word(symbol, text); }
  bool reads(std::string_view text) const { return kind == Kind::word && same_word(word.plain(), text); }
};

// Nests no deeper than this, in all that is inside one another.
constexpr int kDepthMax = 50;

// Never fails on garbage: what it cannot make sense of ends the text, and problem() says why.
class Reader {
 public:
  explicit Reader(std::string_view text, std::size_t at = 0, int depth = 0);

  const Token& peek() {
    if (!has_token_) read_token();
    return token_;
  }
  // The token that peek() shows, or of it only the word; or nothing of it.
  Token take();
  Word take_word();
  void skip() {
    peek();
    has_token_ = false;
  }

  // Whether `c` stands right behind the token just taken.
  bool touches(char c) const { return !has_token_ && now() == c; }

  // (( expression )): passed over if that is what stands here.
  bool skip_arithmetic(std::vector<Part>& inner);

  // The text of the here-document that an operator just taken begins. It is read at the end of the line, so
  // `body` is empty until then.
  void expect_text(const Word& delimiter, bool strip_tabs, std::shared_ptr<Word> body);

  // Whether such a text is still to come.
  bool expects_text() const { return !pending_.empty(); }

  void give_up(std::string why);
  const std::string& problem() const { return problem_; }
  std::size_t at() const { return at_; }
  int depth() const { return depth_; }
  void enter() { ++depth_; }
  void leave() { --depth_; }

 private:
  struct Pending {
    std::string delimiter;
    bool is_quoted;
    bool strips_tabs;
    std::shared_ptr<Word> body;
  };

  char now(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool starts_with(std::string_view part) const { return text_.substr(at_).starts_with(part); }
  bool at_end() const { return at_ >= text_.size(); }

  void skip_blanks();
  void read_token();
  void next();
  bool next_symbol(Token& token);
  void read_word(Token& token);
  void read_quoted(std::vector<Part>& parts, bool is_here_document = false);
  void read_single_quoted(std::vector<Part>& parts);
  void read_ansi_quoted(std::vector<Part>& parts);
  void read_dollar(std::vector<Part>& parts, bool quoted);
  void read_parameter(std::vector<Part>& parts, bool quoted);
  void read_backquoted(std::vector<Part>& parts, bool quoted);
  std::shared_ptr<const Script> read_script();
  std::size_t end_of_arithmetic(std::size_t begin) const;
  void read_here_documents();
  std::vector<Part> parts_of(std::string_view text, bool quoted);

  std::string_view text_;
  std::size_t at_;
  int depth_;
  bool has_token_ = false;
  Token token_;
  std::vector<Pending> pending_;
  std::string problem_;
};

}  // namespace leasehold::shell
