#include "http_client/exchange.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/json/parse.hpp>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <optional>

#include "util/number.h"
#include "util/percent.h"
#include "util/utf8.h"

namespace leasehold::http {
namespace {

namespace beast = boost::beast;
using net::Deadline;
using net::Step;
using net::Wire;
using Parser = beast::http::response_parser<beast::http::string_body>;

constexpr std::uint64_t kBodyMost = 4ULL << 30;  // A board of a million leases.

std::unexpected<Error> refuse(std::string_view why) {
  return fail(
      Code::config_error,
      fmt::format("The server's URL cannot be used: {}. Write it as http://host:7420, https://host:7420 or "
                  "http+unix:/path/of/socket.",
                  why));
}

Result<void> read_parameters(std::string_view query, net::Endpoint& endpoint) {
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(one.size() + 1, query.size()));
    const std::size_t equals = std::min(one.find('='), one.size());
    const auto value = percent_decoded(one.substr(std::min(equals + 1, one.size())));
    const std::string_view name = one.substr(0, equals);
    std::string* const place = name == "ca"            ? &endpoint.ca_file
                               : name == "cert"        ? &endpoint.certificate
                               : name == "key"         ? &endpoint.key
                               : name == "server_name" ? &endpoint.server_name
                                                       : nullptr;
    // What it is set to is not shown: it may be a token.
    if (place == nullptr)
      return refuse(fmt::format("nothing is called {} behind its question mark", in_quotes(name)));
    if (!value) return refuse("a % is not followed by two hexadecimal digits");
    *place = *value;
  }
  return {};
}

bool is_port(std::string_view text) { return parse_number<std::uint16_t>(text).value_or(0) != 0; }

Result<net::Endpoint> read_url(std::string_view url) {
  net::Endpoint endpoint;
  const auto mark = std::min(url.find('?'), url.size());
  std::string_view query = url.substr(std::min(mark + 1, url.size()));
  url = url.substr(0, mark);
  if (url.starts_with("http+unix:")) {
    const auto path = percent_decoded(url.substr(10));
    if (!path || !path->starts_with('/')) return refuse("the path of the socket has to be absolute");
    endpoint.socket = path->starts_with("//") ? path->substr(path->find_first_not_of('/') - 1) : *path;
    return endpoint;
  }
  endpoint.tls = url.starts_with("https://");
  if (!endpoint.tls && !url.starts_with("http://"))
    return refuse("it does not begin with http://, https:// or http+unix:");
  url.remove_prefix(endpoint.tls ? 8 : 7);
  if (url.ends_with('/')) url.remove_suffix(1);
  if (url.find_first_of("/@") != std::string_view::npos)
    return refuse("it has to be a host and a port; a token goes into LEASE_TOKEN");
  const auto colon = url.rfind(':');
  const bool has_port = colon != std::string_view::npos && url.find(']', colon) == std::string_view::npos;
  endpoint.host = has_port ? url.substr(0, colon) : url;
  endpoint.port = has_port ? url.substr(colon + 1) : (endpoint.tls ? "443" : "80");
  if (endpoint.host.starts_with('[') && endpoint.host.ends_with(']'))
    endpoint.host = endpoint.host.substr(1, endpoint.host.size() - 2);
  if (endpoint.host.empty() || endpoint.port.empty()) return refuse("the host is missing");
  if (!is_port(endpoint.port)) return refuse("its port has to be a number from 1 to 65535");
  if (auto read = read_parameters(query, endpoint); !read) return fail(read.error());
  return endpoint;
}

enum class Ready { yes, cancelled, too_late, broken_off };

Ready wait_for(const Wire& wire, Step step, Deadline deadline, int cancelled) {
  pollfd fds[] = {{wire.fd(), static_cast<short>(step == Step::needs_write ? POLLOUT : POLLIN), 0},
                  {cancelled, POLLIN, 0}};
  for (;;) {
    const auto left = std::chrono::ceil<Duration>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return Ready::too_late;
    const int ready = ::poll(fds, 2, static_cast<int>(std::min<std::int64_t>(left.count(), 1'000'000)));
    if (fds[1].revents != 0) return Ready::cancelled;
    if (ready > 0) return Ready::yes;
    if (ready < 0 && errno != EINTR) return Ready::too_late;
  }
}

