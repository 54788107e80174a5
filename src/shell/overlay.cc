#include "shell/overlay.h"

#include <algorithm>

#include "shell/place.h"
#include "util/path_text.h"
#include "util/unique.h"

namespace leasehold::shell {

void Overlay::add_file(const std::string& path) { files_.insert(simplified(path)); }
void Overlay::add_folder(const std::string& path) { folders_.insert(simplified(path)); }
bool Overlay::is_added(const std::string& path) const { return files_.contains(simplified(path)); }

bool Overlay::exists(const std::string& path) const {
  return files_.contains(simplified(path)) || is_folder(path) || below_.exists(path);
}

bool Overlay::is_folder(const std::string& path) const {
  return folders_.contains(simplified(path)) || below_.is_folder(path);
}

std::optional<std::vector<std::string>> Overlay::names(const std::string& folder) const {
  auto names = below_.names(folder);
  if (!names) return names;
  const std::string place = simplified(folder);
  for (const auto* added : {&files_, &folders_}) {
    for (const std::string& path : *added) {
      if (parent_of(path) == place) add_unique(*names, std::string(last_name(path)));
    }
  }
  std::ranges::sort(*names);
  return names;
}

// A file that the line itself writes has a text that nobody knows yet.
std::optional<std::string> Overlay::text(const std::string& path) const {
  if (files_.contains(simplified(path))) return std::nullopt;
  return below_.text(path);
}

}  // namespace leasehold::shell
