// lease knows no etcd: it becomes lease-etcd, which is the same program with that store.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <string>
#include <vector>

#include "cli/input.h"
#include "open/etcd.h"
#include "util/read_file.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

constexpr std::size_t kArgumentsMax = std::size_t{8} << 20;

std::vector<std::string> own_arguments() {
  std::vector<std::string> words;
  const std::string all = read_file("/proc/self/cmdline", kArgumentsMax).value_or("");
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find('\0', begin), all.size());
    words.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// What was read of standard input is there to be read again.
bool give_input_back() {
  const std::string& text = input_read();
  if (text.empty()) return true;
  const int file = ::memfd_create("input", 0);
  if (file < 0) return false;
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = ::write(file, rest.data(), rest.size());
    if (written <= 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::lseek(file, 0, SEEK_SET) == 0 && ::dup2(file, STDIN_FILENO) == STDIN_FILENO;
}

}  // namespace

// Nothing was done yet but reading settings and input, so starting over loses nothing.
Result<std::unique_ptr<Store>> open_etcd(const std::string&, const StorePlace&) {
  char self[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof self);
  if (length <= 0)
    return fail(Code::config_error, "Cannot find out where lease is, to start lease-etcd beside it.");
  const std::string program = std::string(self, static_cast<std::size_t>(length)) + "-etcd";
  if (!give_input_back()) return fail(Code::unavailable, "Cannot hand standard input on to lease-etcd.");
  std::vector<std::string> words = own_arguments();
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  return fail(
      Code::config_error,
      fmt::format("Leases in etcd need the program {}, which cannot be started: {}. Install it beside lease; "
                  "building it needs gRPC and -DLEASEHOLD_ETCD=ON.",
                  in_sentence(program), std::strerror(errno)));
}

}  // namespace leasehold
