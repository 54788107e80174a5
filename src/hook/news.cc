#include "hook/news.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "hook/reason.h"
#include "hook/resumed.h"
#include "model/notice_text.h"

namespace leasehold {
namespace {

bool is_news(const Notice& notice, Time now) {
  if (is_loss(notice, now)) return false;
  if (!notice.received) return true;
  return notice.actor != kHookAgent && notice.reason != note_of_stop({notice.actor, notice.owner.session_id});
}

}  // namespace

std::string news(const GateAnswer& answer) {
  constexpr std::size_t kShown = 3;
  std::vector<Notice> told = answer.notices;
  std::erase_if(told, [&](const Notice& notice) { return !is_news(notice, answer.at); });
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, told.size()); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : " ", notice_text(told[i], answer.wall));
  if (told.size() > kShown) text += fmt::format(" So are {} others (lease status).", told.size() - kShown);
  return text;
}

}  // namespace leasehold
