#include "cli/event_text.h"

#include <fmt/format.h>

#include "cli/render_text.h"
#include "util/rfc3339.h"
#include "util/utf8.h"

namespace leasehold {

std::string event_text(const Event& event, const Output& out) {
  const std::string what =
      event.path.empty() ? fmt::format("{} leases", event.count) : scope_text(event.path, event.subtree);
  std::string line =
      fmt::format("{}  {:<10} {}  {}", out.painted(Paint::dim, to_rfc3339(event.wall)), word(event.type),
                  out.painted(Paint::bold, what), in_sentence(event.owner.agent_id));
  if (!event.path.empty()) line += fmt::format("  {}", word(event.mode));
  if (event.cause != EndCause::none) line += fmt::format("  {}", word(event.cause));
  if (!event.actor.empty()) line += fmt::format("  by {}", in_sentence(event.actor));
  if (!event.reason.empty()) line += fmt::format("  {}", in_quotes(event.reason));
  return line + "\n";
}

}  // namespace leasehold