struct Sent {
  bool begun = false;  // Some of it has left.
  Ready how = Ready::yes;
  bool failed = false;
};

Sent send(Wire& wire, std::string_view text, Deadline deadline, int cancelled) {
  Sent sent;
  while (!text.empty()) {
    std::size_t moved = 0;
    const Step step = wire.write(text.data(), text.size(), moved);
    if (step == Step::done) {
      sent.begun = true;
      text.remove_prefix(moved);
    } else if (step == Step::needs_read || step == Step::needs_write) {
      sent.how = wait_for(wire, step, deadline, cancelled);
      if (sent.how != Ready::yes) return sent;
    } else {
      sent.failed = true;
      return sent;
    }
  }
  return sent;
}

// False: the connection ended, or what came is no response.
bool receive(Wire& wire, Parser& parser, Deadline deadline, int cancelled, Ready& how) {
  std::string text;
  std::size_t used = 0;
  char buffer[16 * 1024];
  while (!parser.is_done()) {
    std::size_t moved = 0;
    const Step step = wire.read(buffer, sizeof buffer, moved);
    if (step == Step::needs_read || step == Step::needs_write) {
      how = wait_for(wire, step, deadline, cancelled);
      if (how != Ready::yes) return false;
      continue;
    }
    if (step == Step::failed && !parser.got_some()) how = Ready::broken_off;
    if (step != Step::done) return false;
    text.append(buffer, moved);
    for (;;) {
      beast::error_code failed;
      const std::size_t taken =
          parser.put(boost::asio::buffer(text.data() + used, text.size() - used), failed);
      used += taken;
      if (failed == beast::http::error::need_more) break;
      if (failed) return false;
      if (parser.is_done() || used == text.size()) break;
    }
    text.erase(0, used);
    used = 0;
  }
  return true;
}

bool is_stale(const Wire& wire) {
  // Between two calls there is nothing to be read; if there is, it is the end.
  pollfd state = {wire.fd(), POLLIN | POLLRDHUP, 0};
  return ::poll(&state, 1, 0) != 0;
}

// The server's own refusals have a code.
bool is_of_a_proxy(const Reply& reply) {
  const boost::json::object* const document = reply.document.if_object();
  return reply.status >= 502 && reply.status <= 504 && (document == nullptr || !document->contains("code"));
}

}  // namespace

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.' || c == '~') {
      out += c;
    } else {
      out += fmt::format("%{:02X}", byte);
    }
  }
  return out;
}

Result<std::unique_ptr<Server>> Server::at(const std::string& url, const Credentials& credentials) {
  auto endpoint = read_url(url);
  if (!endpoint) return fail(endpoint.error());
  const auto& [token, settings, is_agent_guessed] = credentials;
  if (token.find_first_of("\r\n") != std::string::npos) return refuse("the token has line ends in it");
  auto server = std::make_unique<Server>();
  server->shown_ =
      endpoint->socket.empty() ? fmt::format("{}:{}", endpoint->host, endpoint->port) : endpoint->socket;
  const bool six = endpoint->host.find(':') != std::string::npos;
  server->head_ = fmt::format(
      "Host: {}\r\nAccept: application/json\r\n",
      endpoint->socket.empty()
          ? fmt::format("{}{}{}:{}", six ? "[" : "", endpoint->host, six ? "]" : "", endpoint->port)
          : "localhost");
  if (!token.empty()) server->head_ += fmt::format("Authorization: Bearer {}\r\n", token);
  if (is_agent_guessed) server->head_ += "Lease-Agent: guessed\r\n";
  if (!settings.empty()) server->head_ += fmt::format("Lease-Settings: {}\r\n", settings);
  server->has_token_ = !token.empty();
  server->endpoint_ = *std::move(endpoint);
  return server;
}

