#include "cli/beside.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "util/own_program.h"
#include "util/utf8.h"

namespace leasehold {

std::string become_program_beside(std::string_view name, std::vector<std::string> words) {
  std::string path = own_program();
  if (path.empty()) return fmt::format("{} cannot be found: where lease itself is cannot be told", name);
  path = path.substr(0, path.rfind('/') + 1) + std::string(name);
  words.insert(words.begin(), path);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(path.c_str(), arguments.data());
  return fmt::format("{} cannot be started: {}", in_sentence(path), std::strerror(errno));
}

}  // namespace leasehold
