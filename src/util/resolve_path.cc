#include "util/resolve_path.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <optional>

#include "util/path_text.h"

namespace leasehold {
namespace {

// The kernel's own limit (path_resolution(7)): what we call a loop is a loop for every program.
constexpr int kLinksMax = 40;

enum class Entry { link, other, missing };

class Walk {
 public:
  explicit Walk(std::string_view base) : resolved_(base == "/" ? "" : base) {}

  std::expected<ResolvedPath, std::errc> follow(std::string_view path) {
    std::string pending(path);
    std::string_view rest = pending;
    while (const auto segment = next_segment(rest)) {
      if (*segment == ".") continue;
      if (*segment == "..") {
        leave();
        continue;
      }
      const auto entry = enter(*segment);
      if (!entry) return std::unexpected(entry.error());
      if (*entry != Entry::link) continue;

      if (++links_ > kLinksMax) return std::unexpected(std::errc::too_many_symbolic_link_levels);
      if (target_.front() == '/') {
        resolved_.clear();
      } else {
        leave();
      }
      // The target is walked before what followed the link. `rest` still points into the old text.
      pending = std::string(target_) + "/" + std::string(rest);
      rest = pending;
    }
    return ResolvedPath{resolved_.empty() ? "/" : resolved_, !missing_from_};
  }

 private:
  void leave() {
    resolved_.resize(resolved_.empty() ? 0 : resolved_.rfind('/'));
    if (missing_from_ && resolved_.size() <= *missing_from_) missing_from_.reset();
  }

  std::expected<Entry, std::errc> enter(std::string_view segment) {
    const std::size_t before = resolved_.size();
    resolved_ += '/';
    resolved_ += segment;
    if (missing_from_) return Entry::missing;

    const ssize_t length = ::readlink(resolved_.c_str(), buffer_.data(), buffer_.size());
    if (length > 0) {
      target_ = {buffer_.data(), static_cast<std::size_t>(length)};
      return Entry::link;
    }
    if (length == 0 || errno == EINVAL) return Entry::other;  // It is there, and not a link.
    if (errno != ENOENT && errno != ENOTDIR) return std::unexpected(static_cast<std::errc>(errno));
    missing_from_ = before;
    return Entry::missing;
  }

  std::string resolved_;                     // Empty for "/".
  std::optional<std::size_t> missing_from_;  // Length of the part of resolved_ that exists, if not all does.
  int links_ = 0;
  std::array<char, PATH_MAX> buffer_;
  std::string_view target_;  // Of the link entered last; in buffer_.
};

}  // namespace

std::expected<ResolvedPath, std::errc> resolve_path(std::string_view base, std::string_view path) {
  return Walk(base).follow(path);
}

}  // namespace leasehold
