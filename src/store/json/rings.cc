#include "store/json/rings.h"

#include "store/json/stored_records.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// Whoever was told so long ago did not look when it was; what it is told now must be newer.
constexpr auto kHeardFor = 1s;

constexpr std::size_t kMost = 10'000;

// A grant of that much text is better read by the one it is for than sent to all who hear of it.
constexpr std::size_t kGrantMax = 65'536;

void add_part(std::string& text, char kind, std::string_view part) {
  text += kind;
  text += part;
  text += '\0';
}

// Calls take(kind, part) for each.
template <class Take>
void read_parts(std::string_view text, const Take& take) {
  for (std::size_t end = 0; (end = text.find('\0')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    if (end > 0) take(text.front(), text.substr(1, end - 1));
  }
}

}  // namespace

std::string to_text(const Ring& ring) {
  std::string text;
  if (ring.ticket) {
    if (!ring.origin.empty()) add_part(text, 'o', ring.origin);
    add_part(text, 't', to_json(*ring.ticket));
  }
  for (const Lease& lease : ring.leases) {
    if (text.size() <= kGrantMax) add_part(text, 'l', to_json(lease));
  }
  if (text.size() > kGrantMax) text.clear();
  if (ring.next.owner.agent_id.empty()) return text;
  add_part(text, 'w', ring.next.workspace);
  add_part(text, 'p', ring.next.path);
  add_part(text, 's', ring.next.owner.session_id);
  add_part(text, 'a', ring.next.owner.agent_id);
  for (const LeaseId& id : ring.next.leases) add_part(text, 'i', id.text);
  return text;
}

Ring ring_from(std::string_view text) {
  Ring ring;
  bool is_whole = true;
  read_parts(text, [&](char kind, std::string_view part) {
    if (kind == 'o') ring.origin = part;
    if (kind == 't') ring.ticket = record_from_json<Ticket>(part);
    if (kind != 'l') return;
    if (auto lease = record_from_json<Lease>(part)) {
      ring.leases.push_back(std::move(*lease));
    } else {
      is_whole = false;
    }
  });
  if (!is_whole) ring.ticket.reset();
  ring.next = next_in(text);
  return ring;
}

NextInLine next_in(std::string_view text) {
  NextInLine next;
  read_parts(text, [&](char kind, std::string_view part) {
    if (kind == 'w') next.workspace = part;
    if (kind == 'p') next.path = part;
    if (kind == 's') next.owner.session_id = part;
    if (kind == 'a') next.owner.agent_id = part;
    if (kind == 'i') next.leases.push_back({std::string(part)});
  });
  return next;
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
  return ring;
}

void Rings::note_next(const NextInLine& next) {
  if (next.owner.agent_id.empty()) return;
  const std::lock_guard lock(mutex_);
  if (next_.size() > kMost) next_.clear();
  next_[{next.workspace, next.path}] = next;
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
