// HTTP/1.1 on one connection: requests one after the other, however many lie there already (pipelining), and
// everything that takes time or space bounded.
#include "daemon/connection.h"

#include <fmt/format.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include "daemon/http_request.h"
#include "daemon/routes.h"

namespace leasehold::daemon {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using namespace std::chrono_literals;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

constexpr auto kIdle = 10min;    // Between requests.
constexpr auto kTransfer = 10s;  // For one request to arrive, or one response to be taken.

using Plain = beast::basic_stream<asio::generic::stream_protocol>;
using Secure = beast::ssl_stream<Plain>;

Plain& lowest(Plain& stream) { return stream; }
Plain& lowest(Secure& stream) { return stream.next_layer(); }

// `has_length`: where there is no body, its length is told.
std::string head(const Response& response, bool keep_alive, bool has_length) {
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\n", response.status,
      std::string_view(http::obsolete_reason(http::int_to_status(static_cast<unsigned>(response.status)))));
  if (!response.body.empty()) text += fmt::format("Content-Type: {}\r\n", response.content_type);
  if (response.status != 204 && (has_length || !response.body.empty()))
    text += fmt::format("Content-Length: {}\r\n", response.body.size());
  for (const auto& [name, value] : response.headers) text += fmt::format("{}: {}\r\n", name, value);
  text += "Cache-Control: no-store\r\n";
  if (!keep_alive) text += "Connection: close\r\n";
  text += "\r\n";
  return text;
}

// Such a client keeps the body back until it is told to go on, or for a second.
bool asks_first(const http::fields& header) {
  return beast::iequals(header[http::field::expect], "100-continue");
}

template <class Stream>
class Connection {
 public:
  Connection(ServerState& server, Stream& stream, Peer peer, Guest& guest)
      : server_(server), stream_(stream), peer_(std::move(peer)), guest_(guest) {}

  asio::awaitable<void> run() {
    while (!server_.is_stopping) {
      guest_.is_idle = true;
      const bool more = co_await has_input();
      if (!more) co_return;
      guest_.is_idle = false;
      guest_.is_asking = true;
      const bool goes_on = co_await serve_one();
      if (!goes_on) co_return;
    }
  }

 private:
  int socket() { return lowest(stream_).socket().native_handle(); }

  asio::awaitable<bool> has_input() {
    if (buffer_.size() > 0) co_return true;
    lowest(stream_).expires_after(guest_.is_known ? kIdle : kTransfer);
    const auto [failed, count] = co_await stream_.async_read_some(buffer_.prepare(4096), kAwait);
    if (failed) co_return false;
    buffer_.commit(count);
    co_return true;
  }

  // False: that was the last one.
  asio::awaitable<bool> serve_one() {
    RequestParser parser;
    lowest(stream_).expires_after(kTransfer);
    auto [failed, count] = co_await http::async_read_header(stream_, buffer_, parser, kAwait);
    if (!failed && !parser.is_done()) {
      const std::string go_on = asks_first(parser.get()) ? "HTTP/1.1 100 Continue\r\n\r\n" : "";
      const bool written = go_on.empty() || co_await write(go_on);
      if (!written) co_return false;
      const auto [failed_later, rest] = co_await http::async_read(stream_, buffer_, parser, kAwait);
      failed = failed_later;
    }
    if (failed) {
      const std::optional<Response> response = complaint(failed);
      if (response) co_await write(*response, false);
      co_return false;
    }
    guest_.is_asking = false;
    lowest(stream_).expires_never();
    const auto& message = parser.get();
    const bool keep_alive = message.keep_alive() && !server_.is_stopping;
    std::unique_ptr<Teller> stream;
    Response response;
    Result<Request> request = read_request(message);
    if (!request) {
      // Where the next one begins is not certain.
      response = problem(request.error());
      co_await write(response, false);
      co_return false;
    }
    co_await answer(*request, response, stream);
    if (stream) {
      co_await tell(*stream, *request);
      co_return false;
    }
    const bool goes_on = keep_alive && !server_.is_stopping;
    // HTTP/1.0 keeps a connection only if both say so.
    if (goes_on && message.version() < 11) response.headers.emplace_back("Connection", "keep-alive");
    const bool only_head = message.method() == http::verb::head;
    const bool written = co_await write(response, goes_on, only_head);
    co_return written&& goes_on;
  }

