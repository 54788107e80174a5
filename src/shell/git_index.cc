#include "shell/git_index.h"

#include <cstdint>

namespace leasehold::shell {
namespace {

constexpr std::size_t kHash = 20;
constexpr std::size_t kModeAt = 24;  // In an entry, behind times and where the file is.
constexpr std::size_t kFlagsAt = 40 + kHash;
constexpr std::uint32_t kFolder = 0040000;  // The mode of what a sparse index leaves out.

std::uint32_t number(std::string_view text, std::size_t at, std::size_t bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(text[at + i]);
  return value;
}

class Entries {
 public:
  Entries(std::string_view rest, std::uint32_t version) : rest_(rest), version_(version) {}

  // False: this is no entry.
  bool next() {
    if (rest_.size() < kFlagsAt + 2 || number(rest_, kModeAt, 4) == kFolder) return false;
    const bool is_extended = (number(rest_, kFlagsAt, 2) & 0x4000) != 0;
    std::size_t at = kFlagsAt + (is_extended ? 4 : 2);
    std::string before;
    if (version_ == 4) {
      const auto cut = cut_off(at);
      if (!cut || *cut > path_.size()) return false;
      before = path_.substr(0, path_.size() - *cut);
    }
    const std::size_t end = rest_.find('\0', at);
    if (end == std::string_view::npos) return false;
    std::string path = before + std::string(rest_.substr(at, end - at));
    if (path < path_ || path.empty()) return false;
    path_ = std::move(path);
    const std::size_t length = version_ == 4 ? end + 1 : (end + 8) / 8 * 8;
    if (length > rest_.size()) return false;
    rest_.remove_prefix(length);
    return true;
  }

  const std::string& path() const { return path_; }
  std::string_view rest() const { return rest_; }

 private:
  // How much of the path before is not of this one: a number of seven bits in each byte.
  std::optional<std::size_t> cut_off(std::size_t& at) const {
    std::size_t value = 0;
    for (int i = 0; i < 4 && at < rest_.size(); ++i) {
      const auto byte = static_cast<unsigned char>(rest_[at++]);
      value = (i == 0 ? 0 : (value + 1) << 7) | (byte & 0x7fU);
      if ((byte & 0x80U) == 0) return value;
    }
    return std::nullopt;
  }

  std::string_view rest_;
  const std::uint32_t version_;
  std::string path_;
};

// Extensions up to the hash at the end, and none that refers to another index.
bool is_end(std::string_view rest) {
  while (rest.size() > kHash) {
    if (rest.size() < 8 || rest.starts_with("link")) return false;
    const std::size_t length = 8 + std::size_t{number(rest, 4, 4)};
    if (length > rest.size()) return false;
    rest.remove_prefix(length);
  }
  return rest.size() == kHash;
}

}  // namespace

std::optional<std::set<std::string, std::less<>>> paths_in_index(std::string_view index) {
  constexpr std::size_t kHeader = 12;
  if (index.size() < kHeader + kHash || !index.starts_with("DIRC")) return std::nullopt;
  const std::uint32_t version = number(index, 4, 4);
  if (version < 2 || version > 4) return std::nullopt;
  std::set<std::string, std::less<>> paths;
  Entries entries(index.substr(kHeader), version);
  for (std::uint32_t left = number(index, 8, 4); left > 0; --left) {
    if (!entries.next()) return std::nullopt;
    paths.insert(paths.end(), entries.path());
  }
  if (!is_end(entries.rest())) return std::nullopt;
  return paths;
}

}  // namespace leasehold::shell
