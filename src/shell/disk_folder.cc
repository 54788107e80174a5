#include "shell/disk_folder.h"

#include <algorithm>
#include <filesystem>

#include "util/read_file.h"
#include "util/resolve_path.h"

namespace leasehold::shell {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNamesMax = 5000;
constexpr std::size_t kTextMax = std::size_t{1} << 20;

}  // namespace

bool DiskFolder::exists(const std::string& path) const {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

bool DiskFolder::is_folder(const std::string& path) const {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool DiskFolder::is_link(const std::string& path) const {
  std::error_code ignored;
  return fs::is_symlink(path, ignored);
}

std::string DiskFolder::resolved(const std::string& path) const {
  const auto found = resolve_path("/", path);
  return found ? found->path : path;
}

std::optional<std::vector<std::string>> DiskFolder::names(const std::string& folder) const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (names.size() == kNamesMax) return std::nullopt;
    names.push_back(entry->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

std::optional<std::string> DiskFolder::text(const std::string& path) const {
  // A pipe would keep us waiting.
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  auto text = read_file(path, kTextMax);
  if (!text) return std::nullopt;
  return std::move(*text);
}

}  // namespace leasehold::shell
