// What HTTP/1.1 brings, made a request as routes see it.
#pragma once

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <optional>

#include "daemon/message.h"

namespace leasehold::daemon {

inline constexpr std::uint32_t kHeaderMost = 16 * 1024;
inline constexpr std::uint64_t kBodyMost =
    1024 * 1024;  // A request for a thousand long paths has some 300 kB.

// Knows what a request may have.
class RequestParser : public boost::beast::http::request_parser<boost::beast::http::string_body> {
 public:
  RequestParser() {
    header_limit(kHeaderMost);
    body_limit(kBodyMost);
  }
};

// Error: invalid_argument.
Result<Request> read_request(const boost::beast::http::request<boost::beast::http::string_body>& message);

// What to say to a request that could not be read. Nothing: the other end has left.
std::optional<Response> complaint(const boost::beast::error_code& problem_found);

}  // namespace leasehold::daemon
