// HTTP as bytes on a socket, so that tests can also say what no client would.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <map>
#include <string>
#include <string_view>

namespace leasehold {

struct Reply {
  int status = 0;                              // 0: the connection ended before a response came.
  std::map<std::string, std::string> headers;  // Names in lower case.
  std::string body;

  boost::json::object json() const {
    boost::system::error_code error;
    const auto value = boost::json::parse(body, error);
    return !error && value.is_object() ? value.as_object() : boost::json::object();
  }
  std::string code() const {
    const auto document = json();
    return document.contains("code") ? std::string(document.at("code").as_string()) : "";
  }
};

inline std::ostream& operator<<(std::ostream& out, const Reply& reply) {
  return out << reply.status << " " << reply.body;
}

class Line {
 public:
  explicit Line(const std::string& socket_path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
    fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  explicit Line(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line() { hang_up(); }

  bool is_connected() const { return connected_; }
  void hang_up() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  void send_no_more() const { ::shutdown(fd_, SHUT_WR); }

  bool say(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // Up to and with `end`; all there is if the connection ends, or nothing comes for too long.
  std::string hear_until(std::string_view end) {
    while (heard_.find(end) == std::string::npos && hear()) {
    }
    const auto at = heard_.find(end);
    const std::string text = heard_.substr(0, at == std::string::npos ? at : at + end.size());
    heard_.erase(0, text.size());
    return text;
  }

  Reply reply() {
    Reply reply;
    std::string head = hear_until("\r\n\r\n");
    if (!head.starts_with("HTTP/1.1 ")) return reply;
    reply.status = std::stoi(head.substr(9, 3));
    std::size_t at = head.find("\r\n") + 2;
    while (at < head.size() && head.compare(at, 2, "\r\n") != 0) {
      const std::size_t colon = head.find(": ", at);
      const std::size_t end = head.find("\r\n", at);
      std::string name = head.substr(at, colon - at);
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      reply.headers[name] = head.substr(colon + 2, end - colon - 2);
      at = end + 2;
    }
    const auto length = reply.headers.find("content-length");
    const std::size_t size = length == reply.headers.end() ? 0 : std::stoul(length->second);
    while (heard_.size() < size && hear()) {
    }
    reply.body = heard_.substr(0, size);
    heard_.erase(0, size);
    return reply;
  }

  Reply ask(const std::string& method, const std::string& target, const std::string& body = {},
            const std::string& headers = {}) {
    say(request(method, target, body, headers));
    return reply();
  }

  static std::string request(const std::string& method, const std::string& target,
                             const std::string& body = {}, const std::string& headers = {}) {
    std::string text = method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers;
    if (method != "GET") text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return text + "\r\n" + body;
  }

  // True: the other end closed it, within a bounded time.
  bool is_closed() {
    while (hear()) {
    }
    return ended_;
  }

 private:
  bool hear() {
    pollfd ready = {fd_, POLLIN, 0};
    if (::poll(&ready, 1, 30'000) <= 0) return false;
    char buffer[16'384];
    const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
    if (got <= 0) {
      ended_ = true;
      return false;
    }
    heard_.append(buffer, static_cast<std::size_t>(got));
    return true;
  }

  int fd_ = -1;
  bool connected_ = false;
  bool ended_ = false;
  std::string heard_;
};

}  // namespace leasehold
