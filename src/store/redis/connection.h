// One connection to Redis: commands go out together, answers come back in order.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/result.h"
#include "net/wire.h"
#include "store/redis/address.h"
#include "store/redis/failure.h"
#include "store/redis/reply.h"

namespace leasehold::redis {

using net::Deadline;
using net::Step;
using net::Wire;

// Text that a command is made of. It must live until the command is added.
using Words = std::span<const std::string_view>;

class Connection {
 public:
  // Connects, authenticates and selects the database.
  // Errors: unavailable, config_error.
  static Result<std::unique_ptr<Connection>> open(const Address& address, Duration connect_timeout,
                                                  Duration command_timeout);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Puts a command behind those that go out next.
  void add(Words words);
  void add(std::initializer_list<std::string_view> words) { add(Words(words.begin(), words.size())); }
  // The same word by word; first of all how many there are.
  void begin(std::size_t words);
  void word(std::string_view text) { format_words(out_, Words(&text, 1)); }
  // The same in two steps: bytes that format() made of so many commands.
  static void format(std::string& to, Words words);
  // And its parts: how many words ('*'), and some of them.
  static void format_count(std::string& to, char kind, std::size_t count);
  static void format_words(std::string& to, Words words);
  void add_formatted(std::string_view commands, std::size_t count);
  std::size_t pending() const { return pending_; }
  void drop_pending();

  // Sends what was added and waits for all the answers, no longer than the command timeout. Errors that the
  // server answers are answers. `sent`, if given, is set once the last byte is on its way: from then on
  // the server may have done it.
  // Throws Failure (lost_connection).
  std::vector<Reply> exchange(bool* sent = nullptr);

  // For a subscriber: sends without waiting for answers; takes one if it has arrived.
  void send();
  std::optional<Reply> take();  // Never waits. Throws Failure.

  int fd() const { return wire_->fd(); }
  const Address& address() const { return address_; }
  std::int64_t client_id() const { return client_id_; }
  int server_version() const { return server_version_; }  // 70015 for 7.0.15.
  const std::string& role() const { return role_; }
  const std::string& mode() const { return mode_; }

  // Whether the server may still watch keys for what ran on this connection before.
  bool watches = false;
  bool was_used = false;
  std::string scratch;  // Memory for what goes into the next transaction.

 private:
  Connection(const Address& address, std::unique_ptr<Wire> wire, Duration command_timeout);
  Result<void> greet();
  void flush(Deadline deadline, bool* sent);
  Reply receive(Deadline deadline);
  bool fill(Deadline deadline);  // False: nothing came by the deadline.
  std::optional<Reply> parsed();
  [[noreturn]] void lost(std::string_view why, bool was_closed = false);
  void hear_last_words();
  [[noreturn]] void ended();

  const Address& address_;
  std::unique_ptr<Wire> wire_;
  std::unique_ptr<redisReader, void (*)(redisReader*)> reader_;
  const Duration command_timeout_;
  bool is_near_ = false;  // The last answer came so soon that it is not worth to sleep until the next one.
  Deadline awake_until_{};
  std::string out_;
  std::size_t pending_ = 0;
  std::int64_t client_id_ = 0;
  int server_version_ = 0;
  std::string last_words_;  // The last error that this exchange was answered.
  std::string role_;
  std::string mode_;
};

// The error an error answer stands for. `doing`: "Reading the leases".
Error error_of(std::string_view answer, const Address& address, std::string_view doing);
Failure failure_of(std::string_view answer, const Address& address, std::string_view doing);

}  // namespace leasehold::redis
