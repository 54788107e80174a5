// A shell's command line as a tree. Nothing is expanded in it yet.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::shell {

struct Script;

// A piece of a word.
struct Part {
  enum class Kind {
    text,       // Itself.
    parameter,  // $name, ${name...}
    output,     // $(script), `script`
    pipe,       // <(script), >(script)
    number,     // $((...))
  };
  Kind kind = Kind::text;
  bool quoted = false;         // Neither split nor a pattern.
  std::string text;            // Or the parameter's name.
  std::string_view operation;  // Of ${name%.c}: "%". One that the reader knows.
  std::vector<Part> inner;     // Of ${name%.c}: ".c"; of a number: what is computed.
  std::vector<Part> other;     // Of ${name/a/b}: "b".
  std::shared_ptr<const Script> script;
};

struct Word {
  std::vector<Part> parts;

  // As it stands there, if no quote, escape or expansion is in it: only such can be a word of the language.
  std::string_view plain() const {
    const bool is_plain = parts.size() == 1 && parts[0].kind == Part::Kind::text && !parts[0].quoted;
    return is_plain ? std::string_view(parts[0].text) : std::string_view();
  }
};

struct Redirection {
  enum class Kind {
    write,      // > >> >| &> <> and the like: the file is opened to be written.
    read,       // <
    duplicate,  // 2>&1
    text,       // A here-string: `target` is the text. A here-document: `text` is.
  };
  Kind kind = Kind::write;
  int fd = 1;         // -1: one that the shell picks; then it is nobody's standard input or output.
  bool both = false;  // Standard output and error.
  Word target;
  std::shared_ptr<const Word> text;  // Filled when the line ends at which the here-document begins.
};

struct Assignment {
  std::string name;
  std::vector<Word> values;  // One, unless it is a list.
  bool is_list = false;
  bool appends = false;  // +=
  bool is_item = false;  // name[x]=
};

struct Command;

struct Pipeline {
  std::vector<Command> commands;
  bool negated = false;
};

enum class Link { always, and_then, or_else };

struct Step {
  Link link = Link::always;  // To the step before.
  Pipeline pipeline;
};

// a && b || c
struct Chain {
  std::vector<Step> steps;
  bool in_background = false;
};

struct Script {
  std::vector<Chain> chains;
};

struct Branch {
  Script condition;  // None for `else`, and for those of a `case`.
  Script body;
};

struct Command {
  enum class Kind { simple, group, subshell, branches, loop, each, choice, function, test };
  Kind kind = Kind::simple;
  std::vector<Assignment> assignments;        // simple
  std::vector<Word> words;                    // simple; each: the list; choice: what is looked at; test
  std::vector<Redirection> redirections;      // Any but a function.
  std::string name;                           // each: the variable; function
  bool has_list = true;                       // each: false goes through "$@".
  Script body;                                // group, subshell, loop, each
  Script condition;                           // loop
  std::vector<Branch> branches;               // branches, choice
  std::shared_ptr<const Command> definition;  // function
};

}  // namespace leasehold::shell
