// TOML documents as plain values. Each keeps its line, so that whoever reads it can say where it is wrong.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace leasehold {

struct TomlValue;
struct TomlEntry;

using TomlArray = std::vector<TomlValue>;

struct TomlTable {
  std::vector<TomlEntry> entries;

  // Nothing of that name: null.
  const TomlValue* find(std::string_view key) const;
};

struct TomlDate {};  // A date or a time. Nothing here uses one.

struct TomlValue {
  std::variant<bool, std::int64_t, double, std::string, TomlDate, TomlArray, TomlTable> value;
  unsigned line = 0;

  // The value, if it is of this type; else null.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
};

struct TomlEntry {
  std::string key;
  TomlValue value;
};

struct TomlError {
  unsigned line = 0;
  std::string what;
};

// Total: any bytes give a table or an error.
std::expected<TomlTable, TomlError> parse_toml(std::string_view text);

}  // namespace leasehold
