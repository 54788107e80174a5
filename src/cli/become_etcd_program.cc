// lease and lease-serve know no etcd: each becomes another one, which is the same program with that store.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "cli/beside.h"
#include "cli/input.h"
#include "open/etcd.h"
#include "util/read_file.h"
#include "util/write_all.h"

namespace leasehold {
namespace {

constexpr std::size_t kArgumentsMax = std::size_t{8} << 20;

// Without the program's name.
std::vector<std::string> own_arguments() {
  std::vector<std::string> words;
  const std::string all = read_file("/proc/self/cmdline", kArgumentsMax).value_or("");
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find('\0', begin), all.size());
    words.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  if (!words.empty()) words.erase(words.begin());
  return words;
}

// What was read of standard input is there to be read again.
bool give_input_back() {
  const std::string& text = input_read();
  if (text.empty()) return true;
  const int file = ::memfd_create("input", 0);
  return write_all(file, text) == std::errc() && ::lseek(file, 0, SEEK_SET) == 0 &&
         ::dup2(file, STDIN_FILENO) == STDIN_FILENO;
}

bool stays = false;

}  // namespace

void stay_this_program() { stays = true; }

// Nothing was done yet but reading settings and input, so starting over loses nothing.
Result<std::unique_ptr<Store>> open_etcd(const std::string&, const StorePlace&) {
  if (stays) {
    return fail(
        Code::config_error,
        "This program was started for another store than etcd, and has begun. Start it again where the "
        "settings name that store.");
  }
  if (!give_input_back())
    return fail(Code::unavailable, "Cannot hand standard input on to " LEASEHOLD_WITH_ETCD ".");
  return fail(
      Code::config_error,
      fmt::format("Leases in etcd need a program of their own: {}. Install it beside lease; building it "
                  "needs gRPC and -DLEASEHOLD_ETCD=ON.",
                  become_program_beside(LEASEHOLD_WITH_ETCD, own_arguments())));
}

}  // namespace leasehold