  asio::awaitable<void> answer(Request& request, Response& response, std::unique_ptr<Teller>& stream) {
    if (co_await respond_to_anybody(server_, request, response)) co_return;
    auto principal = server_.door.admit(peer_, request);
    // It may have been made just now, and whoever made it has no daemon in mind.
    constexpr int kUnauthorized = 401;
    const bool is_unknown =
        !principal && principal.error().status == kUnauthorized && !request.header("authorization").empty();
    if (is_unknown && server_.look_for_tokens && server_.look_for_tokens())
      principal = server_.door.admit(peer_, request);
    if (principal) {
      guest_.is_known = true;
      request.principal = *std::move(principal);
      guest_.until = request.principal.until;
      guest_.may_stay = [this, &request] { return server_.door.admit(peer_, request).has_value(); };
      guest_.cut = [this] { ::shutdown(socket(), SHUT_RDWR); };
      co_await respond(server_, request, socket(), response, stream);
      guest_.until.reset();
      guest_.may_stay = nullptr;
    } else {
      response = std::move(principal.error());
    }
    if (request.path.starts_with("/lfs/") && response.content_type == kProblemType)
      response = handlers::for_git_lfs(response);
  }

  asio::awaitable<bool> write(const Response& response, bool keep_alive, bool only_head = false) {
    const std::string first = head(response, keep_alive, !only_head);
    const asio::const_buffer body = only_head ? asio::const_buffer() : asio::buffer(response.body);
    const std::array<asio::const_buffer, 2> parts = {asio::buffer(first), body};
    lowest(stream_).expires_after(kTransfer);
    const auto [failed, count] = co_await asio::async_write(stream_, parts, kAwait);
    co_return !failed;
  }

  asio::awaitable<bool> write(const std::string& text) {
    lowest(stream_).expires_after(kTransfer);
    const auto [failed, count] = co_await asio::async_write(stream_, asio::buffer(text), kAwait);
    co_return !failed;
  }

  // For as long as who asked may still come in.
  asio::awaitable<void> tell(Teller& teller, const Request& request) {
    std::string text =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
        "X-Accel-Buffering: no\r\nConnection: close\r\n\r\n";
    bool more = true;
    while (!has_left(socket()) && !(more && server_.is_stopping) && server_.door.admit(peer_, request)) {
      if (!text.empty()) {
        guest_.is_told = more;
        const bool written = co_await write(text);
        guest_.is_told = false;
        if (!written) break;
      }
      if (!more) co_return;
      text.clear();
      more = co_await teller.next(socket(), text);
    }
    co_await teller.hang_up();
  }

  ServerState& server_;
  Stream& stream_;
  Peer peer_;
  Guest& guest_;
  beast::flat_buffer buffer_;
};

// Its place among the guests, given up at the end.
class Place {
 public:
  Place(ServerState& server, std::function<void()> close) : server_(server) {
    server_.guests.push_back({.close = std::move(close)});
    at_ = std::prev(server_.guests.end());
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { server_.guests.erase(at_); }

  Guest& guest() { return *at_; }

 private:
  ServerState& server_;
  std::list<Guest>::iterator at_;
};

std::string common_name(SSL* tls) {
  X509* const certificate = SSL_get1_peer_certificate(tls);
  if (certificate == nullptr) return {};
  char name[256] = {};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
  X509_free(certificate);
  return name;
}

}  // namespace

asio::awaitable<void> serve_connection(ServerState& server, Socket socket, Peer peer,
                                       std::shared_ptr<asio::ssl::context> tls) {
  if (!tls) {
    Plain stream(std::move(socket));
    std::function<void()> close = [&stream] { stream.close(); };
    Place place(server, close);
    Connection<Plain> connection(server, stream, peer, place.guest());
    co_await connection.run();
    co_return;
  }
  Secure stream(Plain(std::move(socket)), *tls);
  std::function<void()> close = [&stream] { stream.next_layer().close(); };
  Place place(server, close);
  stream.next_layer().expires_after(kTransfer);
  const auto [failed] = co_await stream.async_handshake(asio::ssl::stream_base::server, kAwait);
  if (failed) co_return;
  peer.certificate = common_name(stream.native_handle());
  Connection<Secure> connection(server, stream, peer, place.guest());
  co_await connection.run();
  if (server.is_stopping) co_return;
  stream.next_layer().expires_after(kTransfer);
  co_await stream.async_shutdown(kAwait);
}

void turn_out(ServerState& server, bool tokens_changed) {
  const auto now = std::chrono::system_clock::now();
  bool is_any = false;
  for (Guest& guest : server.guests) {
    const bool is_doubtful = tokens_changed || (guest.until && now >= *guest.until);
    if (!is_doubtful || !guest.may_stay || guest.may_stay()) continue;
    guest.cut();
    guest.until.reset();
    is_any = true;
  }
  if (!is_any) return;
  for (asio::steady_timer* sleeper : server.sleepers) sleeper->cancel();
}

}  // namespace leasehold::daemon