Result<std::unique_ptr<Wire>> Server::connection(Deadline deadline) {
  {
    const std::lock_guard lock(mutex_);
    while (!idle_.empty()) {
      auto wire = std::move(idle_.back());
      idle_.pop_back();
      if (!is_stale(*wire)) return wire;
    }
  }
  auto wire = net::connect(endpoint_, "the lease server at " + in_sentence(shown_), deadline);
  if (wire) return wire;
  if (wire.error().code == Code::config_error) return wire;
  const bool is_forbidden = !endpoint_.socket.empty() &&
                            ::faccessat(AT_FDCWD, endpoint_.socket.c_str(), W_OK, AT_EACCESS) != 0 &&
                            errno == EACCES;
  if (is_forbidden)
    return fail(
        Code::not_owner,
        fmt::format(
            "The lease server at {} is another user's, and a socket lets nobody else in. Ask "
            "for a token (lease token create --agent NAME), and use TCP: LEASE_STORE=http://HOST:PORT",
            in_sentence(shown_)));
  // With TLS it may be there and speak something else.
  return fail(Code::unavailable,
              wire.error().message + (endpoint_.tls ? "" : " It is started with: lease serve"));
}

void Server::keep(std::unique_ptr<Wire> wire) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(wire));
}

Result<Reply> Server::ask(const Call& call) {
  const Deadline deadline = std::chrono::steady_clock::now() + call.patience;
  auto wire = connection(deadline);
  if (!wire) return fail(wire.error());
  std::string text = fmt::format("{} {} HTTP/1.1\r\n{}", call.method, call.target, head_);
  if (!call.body.empty()) text += "Content-Type: application/json\r\n";
  if (call.method != "GET") text += fmt::format("Content-Length: {}\r\n", call.body.size());
  text += "\r\n" + call.body;

  const Sent sent = send(**wire, text, deadline, call.cancelled);
  Ready how = sent.how;
  Parser parser;
  parser.body_limit(kBodyMost);
  if (!sent.failed && how == Ready::yes && receive(**wire, parser, deadline, call.cancelled, how)) {
    const auto& message = parser.get();
    Reply reply = {.status = static_cast<int>(message.result_int()), .document = nullptr};
    if (!message.body().empty()) {
      beast::error_code failed;
      reply.document = boost::json::parse(message.body(), failed);
      if (failed && !is_of_a_proxy(reply))
        return fail(Code::corrupt,
                    fmt::format("What {} answered is not JSON. Is it a lease server?", shown_));
    }
    if (message.keep_alive()) keep(*std::move(wire));
    if (is_of_a_proxy(reply))
      return unanswered(call, fmt::format("is not reached by what stands before it (HTTP {})", reply.status),
                        "Ask again.");
    return reply;
  }
  if (how == Ready::cancelled) return Reply{.cancelled = true};
  // TLS 1.3 says only after the handshake that a certificate is missing; HTTP has not begun then.
  if (how == Ready::broken_off && endpoint_.tls) {
    return fail(
        Code::config_error,
        fmt::format("The lease server at {} ended TLS before it answered. It may want a certificate that it "
                    "knows: add ?cert=FILE&key=FILE to its URL.",
                    in_sentence(shown_)));
  }
  const std::string_view why = how == Ready::too_late ? "did not answer in time" : "closed the connection";
  // Who waits for TLS answers nothing else.
  const bool may_want_tls =
      !endpoint_.tls && endpoint_.socket.empty() && how != Ready::too_late && !parser.got_some();
  const std::string_view next =
      may_want_tls ? "Ask again, or write https:// in its URL if it speaks TLS." : "Ask again.";
  return unanswered(call, why, next);
}

std::unexpected<Error> Server::unanswered(const Call& call, std::string_view why,
                                          std::string_view next) const {
  const std::string shown = in_sentence(shown_);
  if (call.method == "GET")
    return fail(Code::unavailable, fmt::format("The lease server at {} {}. {}", shown, why, next));
  return fail(Code::outcome_unknown,
              fmt::format("The lease server at {} {}; whether it did what was asked is not known. {}", shown,
                          why, next));
}

}  // namespace leasehold::http
