#include "daemon/http_request.h"

#include <fmt/format.h>

#include <boost/beast/core/error.hpp>
#include <boost/beast/core/string.hpp>

#include "util/lower_case.h"

namespace leasehold::daemon {

namespace beast = boost::beast;
namespace http = boost::beast::http;

Result<Request> read_request(const http::request<http::string_body>& message) {
  Request request;
  request.method = std::string(message.method_string());
  if (auto read = read_target(std::string_view(message.target()), request); !read) return fail(read.error());
  // What a proxy in front of us might read otherwise.
  for (const http::field once :
       {http::field::host, http::field::authorization, http::field::transfer_encoding}) {
    if (message.count(once) > 1)
      return fail(Code::invalid_argument, "A header is there twice that may be there once.");
  }
  if (const auto coding = message.find(http::field::transfer_encoding);
      coding != message.end() && !beast::iequals(coding->value(), "chunked"))
    return fail(Code::invalid_argument, "A body is sent plain or chunked, and in no other coding.");
  for (const auto& field : message) {
    request.headers.emplace(lower_case(std::string_view(field.name_string())), std::string(field.value()));
  }
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
