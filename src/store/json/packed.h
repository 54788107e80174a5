// Values as bytes, field by field in the order written down here: quicker than JSON, and shorter, for what
// lives no longer than the processes that exchange it. Nothing is stored so. For the sources of this folder.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "leasehold/calls.h"
#include "leasehold/lease.h"
#include "store/records.h"
#include "store/ring.h"

namespace leasehold::packed {

// Raise it whenever a field below is added, moved or changed: who has another one is not understood.
inline constexpr char kLayout = 1;

template <class T, class Record>
concept Of = std::same_as<std::remove_const_t<T>, Record>;

template <class Fields>
void each(Fields& fields, Of<Owner> auto& owner) {
  fields(owner.agent_id, owner.session_id);
}

template <class Fields>
void each(Fields& fields, Of<Process> auto& process) {
  fields(process.machine_id, process.boot_id, process.pid_namespace, process.pid, process.start_time);
}

template <class Fields>
void each(Fields& fields, Of<Holder> auto& holder) {
  fields(holder.owner, holder.pr_id, holder.host, holder.process);
}

template <class Fields>
void each(Fields& fields, Of<Caller> auto& caller) {
  fields(caller.holder, caller.whole_session);
}

template <class Fields>
void each(Fields& fields, Of<WantedPath> auto& wanted) {
  fields(wanted.path, wanted.subtree, wanted.requested, wanted.paired_with, wanted.rule);
}

template <class Fields>
void each(Fields& fields, Of<AcquireRequest> auto& request) {
  fields(request.caller, request.paths, request.mode, request.ttl, request.max_renewals, request.wait,
         request.waiter, request.priority, request.attended, request.reason, request.room, request.trace,
         request.idempotency_key);
}

template <class Fields>
void each(Fields& fields, Of<Lease> auto& lease) {
  fields(lease.id, lease.workspace, lease.path, lease.subtree, lease.mode, lease.holder, lease.token,
         lease.status, lease.ended_by, lease.created_at, lease.acquired_at, lease.expires_at,
         lease.last_heartbeat_at, lease.updated_at, lease.ttl, lease.renewal_count, lease.max_renewals,
         lease.group_id, lease.room, lease.reason, lease.trace, lease.requested, lease.paired_with,
         lease.pairs, lease.rule, lease.attended, lease.idle_at, lease.recalled_at);
}

template <class Fields>
void each(Fields& fields, Of<Ticket> auto& ticket) {
  fields(ticket.id, ticket.workspace, ticket.request, ticket.sequence, ticket.arrival, ticket.order,
         ticket.upgrade, ticket.wait_until, ticket.proven_until, ticket.status, ticket.ended_by,
         ticket.ended_at, ticket.leases, ticket.token);
}

template <class Fields>
void each(Fields& fields, Of<NextInLine> auto& next) {
  fields(next.workspace, next.path, next.owner, next.leases);
}

// The last of each: what is greater was not written by us.
constexpr Mode last_of(Mode) { return Mode::exclusive; }
constexpr Status last_of(Status) { return Status::failed; }
constexpr EndCause last_of(EndCause) { return EndCause::merged; }

class Writer {
 public:
  explicit Writer(std::string& to) : to_(to) {}

  template <class... Values>
  void operator()(const Values&... values) {
    (put(values), ...);
  }

 private:
  // Seven bits a byte.
  void put_number(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) to_ += static_cast<char>(number | 0x80);
    to_ += static_cast<char>(number);
  }

  void put(const std::string& text) {
    put_number(text.size());
    to_ += text;
  }
  // The sign last, so that what is small and negative is short, too.
  void put(std::int64_t number) {
    put_number(static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63));
  }
  void put(int number) { put(std::int64_t{number}); }
  void put(std::uint64_t number) { put_number(number); }
  void put(bool value) { put_number(value); }
  void put(Token token) { put_number(token.value); }
  void put(Time time) { put(std::int64_t{time.time_since_epoch().count()}); }
  void put(Duration duration) { put(std::int64_t{duration.count()}); }
  template <class Enum>
    requires std::is_enum_v<Enum>
  void put(Enum value) {
    put_number(static_cast<std::uint64_t>(value));
  }
  template <class Tag>
  void put(const Id<Tag>& id) {
    put(id.text);
  }
  template <class Value>
  void put(const std::optional<Value>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class Value>
  void put(const std::vector<Value>& values) {
    put_number(values.size());
    for (const Value& value : values) put(value);
  }
  template <class Value>
  void put(const CopyOnWrite<Value>& value) {
    put(*value);
  }
  template <class Record>
    requires requires(Writer& writer, const Record& record) { each(writer, record); }
  void put(const Record& record) {
    each(*this, record);
  }

  std::string& to_;
};

// Reads what a Writer wrote. Where anything else is no such value, or leaves something over, it says so in
// the end, whatever it made of it.
class Reader {
 public:
  explicit Reader(std::string_view from) : from_(from) {}

  template <class... Values>
  void operator()(Values&... values) {
    (get(values), ...);
  }

  // All was as it is written, and nothing is left.
  bool is_done() const { return is_sound_ && from_.empty(); }

 private:
  std::uint64_t get_number() {
    std::uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (from_.empty()) break;
      const auto byte = static_cast<unsigned char>(from_.front());
      from_.remove_prefix(1);
      number |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return number;
    }
    is_sound_ = false;
    return 0;
  }

  void get(std::string& text) {
    const std::uint64_t size = get_number();
    if (size > from_.size()) {
      is_sound_ = false;
      return;
    }
    text = from_.substr(0, size);
    from_.remove_prefix(size);
  }
  void get(std::int64_t& number) {
    const std::uint64_t read = get_number();
    number = static_cast<std::int64_t>(read >> 1 ^ (~(read & 1) + 1));
  }
  void get(int& number) {
    std::int64_t read = 0;
    get(read);
    number = static_cast<int>(read);
  }
  void get(std::uint64_t& number) { number = get_number(); }
  void get(bool& value) { value = get_number() != 0; }
  void get(Token& token) { token.value = get_number(); }
  void get(Time& time) {
    std::int64_t read = 0;
    get(read);
    time = Time(Time::duration(read));
  }
  void get(Duration& duration) {
    std::int64_t read = 0;
    get(read);
    duration = Duration(read);
  }
  template <class Enum>
    requires std::is_enum_v<Enum>
  void get(Enum& value) {
    const std::uint64_t read = get_number();
    if (read > static_cast<std::uint64_t>(last_of(value))) {
      is_sound_ = false;
      return;
    }
    value = static_cast<Enum>(read);
  }
  template <class Tag>
  void get(Id<Tag>& id) {
    get(id.text);
  }
  template <class Value>
  void get(std::optional<Value>& value) {
    bool is_there = false;
    get(is_there);
    if (is_there) get(value.emplace());
  }
  template <class Value>
  void get(std::vector<Value>& values) {
    for (std::uint64_t left = get_number(); left > 0 && is_sound_; --left) get(values.emplace_back());
  }
  template <class Value>
  void get(CopyOnWrite<Value>& value) {
    Value read;
    get(read);
    value = std::move(read);
  }
  template <class Record>
    requires requires(Reader& reader, Record& record) { each(reader, record); }
  void get(Record& record) {
    each(*this, record);
  }

  std::string_view from_;
  bool is_sound_ = true;
};

}  // namespace leasehold::packed
