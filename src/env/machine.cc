#include "env/machine.h"

#include <sys/stat.h>

#include <algorithm>
#include <string_view>

#include "util/number.h"
#include "util/path_text.h"
#include "util/read_file.h"

namespace leasehold {
namespace {

constexpr std::size_t kIdFileMax = 4096;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Takes the next word off the front of `text`; empty: there is none.
std::string_view take_word(std::string_view& text) {
  const auto* const begin = std::ranges::find_if_not(text, is_blank);
  const auto* const end = std::find_if(begin, text.end(), is_blank);
  const std::string_view word(begin, end);
  text = std::string_view(end, text.end());
  return word;
}

// An id of 32 hexadecimal digits, with or without dashes. A file may hold something else: "uninitialized"
// is what /etc/machine-id says in an image that was never booted, and it says so on every such machine.
std::string read_id(const std::string& path) {
  const auto text = read_file(path, kIdFileMax);
  if (!text) return "";
  std::string_view rest = *text;
  const std::string_view id = take_word(rest);
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  const auto digits = std::ranges::count_if(id, is_hex);
  const auto dashes = std::ranges::count(id, '-');
  if (digits != 32 || digits + dashes != std::ssize(id)) return "";
  return std::string(id);
}

std::string read_machine_id(const std::string& root) {
  for (const auto* const file : {"etc/machine-id", "var/lib/dbus/machine-id"}) {
    std::string id = read_id(join(root, file));
    if (!id.empty()) return id;
  }
  return "";
}

// A namespace is known by the inode that its file in /proc leads to.
std::uint64_t read_pid_namespace(const std::string& root) {
  struct stat found{};
  return ::stat(join(root, "proc/self/ns/pid").c_str(), &found) == 0 ? found.st_ino : 0;
}

std::int64_t number_in(std::string_view word) { return parse_number<std::int64_t>(word).value_or(0); }

// Lines of a clock's name, seconds and nanoseconds. A kernel without time namespaces has no such file.
std::chrono::nanoseconds read_boottime_offset(const std::string& root) {
  const auto text = read_file(join(root, "proc/self/timens_offsets"), kIdFileMax);
  if (!text) return {};
  std::string_view rest = *text;
  for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
    if (word != "boottime") continue;
    // The kernel's own limit on these offsets; a sum beyond it would not fit.
    constexpr std::int64_t kSecondsMax = 1LL << 33;
    const std::int64_t seconds = std::clamp(number_in(take_word(rest)), -kSecondsMax, kSecondsMax);
    const std::int64_t nanoseconds = std::clamp<std::int64_t>(number_in(take_word(rest)), 0, 999'999'999);
    return std::chrono::seconds(seconds) + std::chrono::nanoseconds(nanoseconds);
  }
  return {};
}

}  // namespace

Machine read_machine(const std::string& root) {
  return {.machine_id = read_machine_id(root),
          .boot_id = read_id(join(root, "proc/sys/kernel/random/boot_id")),
          .pid_namespace = read_pid_namespace(root),
          .boottime_offset = read_boottime_offset(root)};
}

}  // namespace leasehold
