#include "cli/when.h"

#include <fmt/format.h>

#include "util/duration_text.h"
#include "util/rfc3339.h"
#include "util/utf8.h"
#include "util/wall_now.h"

namespace leasehold {

Result<WallTime> parse_when(std::string_view text, std::string_view option) {
  if (const auto moment = parse_rfc3339(text)) return *moment;
  if (const auto ago = parse_duration(text)) {
    return wall_now() - *ago;
  }
  return fail(Code::invalid_argument,
              fmt::format("--{} is {}; give how long ago, such as 90s or 1h, or a moment, such as "
                          "2026-11-15T08:00:00Z.",
                          option, in_quotes(text)));
}

}  // namespace leasehold
