#include "shell/options.h"

#include <algorithm>

namespace leasehold::shell {
namespace {

class Splitter {
 public:
  Splitter(std::span<const Argument> words, const Syntax& syntax) : words_(words), syntax_(syntax) {}

  Split take() {
    bool only_operands = false;
    for (; at_ < words_.size(); ++at_) {
      const Argument& word = words_[at_];
      const std::string& text = word.text;
      if (!only_operands && word.is_known() && text == "--") {
        only_operands = !syntax_.no_end;
      } else if (only_operands || word.is_tree || text.size() < 2 || text[0] != '-') {
        if (word.splits && split_.unclear.empty()) split_.unclear = word.why;
        split_.operands.push_back(word);
        only_operands = only_operands || syntax_.operands_end;
      } else if (is_mode(word)) {
        add("mode");
      } else if (text[1] == '-' || syntax_.whole) {
        word_option(word);
      } else {
        letters(word);
      }
    }
    return std::move(split_);
  }

 private:
  void add(std::string name, Argument value = {}) {
    split_.options.push_back({std::move(name), std::move(value)});
  }

  Argument next() { return at_ + 1 < words_.size() ? words_[++at_] : Argument{}; }

  static Argument tail(const Argument& word, std::size_t from) {
    Argument value = word;
    value.text = value.text.substr(std::min(from, value.text.size()));
    return value;
  }

  bool is_mode(const Argument& word) const {
    return !syntax_.mode.empty() && word.is_known() &&
           word.text.find_first_not_of(syntax_.mode, 1) == std::string::npos;
  }

  // --out is --output.
  std::string whole_name(std::string name) const {
    constexpr std::size_t kShortest = 4;
    if (!syntax_.abbreviates || name.size() < kShortest) return name;
    for (const std::string_view list : {syntax_.values, syntax_.attached}) {
      for (const std::string_view known : words_of(list)) {
        if (known.starts_with(name)) return std::string(known);
      }
    }
    return name;
  }

  void word_option(const Argument& word) {
    const std::size_t sign = word.text.find('=');
    const std::string name = whole_name(word.text.substr(0, sign));
    if (sign != std::string::npos) return add(name, tail(word, sign + 1));
    if (is_listed(syntax_.values, name)) return add(name, next());
    add(name);
  }

  void letters(const Argument& word) {
    for (std::size_t i = 1; i < word.text.size(); ++i) {
      const std::string name = {'-', word.text[i]};
      if (is_listed(syntax_.attached, name)) return add(name, tail(word, i + 1));
      if (!is_listed(syntax_.values, name)) {
        add(name);
        continue;
      }
      const bool is_here = i + 1 < word.text.size() || !word.is_known();
      return add(name, is_here ? tail(word, i + 1) : next());
    }
  }

  std::span<const Argument> words_;
  const Syntax& syntax_;
  std::size_t at_ = 0;
  Split split_;
};

}  // namespace

bool Split::has(std::string_view list) const {
  return std::ranges::any_of(options, [&](const Option& one) { return is_listed(list, one.name); });
}

Arguments Split::values(std::string_view list) const {
  Arguments found;
  for (const Option& one : options) {
    if (is_listed(list, one.name)) found.push_back(one.value);
  }
  return found;
}

Split split(std::span<const Argument> words, const Syntax& syntax) { return Splitter(words, syntax).take(); }

}  // namespace leasehold::shell
