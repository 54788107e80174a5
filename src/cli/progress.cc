#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "hook/reason.h"
#include "util/duration_text.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// A longer line would wrap, and only its last part be wiped.
std::size_t columns() {
  winsize size{};
  constexpr std::size_t kUsual = 80;
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1U : kUsual;
}

void show(std::string_view text) { write_error(fmt::format("\r\x1b[K{}", text)); }

void tell(const std::stop_token& stop, const std::function<std::string()>& what) {
  const auto start = std::chrono::steady_clock::now();
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  bool is_shown = false;
  while (!stopped.wait_for(lock, stop, 1s, [&] { return stop.stop_requested(); })) {
    const auto waited =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
    show(shortened(fmt::format("{} ({})", what(), duration_text(waited)), columns()));
    is_shown = true;
  }
  if (is_shown) show({});
}

}  // namespace

Progress::Progress(const Output& out, std::function<std::string()> what) {
  if (!out.shows_progress()) return;
  thread_ = std::jthread([what = std::move(what)](const std::stop_token& stop) { tell(stop, what); });
}

}  // namespace leasehold
