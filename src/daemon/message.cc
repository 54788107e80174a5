#include "daemon/message.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "util/percent.h"
#include "util/utf8.h"

namespace leasehold::daemon {
namespace {

Result<std::string> decode(std::string_view text, bool plus_is_blank) {
  std::string plain(text);
  if (plus_is_blank) std::ranges::replace(plain, '+', ' ');
  auto decoded = percent_decoded(plain);
  if (!decoded)
    return fail(Code::invalid_argument, "The request's address has a % that two hex digits do not follow.");
  if (decoded->find('\0') != std::string::npos || invalid_utf8_at(*decoded))
    return fail(Code::invalid_argument, "The request's address is not UTF-8 text.");
  return *std::move(decoded);
}

std::string_view take_until(std::string_view& text, char separator) {
  const auto end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

Response problem_of(int status, std::string_view code, std::string_view message,
                    boost::json::object members) {
  members["type"] = std::string("https://leasehold.dev/problems/") + std::string(code);
  members["title"] = code;
  members["status"] = status;
  members["detail"] = message;
  members["code"] = code;
  Response response = json_response(status, members);
  response.content_type = kProblemType;
  return response;
}

}  // namespace

std::string_view word(Role role) {
  switch (role) {
    case Role::read_only:
      return "read-only";
    case Role::agent:
      return "agent";
    case Role::op:
      return "operator";
  }
  return {};
}

std::optional<Role> role_named(std::string_view name) {
  for (const Role role : {Role::read_only, Role::agent, Role::op}) {
    if (word(role) == name) return role;
  }
  return std::nullopt;
}

Result<void> read_target(std::string_view target, Request& request) {
  std::string_view path = take_until(target, '?');
  auto whole = decode(path, false);
  if (!whole) return fail(whole.error());
  request.path = *std::move(whole);
  if (!path.starts_with('/'))
    return fail(Code::invalid_argument, "The request's address has to begin with /.");
  path.remove_prefix(1);
  while (!path.empty()) {
    auto segment = decode(take_until(path, '/'), false);
    if (!segment) return fail(segment.error());
    request.segments.push_back(*std::move(segment));
  }
  while (!target.empty()) {
    std::string_view pair = take_until(target, '&');
    auto name = decode(take_until(pair, '='), true);
    auto value = decode(pair, true);
    if (!name) return fail(name.error());
    if (!value) return fail(value.error());
    if (!name->empty()) request.query.emplace(*std::move(name), *std::move(value));
  }
  return {};
}

Response json_response(int status, const boost::json::object& document) {
  return {.status = status, .body = boost::json::serialize(document) + "\n", .headers = {}};
}

Response problem(const Error& error, boost::json::object members) {
  const CodeInfo& row = info(error.code);
  members["exit_code"] = row.exit_code;
  Response response = problem_of(row.http_status, row.name, error.message, std::move(members));
  if (row.http_status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

Response problem(int status, std::string_view code, std::string_view message) {
  return problem_of(status, code, message, {});
}

}  // namespace leasehold::daemon
