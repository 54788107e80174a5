// Reads JSON that somebody else wrote: a value of the right kind, or a sentence that says which member is
// wrong. For the sources of this folder.
#pragma once

#include <boost/json.hpp>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold::wire {

namespace json = boost::json;

// Thrown by what is not as it should be; never leaves this folder.
struct Malformed {
  std::string what;  // For people.
};

// Members of one object, those that are there. A member that is null is not there.
class Reader {
 public:
  // `where`: how to call it in messages; empty for the document itself.
  explicit Reader(const json::value& value, std::string where = {});

  const json::value* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }

  void get(std::string_view name, std::string& to) const;
  void get(std::string_view name, bool& to) const;
  template <class Number>
    requires std::is_integral_v<Number>
  void get(std::string_view name, Number& to) const {
    const json::value* value = find(name);
    if (value == nullptr) return;
    const auto number = json::try_value_to<Number>(*value);
    if (!number) {
      wrong(name, "a whole number from " + std::to_string(std::numeric_limits<Number>::min()) + " to " +
                      std::to_string(std::numeric_limits<Number>::max()));
    }
    to = *number;
  }
  void get(std::string_view name, std::vector<std::string>& to) const;
  void get(std::string_view name, Token& to) const { get(name, to.value); }
  void get(std::string_view name, Duration& to) const;  // In milliseconds.
  void get(std::string_view name, WallTime& to) const;  // RFC 3339.
  // On the wire people's clocks stand for the store's: a moment is told by its wall time.
  void get(std::string_view name, Time& to) const;
  template <class Tag>
  void get(std::string_view name, Id<Tag>& to) const {
    get(name, to.text);
  }
  template <class T>
  void get(std::string_view name, std::optional<T>& to) const {
    if (has(name)) get(name, to.emplace());
  }
  template <class Enum>
  void get_word(std::string_view name, Enum& to,
                std::string_view words = "one of the words there are for it") const {
    std::string text;
    get(name, text);
    if (!has(name)) return;
    const auto known = from_word<Enum>(text);
    if (!known) wrong(name, words);
    to = *known;
  }
  template <class T, class Read>
  void get_all(std::string_view name, std::vector<T>& to, const Read& read) const {
    const json::value* value = find(name);
    if (value == nullptr) return;
    if (!value->is_array()) wrong(name, "a list");
    for (const json::value& one : value->get_array()) to.push_back(read(one));
  }

  // Complains of a member that nobody asked for: most often it is misspelt.
  void expect_no_others() const;

 private:
  [[noreturn]] void wrong(std::string_view name, std::string_view expected) const;

  const json::object* object_;
  std::string where_;
  mutable std::set<std::string_view> known_;
};

// kForever is told as nothing.
Time from_wall(WallTime wall);

// Total: whatever `value` is, the answer is what `read` makes of it, or invalid_argument.
template <class T, class Read>
Result<T> reading(const Read& read) {
  try {
    return read();
  } catch (const Malformed& malformed) {
    return fail(Code::invalid_argument, malformed.what);
  }
}

}  // namespace leasehold::wire
