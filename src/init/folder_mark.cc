#include "init/folder_mark.h"

#include <filesystem>

#include "util/path_text.h"

namespace leasehold {

MarkedText without_mark(std::string_view text) {
  std::size_t end = text.size();
  while (end > 1 && text[end - 1] == '\n' && text[end - 2] == '\n') --end;
  return {std::string(text.substr(0, end)), std::string(text.substr(end))};
}

std::string mark_for(const std::string& path, int own_folders) {
  std::error_code ignored;
  std::string_view folder = parent_of(path);
  for (; own_folders > 0 && !std::filesystem::exists(folder, ignored); --own_folders)
    folder = parent_of(folder);
  const bool is_empty = own_folders > 0 && std::filesystem::is_empty(folder, ignored) && !ignored;
  return std::string(is_empty ? static_cast<std::size_t>(own_folders) : 0, '\n');
}

}  // namespace leasehold
