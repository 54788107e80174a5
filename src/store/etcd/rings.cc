#include "store/etcd/rings.h"

#include "store/json/stored_records.h"

namespace leasehold::etcd {
namespace {

using namespace std::chrono_literals;

// Whoever was told so long ago did not look when it was; what it is told now must be newer.
constexpr auto kHeardFor = 1s;

constexpr std::size_t kMost = 10'000;

void add_part(std::string& text, char kind, std::string_view part) {
  text += kind;
  text += part;
  text += '\0';
}

}  // namespace

std::string to_text(const Ring& ring) {
  std::string text;
  if (ring.ticket) add_part(text, 't', to_json(*ring.ticket));
  for (const Lease& lease : ring.leases) add_part(text, 'l', to_json(lease));
  if (ring.next.owner.empty()) return text;
  add_part(text, 'w', ring.next.workspace);
  add_part(text, 'p', ring.next.path);
  add_part(text, 'o', ring.next.owner);
  for (const LeaseId& id : ring.next.leases) add_part(text, 'i', id.text);
  return text;
}

Ring ring_from(std::string_view text) {
  Ring ring;
  bool is_whole = true;
  for (std::size_t end = 0; (end = text.find('\0')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    if (end == 0) continue;
    const std::string_view part = text.substr(1, end - 1);
    switch (text.front()) {
      case 't':
        ring.ticket = record_from_json<Ticket>(part);
        break;
      case 'l':
        if (auto lease = record_from_json<Lease>(part)) {
          ring.leases.push_back(std::move(*lease));
        } else {
          is_whole = false;
        }
        break;
      case 'w':
        ring.next.workspace = part;
        break;
      case 'p':
        ring.next.path = part;
        break;
      case 'o':
        ring.next.owner = part;
        break;
      case 'i':
        ring.next.leases.push_back({std::string(part)});
        break;
      default:
        break;
    }
  }
  if (!is_whole) ring.ticket.reset();
  return ring;
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
  }
  if (Clock::now() - heard.at > kHeardFor) return std::nullopt;
  Ring ring = ring_from(heard.text);
  ring.revision = heard.revision;
  return ring;
}

void Rings::note_next(const NextInLine& next) {
  if (next.owner.empty()) return;
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

}  // namespace leasehold::etcd
