#include "store/redis/connection.h"

#include <fmt/format.h>

#include <charconv>
#include <thread>

#include "util/utf8.h"

namespace leasehold::redis {
namespace {

// To fall asleep and be woken takes longer than a server that is near takes to answer. So whoever was
// answered within this time looks for the next answer so long, and lets others have its core meanwhile.
constexpr std::chrono::microseconds kAwake{2'000};

int version_of(std::string_view text) {
  int value = 0;
  for (int part = 0; part < 3; ++part) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) number = 0;
    value = value * 100 + std::min(number, 99);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.starts_with('.')) text.remove_prefix(1);
  }
  return value;
}

}  // namespace

Error error_of(std::string_view answer, const Address& address, std::string_view doing) {
  const std::string_view word = answer.substr(0, answer.find(' '));
  const auto says = [&](std::string_view advice) {
    return fmt::format("{} failed: Redis at {} says \"{}\". {}", doing, address.shown(), answer, advice);
  };
  const bool in_script = answer.find("executing the script can't") != std::string_view::npos ||
                         answer.find("ACL failure in script") != std::string_view::npos;
  const bool in_transaction = answer.find("because of: NOPERM") != std::string_view::npos;
  if (word == "NOAUTH" || word == "WRONGPASS" || word == "NOPERM" || in_script || in_transaction)
    return {Code::config_error, says("Check user and password in the URL, and the user's rights (ACL).")};
  if (word == "WRONGTYPE")
    return {Code::corrupt, says("Somebody else wrote there. Run: lease doctor --repair")};
  if (word == "OOM")
    return {Code::unavailable, says("Its memory is full: raise maxmemory, or run: lease gc")};
  if (answer.find("DB index") != std::string_view::npos)
    return {Code::config_error, says("Check the number of the database in the URL.")};
  if (word == "READONLY") return {Code::unavailable, says("It is a replica: use the URL of the primary.")};
  return {Code::unavailable, says("Nothing was written. Ask again.")};
}

Failure failure_of(std::string_view answer, const Address& address, std::string_view doing) {
  return {.error = error_of(answer, address, doing), .memory_is_full = answer.starts_with("OOM ")};
}

Connection::Connection(const Address& address, std::unique_ptr<Wire> wire, Duration command_timeout)
    : address_(address),
      wire_(std::move(wire)),
      reader_(redisReaderCreate(), redisReaderFree),
      command_timeout_(command_timeout) {
  reader_->maxbuf = 0;  // Keep the buffer: the next answer is as long as this one.
}

Connection::~Connection() = default;

Result<std::unique_ptr<Connection>> Connection::open(const Address& address, Duration connect_timeout,
                                                     Duration command_timeout) {
  auto wire = net::connect(address, "Redis at " + address.shown(),
                           std::chrono::steady_clock::now() + connect_timeout);
  if (!wire) return fail(wire.error());
  // NOLINTNEXTLINE(modernize-make-unique): the constructor is private.
  std::unique_ptr<Connection> connection(new Connection(address, std::move(*wire), command_timeout));
  if (auto greeted = connection->greet(); !greeted) return fail(greeted.error());
  return connection;
}

Result<void> Connection::greet() {
  try {
    std::vector<std::string_view> hello = {"HELLO", "2"};
    if (!address_.password.empty() || !address_.user.empty()) {
      hello.insert(hello.end(), {"AUTH", address_.user.empty() ? std::string_view("default") : address_.user,
                                 address_.password});
    }
    add(hello);
    const std::string database = std::to_string(address_.database);
    if (address_.database != 0) add({"SELECT", database});
    // Who may not do this would have each change made command by command, whatever others do meanwhile.
    add({"MULTI"});
    add({"EXEC"});
    const std::vector<Reply> replies = exchange();
    for (const Reply& reply : replies) {
      if (reply.view().is_error()) return fail(error_of(reply.view().text(), address_, "Logging in"));
    }
    const ReplyView about = replies.front().view();
    for (std::size_t i = 0; i + 1 < about.size(); i += 2) {
      const std::string_view name = about[i].text();
      if (name == "version") server_version_ = version_of(about[i + 1].text());
      if (name == "id") client_id_ = about[i + 1].integer();
      if (name == "role") role_ = about[i + 1].text();
      if (name == "mode") mode_ = about[i + 1].text();
    }
  } catch (const Failure& failure) {
    return fail(failure.error);
  }
  return {};
}

void Connection::lost(std::string_view why, bool was_closed) {
  drop_pending();
  throw Failure{.error = {Code::unavailable,
                          fmt::format("Redis at {} {}. Ask again when it is back.", address_.shown(), why)},
                .lost_connection = true,
                .was_closed = was_closed};
}

