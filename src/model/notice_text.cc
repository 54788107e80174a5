#include "model/notice_text.h"

#include <fmt/format.h>

#include "util/duration_text.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

std::string quoted(const std::string& reason, std::string_view before) {
  return reason.empty() ? "" : fmt::format("{}{}", before, in_quotes(reason));
}

}  // namespace

std::string scope_text(const std::string& path, bool subtree) {
  if (!subtree) return in_sentence(path);
  return path == "/" ? "/**" : in_sentence(path) + "/**";
}

std::string notice_text(const Notice& notice, WallTime now) {
  const std::string what = scope_text(notice.path, notice.subtree);
  const std::string who = in_sentence(notice.actor.empty() ? "nobody" : notice.actor);
  if (notice.received) return fmt::format("{} comes from {}{}.", what, who, quoted(notice.reason, ": "));
  if (notice.cause == EndCause::recalled && now < notice.wall) {
    const auto left = std::chrono::ceil<std::chrono::seconds>(notice.wall - now);
    return fmt::format("{} is asked back by {}{}. It ends in {}: release it when you can.", what, who,
                       quoted(notice.reason, ": "), duration_text(left));
  }
  if (notice.cause == EndCause::owner_dead)
    return fmt::format("{} is not yours any more: the process that it hung on has ended.", what);
  if (notice.actor.empty())
    return fmt::format("{} is not yours any more ({}){}.", what, word(notice.cause),
                       quoted(notice.reason, ": "));
  return fmt::format("{} was taken from you by {}{}.", what, who, quoted(notice.reason, ": "));
}

}  // namespace leasehold
