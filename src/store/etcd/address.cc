#include "store/etcd/address.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "util/number.h"
#include "util/percent.h"
#include "util/utf8.h"

namespace leasehold::etcd {
namespace {

constexpr int kDefaultPort = 2379;

// No part of the URL is shown: a password may stand anywhere in one that is wrong.
std::unexpected<Error> refuse(std::string_view why) {
  return fail(Code::config_error,
              fmt::format("The etcd URL cannot be used: {}. Write it as etcd://host1:2379,host2:2379/prefix "
                          "or, with TLS, etcds://host.",
                          why));
}

std::optional<int> number_from_one(std::string_view text, int most) {
  const auto value = parse_number<int>(text);
  return value && *value >= 1 && *value <= most ? value : std::nullopt;
}

Result<void> add_parameter(Address& address, std::string_view name, std::string value) {
  if (name == "timeout_ms") {
    const auto milliseconds = number_from_one(value, 3'600'000);
    if (!milliseconds) return refuse("the timeout is not a number of milliseconds");
    address.timeout = Duration(*milliseconds);
    return {};
  }
  if (name == "max_txn_ops") {
    address.max_txn_ops = number_from_one(value, 1'000'000);
    if (!address.max_txn_ops) return refuse("max_txn_ops is not a number");
    return {};
  }
  const auto texts = {
      std::pair<std::string_view, std::string*>{"user", &address.user},
      {"password", &address.password},
      {"ca", &address.ca_file},
      {"cert", &address.certificate},
      {"key", &address.key},
      {"server_name", &address.server_name},
  };
  for (const auto& [known, place] : texts) {
    if (known != name) continue;
    *place = std::move(value);
    return {};
  }
  return refuse(fmt::format("nothing is called {} behind its question mark", in_quotes(name)));
}

Result<void> add_parameters(Address& address, std::string_view query) {
  for (std::size_t end = 0; end != std::string_view::npos && !query.empty();) {
    end = query.find('&');
    const std::string_view one = query.substr(0, end);
    const std::size_t equals = one.find('=');
    auto value = percent_decoded(equals == std::string_view::npos ? "%" : one.substr(equals + 1));
    if (!value) return refuse("a part behind its question mark is not name=value");
    if (auto added = add_parameter(address, one.substr(0, equals), std::move(*value)); !added) return added;
    if (end != std::string_view::npos) query.remove_prefix(end + 1);
  }
  return {};
}

Result<void> add_endpoint(Address& address, std::string_view text) {
  const std::size_t host_end = text.starts_with('[') ? text.find(']') + 1 : text.find(':');
  const std::string_view host = text.substr(0, host_end);
  const std::string_view rest = text.substr(std::min(host_end, text.size()));
  if (host.empty()) return refuse("it names no host");
  int port = kDefaultPort;
  if (!rest.empty()) {
    const auto given = rest.starts_with(':') ? number_from_one(rest.substr(1), 65'535) : std::nullopt;
    if (!given) return refuse("a port is not a number");
    port = *given;
  }
  address.endpoints.push_back(fmt::format("{}:{}", host, port));
  return {};
}

}  // namespace

std::string Address::shown() const {
  return fmt::format("{}://{}", tls ? "etcds" : "etcd", fmt::join(endpoints, ","));
}

Result<Address> parse_url(std::string_view url) {
  Address address;
  address.tls = url.starts_with("etcds://");
  if (!address.tls && !url.starts_with("etcd://"))
    return refuse("it does not begin with etcd:// or etcds://");
  std::string_view rest = url.substr(url.find("://") + 3);

  if (const std::size_t question = rest.find('?'); question != std::string_view::npos) {
    if (auto added = add_parameters(address, rest.substr(question + 1)); !added) return fail(added.error());
    rest = rest.substr(0, question);
  }
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    const std::string_view both = rest.substr(0, at);
    const std::size_t colon = both.find(':');
    if (colon == std::string_view::npos) return refuse("there is no colon before the password");
    auto user = percent_decoded(both.substr(0, colon));
    auto password = percent_decoded(both.substr(colon + 1));
    if (!user || !password) return refuse("a % is not followed by two hexadecimal digits");
    address.user = std::move(*user);
    address.password = std::move(*password);
    rest.remove_prefix(at + 1);
  }
  const std::size_t slash = rest.find('/');
  if (slash != std::string_view::npos && slash + 1 < rest.size()) {
    auto prefix = percent_decoded(rest.substr(slash + 1));
    if (!prefix) return refuse("a % is not followed by two hexadecimal digits");
    while (prefix->ends_with('/')) prefix->pop_back();
    address.prefix = std::move(*prefix);
  }
  std::string_view hosts = rest.substr(0, slash);
  for (std::size_t comma = 0; comma != std::string_view::npos;) {
    comma = hosts.find(',');
    if (auto added = add_endpoint(address, hosts.substr(0, comma)); !added) return fail(added.error());
    if (comma != std::string_view::npos) hosts.remove_prefix(comma + 1);
  }
  return address;
}

}  // namespace leasehold::etcd
