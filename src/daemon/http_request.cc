#include "daemon/http_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/string.hpp>

#include "util/lower_case.h"

namespace leasehold::daemon {

namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace {

// Of the absolute form, which proxies and some clients use (RFC 9112, 3.2.2): http://HOST/PATH. Leaves what
// follows. Empty: it is not that form.
Result<std::string> take_authority(std::string& target) {
  const auto slashes = target.find("://");
  const std::string scheme = lower_case(target.substr(0, slashes));
  if (slashes == std::string::npos || (scheme != "http" && scheme != "https")) return std::string();
  const std::size_t begin = slashes + 3;
  const std::size_t end = std::min(target.find_first_of("/?", begin), target.size());
  std::string authority = target.substr(begin, end - begin);
  if (authority.empty() || authority.find('@') != std::string::npos)
    return fail(Code::invalid_argument, "The request's address has to name a host, and no user.");
  target.erase(0, end);
  if (!target.starts_with('/')) target.insert(0, "/");
  return authority;
}

// W3C Trace Context: version, trace, parent and flags, and in versions to come something behind them.
bool is_trace(std::string_view text) {
  constexpr std::string_view kForm = "xx-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";
  constexpr std::size_t kMost = 512;
  if (text.size() < kForm.size() || text.size() > kMost || text.starts_with("ff")) return false;
  if (text.size() > kForm.size() && (text.starts_with("00") || text[kForm.size()] != '-')) return false;
  return std::ranges::equal(text.substr(0, kForm.size()), kForm, [](char c, char form) {
    return form == '-' ? c == '-' : (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

}  // namespace

Result<Request> read_request(const http::request<http::string_body>& message) {
  Request request;
  request.method = std::string(message.method_string());
  std::string target(message.target());
  auto authority = take_authority(target);
  if (!authority) return fail(authority.error());
  if (auto read = read_target(target, request); !read) return fail(read.error());
  // What a proxy in front of us might read otherwise.
  for (const http::field once :
       {http::field::host, http::field::authorization, http::field::transfer_encoding}) {
    if (message.count(once) > 1)
      return fail(Code::invalid_argument, "A header is there twice that may be there once.");
  }
  if (const auto coding = message.find(http::field::transfer_encoding);
      coding != message.end() && (message.version() < 11 || !beast::iequals(coding->value(), "chunked")))
    return fail(Code::invalid_argument,
                "A body is sent plain, or chunked by HTTP/1.1, and in no other coding.");
  for (const auto& field : message) {
    const std::string_view value(field.value());
    const auto [known, is_new] =
        request.headers.emplace(lower_case(std::string_view(field.name_string())), value);
    // Several lines are one list (RFC 9110, 5.3).
    if (!is_new) known->second.append(", ").append(value);
  }
  // One that is none is to be passed over.
  if (!is_trace(request.header("traceparent"))) request.headers.erase("traceparent");
  // It counts instead of Host, and is checked in its place.
  if (!authority->empty()) request.headers["host"] = *std::move(authority);
  request.body = message.body();
  return request;
}

std::optional<Response> complaint(const beast::error_code& problem_found) {
  if (problem_found == http::error::body_limit)
    return problem(413, "too_large", fmt::format("A body may have {} bytes.", kBodyMost));
  if (problem_found == http::error::header_limit)
    return problem(431, "too_large", fmt::format("The headers may have {} bytes.", kHeaderMost));
  if (problem_found.category() == http::make_error_code(http::error::bad_method).category() &&
      problem_found != http::error::end_of_stream && problem_found != http::error::partial_message)
    return problem(400, "malformed", "This is not HTTP/1.1 as it should be: " + problem_found.message());
  return std::nullopt;
}

}  // namespace leasehold::daemon
