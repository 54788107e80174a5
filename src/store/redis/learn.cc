// What the server answered, as records in the tables. What cannot be read is noted under its key, and is an
// error only for those who need it.
#include <fmt/format.h>

#include "store/json/records_json.h"
#include "store/json/stored_records.h"
#include "store/redis/transaction.h"
#include "util/utf8.h"

namespace leasehold::redis {
namespace {

// What may not be read says nothing of what stands there.
void must_be_permitted(ReplyView answer, const Address& address) {
  if (answer.is_error() && !answer.text().starts_with("WRONGTYPE"))
    throw failure_of(answer.text(), address, "Reading the leases");
}

}  // namespace

void RedisTransaction::learn_owner(const Owner& owner, ReplyView told, ReplyView count) {
  const std::string text = Keys::owner_text(owner);
  const std::string key = keys_.owner(text);
  for (const ReplyView answer : {count, told[0], told[1], told[2]})
    must_be_permitted(answer, connection_.address());
  if (count.is_error()) bad_.emplace(key, "it is of another type");
  held_[key] = static_cast<std::size_t>(count.integer());

  const std::string notices = keys_.notices(text);
  if (told[0].is_error()) bad_.emplace(notices, "it is of another type");
  for (std::size_t i = 0; i < told[0].size(); ++i) {
    const auto notice = record_from_json<Notice>(told[0][i].text());
    if (!notice) {
      bad_.emplace(notices, "one of its values is not a notice");
    } else if (!changed_notices_.contains(notice->id)) {
      tables_.set_notice(notice->id, notice);
    }
  }

  const std::string waits = keys_.waits(owner);
  if (told[1].is_error()) bad_.emplace(waits, "it is of another type");
  std::vector<std::string>& tickets = lists_[waits];
  tickets.clear();
  for (std::size_t i = 0; i < told[1].size(); ++i) tickets.emplace_back(told[1][i].text());

  learn_contentions(keys_.gate(text), told[2]);
}

void RedisTransaction::learn_contentions(const std::string& key, ReplyView found) {
  if (found.is_error()) bad_.emplace(key, "it is of another type");
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto contention = contention_from_json(found[i].text());
    if (!contention) {
      bad_.emplace(key, "one of its values is not a contention");
    } else if (!changed_contentions_.contains({key, contention->path})) {
      tables_.set_contention(contention->owner(), contention->path, contention);
    }
  }
}

// What leads from an index to records: {id, record, ...}. One that cannot be read is passed over here, so
// that it is in nobody's way but those who name it.
void RedisTransaction::learn_pairs(ReplyView pairs, std::size_t first, bool is_protected) {
  for (std::size_t i = first; i + 1 < pairs.size(); i += 2) {
    auto lease = record_from_json<Lease>(pairs[i + 1].text());
    if (lease && lease->id.text == pairs[i].text()) learn_lease(std::move(*lease), is_protected);
  }
}

void RedisTransaction::learn_document(const std::string& key, ReplyView document) {
  if (document.is_nil()) return;
  auto leases = leases_from_document(document.text());
  if (document.is_error() || !leases) {
    bad_.emplace(key, document.is_error() ? "it is of another type" : "its value is not a list of leases");
    return;
  }
  for (Lease& lease : *leases) {
    if (keys_.file(lease.path) != key) {
      bad_.emplace(key, "it is the document of another path");
      return;
    }
  }
  for (Lease& lease : *leases) learn_lease(std::move(lease), true);
}

// The tickets of all queues of one answer: {id, ticket, ...}. Returns the ids of those that cannot be read.
std::set<std::string_view> RedisTransaction::learn_tickets(ReplyView pairs) {
  std::set<std::string_view> unreadable;
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    auto ticket = record_from_json<Ticket>(pairs[i + 1].text());
    if (ticket && ticket->id.text == pairs[i].text()) {
      // Its queue changes with it, and is watched.
      learn_ticket(std::move(*ticket), true);
    } else if (!pairs[i + 1].is_nil()) {
      unreadable.insert(pairs[i].text());
    }
  }
  return unreadable;
}

void RedisTransaction::learn_queue(const std::string& key, ReplyView queue,
                                   const std::set<std::string_view>& unreadable) {
  if (queue.is_error()) bad_.emplace(key, "it is of another type");
  if (unreadable.empty()) return;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (unreadable.contains(queue[i].text()))
      bad_.emplace(key, fmt::format("the ticket {} in it cannot be read", in_sentence(queue[i].text())));
  }
}

void RedisTransaction::learn_lease(Lease lease, bool is_protected) {
  auto& known = known_leases_[lease.id.text];
  const bool was_protected = known.is_protected;
  known.is_protected |= is_protected;
  if (known.stored) {
    // Two copies of one record: what the body saw unprotected must not have changed since.
    if (!was_protected && *known.stored != lease) throw Conflict();
    return;
  }
  known.is_new = false;
  if (!known.is_changed) tables_.set_lease(lease.id, Tables::StoredLease{.lease = lease});
  known.stored = std::move(lease);
}

void RedisTransaction::learn_ticket(Ticket ticket, bool is_protected) {
  auto& known = known_tickets_[ticket.id.text];
  const bool was_protected = known.is_protected;
  known.is_protected |= is_protected;
  if (known.stored) {
    if (!was_protected && *known.stored != ticket) throw Conflict();
    return;
  }
  known.is_new = false;
  if (!known.is_changed) tables_.set_ticket(ticket.id, ticket);
  known.stored = std::move(ticket);
}

void RedisTransaction::must_be_whole(const std::string& key) const {
  if (bad_.empty()) return;
  const auto found = bad_.find(key);
  if (found == bad_.end()) return;
  throw Failure{
      {Code::corrupt, fmt::format("The key {} in Redis at {} is not what Leasehold wrote: {}. Look at it "
                                  "with redis-cli, then run: lease doctor --repair",
                                  in_quotes(key), connection_.address().shown(), found->second)}};
}

}  // namespace leasehold::redis
