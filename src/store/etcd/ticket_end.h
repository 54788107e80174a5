// What stands beside a ticket: how it ended, as JSON (nothing: it waits), and, behind a NUL, what its bell
// was rung with (nothing: it was not).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace leasehold::etcd {

inline std::string_view how_it_ended(std::string_view value) { return value.substr(0, value.find('\0')); }

inline std::optional<std::string_view> rung_with(std::string_view value) {
  const std::size_t nul = value.find('\0');
  if (nul == std::string_view::npos) return std::nullopt;
  return value.substr(nul + 1);
}

inline std::string rung(std::string_view how, std::string_view ring) {
  std::string value(how);
  value += '\0';
  value += ring;
  return value;
}

}  // namespace leasehold::etcd
