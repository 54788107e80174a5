#include "store/json/rings.h"

#include "store/json/packed.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// Whoever was told so long ago did not look when it was; what it is told now must be newer.
constexpr auto kHeardFor = 1s;

constexpr std::size_t kMost = 10'000;

// A grant of that much text is better read by the one it is for than sent to all who hear of it.
constexpr std::size_t kGrantMax = 65'536;

}  // namespace

std::string to_text(const Ring& ring) {
  std::string text(1, packed::kLayout);
  packed::Writer write(text);
  write(ring.next, ring.origin, ring.ticket.has_value());
  if (!ring.ticket) return text;
  const std::size_t size = text.size();
  write(*ring.ticket);
  for (auto lease = ring.leases.begin(); lease != ring.leases.end() && text.size() <= kGrantMax; ++lease)
    write(true, *lease);
  write(false);
  if (text.size() <= kGrantMax) return text;
  text.resize(size);
  text.back() = 0;  // There is no ticket.
  return text;
}

Ring ring_from(std::string_view text) {
  if (text.empty() || text.front() != packed::kLayout) return {};
  packed::Reader read(text.substr(1));
  Ring ring;
  bool has_more = false;
  read(ring.next, ring.origin, has_more);
  if (has_more) {
    read(ring.ticket.emplace(), has_more);
    for (; has_more; read(has_more)) read(ring.leases.emplace_back());
  }
  return read.is_done() ? ring : Ring();
}

void Rings::note(const GroupId& ticket, std::string text, std::int64_t revision) {
  const std::lock_guard lock(mutex_);
  heard_[ticket.text] = {std::move(text), revision, Clock::now()};
}

std::optional<Ring> Rings::take(const GroupId& ticket) {
  Heard heard;
  {
    const std::lock_guard lock(mutex_);
    const auto found = heard_.find(ticket.text);
    if (found == heard_.end()) return std::nullopt;
    heard = std::move(found->second);
    heard_.erase(found);
    if (heard.revision < told_) return std::nullopt;
    told_ = heard.revision;
  }
  if (Clock::now() - heard.at > kHeardFor) return std::nullopt;
  Ring ring = ring_from(heard.text);
  ring.revision = heard.revision;
  if (ring.next.owner.agent_id.empty()) return ring;
  const std::lock_guard lock(mutex_);
  if (next_.size() > kMost) next_.clear();
  next_[{ring.next.workspace, ring.next.path}] = ring.next;
  return ring;
}

void Rings::forget(const GroupId& ticket) {
  const std::lock_guard lock(mutex_);
  heard_.erase(ticket.text);
}

NextInLine Rings::take_next(const std::string& workspace, const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = next_.find({workspace, path});
  if (found == next_.end()) return {};
  NextInLine next = std::move(found->second);
  next_.erase(found);
  return next;
}

}  // namespace leasehold
