#include "cli/beside.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "util/utf8.h"

namespace leasehold {

std::string become_program_beside(std::string_view name, std::vector<std::string> words) {
  char self[PATH_MAX] = {};
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return fmt::format("{} cannot be found: where lease itself is cannot be told", name);
  std::string path(self, static_cast<std::size_t>(length));
  path = path.substr(0, path.rfind('/') + 1) + std::string(name);
  words.insert(words.begin(), path);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(path.c_str(), arguments.data());
  return fmt::format("{} cannot be started: {}", in_sentence(path), std::strerror(errno));
}

}  // namespace leasehold