// It may have said why, and have closed before it was sent anything.
void Connection::hear_last_words() {
  char buffer[1024];
  std::size_t moved = 0;
  if (wire_->read(buffer, sizeof buffer, moved) != Step::done) return;
  redisReaderFeed(reader_.get(), buffer, moved);
  const std::optional<Reply> reply = parsed();
  if (reply && reply->view().is_error()) last_words_ = reply->view().text();
}

// Before its first answer something else may be wrong than that it is away: TLS 1.3 says only after the
// handshake, and not to everybody in time, that a certificate is missing.
void Connection::ended() {
  std::string hint;
  hear_last_words();
  if (!last_words_.empty()) {
    hint = fmt::format(" and says {}", in_quotes(last_words_));
  } else if (server_version_ == 0 && address_.socket.empty()) {
    hint = address_.tls ? " before it answered (it may want a certificate that it knows: "
                          "?cert=FILE&key=FILE)"
                        : " before it answered (if it speaks TLS, write rediss://)";
  }
  lost(fmt::format("closed the connection{}", hint), true);
}

void Connection::add(Words words) {
  format(out_, words);
  ++pending_;
}

void Connection::begin(std::size_t words) {
  format_count(out_, '*', words);
  ++pending_;
}

void Connection::add_formatted(std::string_view commands, std::size_t count) {
  out_ += commands;
  pending_ += count;
}

// By hand: what hiredis does with printf was a fifth of all that an acquire costs the client.
void Connection::format_count(std::string& to, char kind, std::size_t count) {
  char text[24] = {kind};
  char* end = std::to_chars(text + 1, std::end(text) - 2, count).ptr;
  *end++ = '\r';
  *end++ = '\n';
  to.append(text, end);
}

void Connection::format_words(std::string& to, Words words) {
  for (const std::string_view word : words) {
    format_count(to, '$', word.size());
    to += word;
    to += "\r\n";
  }
}

void Connection::format(std::string& to, Words words) {
  format_count(to, '*', words.size());
  format_words(to, words);
}

void Connection::drop_pending() {
  out_.clear();
  pending_ = 0;
}

void Connection::flush(Deadline deadline, bool* sent) {
  for (std::size_t at = 0; at < out_.size();) {
    std::size_t moved = 0;
    const Step step = wire_->write(out_.data() + at, out_.size() - at, moved);
    at += moved;
    if (step == Step::closed || step == Step::failed) ended();
    if (step != Step::done && !net::wait_for(wire_->fd(), step, deadline))
      lost("does not take what it is sent");
  }
  if (sent != nullptr) *sent = true;
  out_.clear();
}

std::vector<Reply> Connection::exchange(bool* sent) {
  const auto start = std::chrono::steady_clock::now();
  const Deadline deadline = start + command_timeout_;
  last_words_.clear();
  flush(deadline, sent);
  awake_until_ = is_near_ ? std::min(start + kAwake, deadline) : start;
  std::vector<Reply> replies;
  replies.reserve(pending_);
  while (replies.size() < pending_) {
    replies.push_back(receive(deadline));
    if (replies.back().view().is_error()) last_words_ = replies.back().view().text();
  }
  is_near_ = std::chrono::steady_clock::now() - start < kAwake;
  awake_until_ = {};  // What comes unasked is not looked for.
  pending_ = 0;
  return replies;
}

void Connection::send() {
  flush(std::chrono::steady_clock::now() + command_timeout_, nullptr);
  pending_ = 0;
}

std::optional<Reply> Connection::parsed() {
  void* reply = nullptr;
  if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) lost("answers what is not the Redis protocol");
  if (reply == nullptr) return std::nullopt;
  return Reply(static_cast<redisReply*>(reply));
}

bool Connection::fill(Deadline deadline) {
  char buffer[16 * 1024];
  for (;;) {
    std::size_t moved = 0;
    const Step step = wire_->read(buffer, sizeof buffer, moved);
    if (step == Step::done) {
      if (redisReaderFeed(reader_.get(), buffer, moved) != REDIS_OK)
        lost("answers more than there is memory for");
      return true;
    }
    if (step == Step::closed || step == Step::failed) ended();
    if (std::chrono::steady_clock::now() < awake_until_) {
      std::this_thread::yield();
    } else if (!net::wait_for(wire_->fd(), step, deadline)) {
      return false;
    }
  }
}

Reply Connection::receive(Deadline deadline) {
  for (;;) {
    if (auto reply = parsed()) return std::move(*reply);
    if (!fill(deadline)) lost(fmt::format("did not answer within {} ms", command_timeout_.count()));
  }
}

std::optional<Reply> Connection::take() {
  if (auto reply = parsed()) return reply;
  if (!fill({})) return std::nullopt;
  return parsed();
}

}  // namespace leasehold::redis
