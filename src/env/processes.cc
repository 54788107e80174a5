#include "env/processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "util/descriptor.h"
#include "util/number.h"
#include "util/path_text.h"

namespace leasehold {
namespace {

// A stat file has some 350 bytes. A command line may have two million, of which the program and its
// script come first.
constexpr std::size_t kReadMax = 4096;

// As much of a file as fits. /proc may give it in pieces.
std::expected<std::string_view, std::errc> read_start(const std::string& path, std::span<char> buffer) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return std::unexpected(static_cast<std::errc>(errno));
  std::size_t size = 0;
  while (size < buffer.size()) {
    const ssize_t count = ::read(file.number(), buffer.data() + size, buffer.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::unexpected(static_cast<std::errc>(errno));
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  return std::string_view(buffer.data(), size);
}

// The fields behind the name, found by the numbers that proc(5) gives them.
class Fields {
 public:
  explicit Fields(std::string_view text) {
    while (auto field = next_word(text)) {
      if (count_ == fields_.size()) break;
      fields_[count_++] = *field;
    }
  }

  std::string_view operator[](std::size_t number) const {
    const std::size_t index = number - kFirst;
    return index < count_ ? fields_[index] : std::string_view();
  }

 private:
  static constexpr std::size_t kFirst = 3;
  static constexpr std::size_t kLast = 22;

  static std::optional<std::string_view> next_word(std::string_view& text) {
    const std::size_t begin = text.find_first_not_of(" \n");
    if (begin == std::string_view::npos) return std::nullopt;
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    text.remove_prefix(end);
    return word;
  }

  std::array<std::string_view, kLast - kFirst + 1> fields_;
  std::size_t count_ = 0;
};

// Start times are counted in ticks of the kernel's interface, whatever its own clock does.
std::chrono::nanoseconds clock_tick() {
  static const long kTicksASecond = std::max(1L, ::sysconf(_SC_CLK_TCK));
  return std::chrono::nanoseconds(std::chrono::seconds(1)) / kTicksASecond;
}

// A start time as the machine has it, without what a time namespace adds. Nothing: that cannot be told
// exactly, and a start time that is off by one belongs to another process.
std::optional<std::uint64_t> without_offset(std::uint64_t shown, std::chrono::nanoseconds offset) {
  if (offset.count() == 0) return shown;
  if (offset % clock_tick() != std::chrono::nanoseconds(0)) return std::nullopt;
  const std::int64_t ticks = offset / clock_tick();
  // What started before the shifted time's zero is shown as a huge number, rounded in another way.
  const auto signed_shown = static_cast<std::int64_t>(shown);
  if (shown > static_cast<std::uint64_t>(INT64_MAX / clock_tick().count()) || signed_shown < ticks) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(signed_shown - ticks);
}

}  // namespace

bool ProcessStat::has_ended() const {
  const bool ended = state == 'Z' || state == 'X' || state == 'x';
  return ended && threads <= 1;
}

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // A name may contain anything, ") R 1" as well; what follows the last ")" is the kernel's.
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  if (open == 0 || text[open - 1] != ' ') return std::nullopt;

  const Fields fields(text.substr(close + 1));
  const auto pid = parse_number<pid_t>(text.substr(0, open - 1));
  const auto parent = parse_number<pid_t>(fields[4]);
  const auto session = parse_number<pid_t>(fields[6]);
  const auto terminal = parse_number<std::int64_t>(fields[7]);
  const auto threads = parse_number<std::int64_t>(fields[20]);
  const auto start_time = parse_number<std::uint64_t>(fields[22]);
  if (!pid || *pid <= 0 || fields[3].size() != 1) return std::nullopt;
  if (!parent || !session || !terminal || !threads || !start_time) return std::nullopt;
  return ProcessStat{.pid = *pid,
                     .comm = std::string(text.substr(open + 1, close - open - 1)),
                     .state = fields[3].front(),
                     .parent = *parent,
                     .session = *session,
                     .terminal = *terminal,
                     .threads = *threads,
                     .start_time = *start_time};
}

bool ProcFolder::is_own() const {
  std::array<char, 16> target;
  const ssize_t size = ::readlink(join(root_, "self").c_str(), target.data(), target.size());
  if (size <= 0) return false;
  return parse_number<pid_t>(std::string_view(target.data(), static_cast<std::size_t>(size))) == ::getpid();
}

std::expected<ProcessStat, std::errc> ProcFolder::stat(pid_t pid) const {
  std::array<char, kReadMax> buffer;
  const auto text = read_start(fmt::format("{}/{}/stat", root_, pid), buffer);
  if (!text) {
    const bool is_gone = text.error() == std::errc::no_such_file_or_directory;
    return std::unexpected(is_gone ? std::errc::no_such_process : text.error());
  }
  auto stat = parse_process_stat(*text);
  if (!stat || stat->pid != pid) return std::unexpected(std::errc::bad_message);
  return *std::move(stat);
}

std::vector<std::string> ProcFolder::arguments(pid_t pid) const {
  std::array<char, kReadMax> buffer;
  const auto text = read_start(fmt::format("{}/{}/cmdline", root_, pid), buffer);
  std::vector<std::string> arguments;
  for (std::string_view rest = text.value_or(""); !rest.empty();) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    arguments.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return arguments;
}

std::optional<Process> identity(const Machine& machine, const ProcessStat& stat) {
  const auto start_time = without_offset(stat.start_time, machine.boottime_offset);
  if (!start_time || machine.boot_id.empty() || machine.pid_namespace == 0) return std::nullopt;
  return Process{.machine_id = machine.machine_id,
                 .boot_id = machine.boot_id,
                 .pid_namespace = machine.pid_namespace,
                 .pid = stat.pid,
                 .start_time = *start_time};
}

std::optional<Process> own_process(const Machine& machine) { return process_with_pid(machine, ::getpid()); }

std::optional<Process> process_with_pid(const Machine& machine, pid_t pid, const ProcFolder& proc) {
  if (pid <= 0 || !proc.is_own()) return std::nullopt;
  const auto stat = proc.stat(pid);
  if (!stat || stat->has_ended()) return std::nullopt;
  return identity(machine, *stat);
}

}  // namespace leasehold
