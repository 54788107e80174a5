#include "store/redis/address.h"

#include <fmt/format.h>

#include "util/number.h"
#include "util/percent.h"
#include "util/utf8.h"

namespace leasehold::redis {
namespace {

// No part of the URL is shown: a password may stand anywhere in one that is wrong.
std::unexpected<Error> refuse(std::string_view why) {
  return fail(
      Code::config_error,
      fmt::format("The Redis URL cannot be used: {}. Write it as redis://host:6379/0, rediss://host or "
                  "redis+unix:///path/of/socket?db=0.",
                  why));
}

std::optional<int> number(std::string_view text, int most) {
  const auto value = parse_number<int>(text);
  return value && *value >= 0 && *value <= most ? value : std::nullopt;
}

Result<void> set_database(Address& address, std::string_view text) {
  const auto value = number(text, 1'000'000);
  if (!value) return refuse("the database is not a number");
  address.database = *value;
  return {};
}

Result<void> set_parameter(Address& address, std::string_view name, const std::string& value) {
  const auto set_time = [&](std::optional<Duration>& to) -> Result<void> {
    const auto milliseconds = number(value, 3'600'000);
    if (!milliseconds || *milliseconds == 0) return refuse("a timeout is not a number of milliseconds");
    to = Duration(*milliseconds);
    return {};
  };
  if (name == "db") return set_database(address, value);
  if (name == "connect_timeout_ms") return set_time(address.connect_timeout);
  if (name == "command_timeout_ms") return set_time(address.command_timeout);
  if (name == "user") {
    address.user = value;
  } else if (name == "password") {
    address.password = value;
  } else if (name == "ca") {
    address.ca_file = value;
  } else if (name == "cert") {
    address.certificate = value;
  } else if (name == "key") {
    address.key = value;
  } else if (name == "server_name") {
    address.server_name = value;
  } else if (name == "namespace") {
    address.name_space = value;
  } else {
    return refuse(fmt::format("nothing is called {} behind its question mark", in_quotes(name)));
  }
  return {};
}

Result<void> set_parameters(Address& address, std::string_view query) {
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(one.size() + 1, query.size()));
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos) return refuse("a part behind its question mark has no value");
    const auto value = percent_decoded(one.substr(equals + 1));
    if (!value) return refuse("a % is not followed by two hexadecimal digits");
    if (auto set = set_parameter(address, one.substr(0, equals), *value); !set) return set;
  }
  return {};
}

Result<void> set_host(Address& address, std::string_view text) {
  if (text.starts_with('[')) {  // An IPv6 address.
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return refuse("a [ is not closed");
    address.host = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
  } else {
    const std::size_t colon = text.find(':');
    address.host = text.substr(0, colon);
    text.remove_prefix(std::min(colon, text.size()));
  }
  if (address.host.empty()) return refuse("it names no host");
  if (text.empty()) return {};
  const auto port = number(text.substr(1), 65'535);
  if (!text.starts_with(':') || !port || *port == 0) return refuse("the port is not a number");
  address.port = std::to_string(*port);
  return {};
}

Result<void> set_credentials(Address& address, std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return refuse("there is no colon before the password");
  const auto user = percent_decoded(text.substr(0, colon));
  const auto password = percent_decoded(text.substr(colon + 1));
  if (!user || !password) return refuse("a % is not followed by two hexadecimal digits");
  address.user = *user;
  address.password = *password;
  return {};
}

}  // namespace

std::string Address::shown() const {
  if (!socket.empty()) return fmt::format("the Unix socket {}", in_sentence(socket));
  const bool v6 = host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", tls ? "rediss" : "redis", v6 ? "[" : "", host, v6 ? "]" : "", port);
}

Result<Address> parse_url(std::string_view url) {
  Address address;
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return refuse("it has no scheme");
  const std::string_view scheme = url.substr(0, scheme_end);
  std::string_view rest = url.substr(scheme_end + 3);
  address.tls = scheme == "rediss";
  if (scheme != "redis" && scheme != "rediss" && scheme != "redis+unix")
    return refuse("it does not begin with redis://, rediss:// or redis+unix://");

  const std::size_t question = rest.find('?');
  if (question != std::string_view::npos) {
    if (auto set = set_parameters(address, rest.substr(question + 1)); !set) return fail(set.error());
    rest = rest.substr(0, question);
  }
  const bool means_tls = !(address.ca_file + address.certificate + address.key + address.server_name).empty();
  if (means_tls && !address.tls) return refuse("it says how to do TLS, which only rediss:// does");
  if (scheme == "redis+unix") {
    const auto path = percent_decoded(rest);
    if (!path || !path->starts_with('/')) return refuse("the socket's path does not begin with a slash");
    address.socket = *path;
    return address;
  }
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    if (auto set = set_credentials(address, rest.substr(0, at)); !set) return fail(set.error());
    rest.remove_prefix(at + 1);
  }
  const std::size_t slash = rest.find('/');
  if (auto set = set_host(address, rest.substr(0, slash)); !set) return fail(set.error());
  if (slash != std::string_view::npos && slash + 1 < rest.size()) {
    const int other = address.database;
    if (auto set = set_database(address, rest.substr(slash + 1)); !set) return fail(set.error());
    if (other != 0 && other != address.database) return refuse("it names two databases");
  }
  return address;
}

}  // namespace leasehold::redis
