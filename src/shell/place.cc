#include "shell/place.h"

#include "util/path_text.h"

namespace leasehold::shell {

std::string placed(std::string_view folder, std::string_view path) {
  std::string result(path.starts_with('/') ? "/" : folder);
  while (const auto segment = next_segment(path)) {
    if (*segment != ".") result = join(result, *segment);
  }
  return result;
}

std::string simplified(std::string_view path) {
  std::string result = "/";
  while (const auto segment = next_segment(path)) {
    if (*segment == "..") {
      result = parent_of(result);
    } else if (*segment != ".") {
      result = join(result, *segment);
    }
  }
  return result;
}

std::string_view last_name(std::string_view path) {
  std::string_view last;
  while (const auto segment = next_segment(path)) last = *segment;
  return last;
}

}  // namespace leasehold::shell
