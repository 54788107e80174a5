#include "daemon/door.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "daemon/tokens.h"
#include "util/lower_case.h"
#include "util/utf8.h"
#include "util/wall_now.h"

namespace leasehold::daemon {
namespace {

constexpr std::size_t kBasicMost = 1'024;

// A host as in Host or an Origin: without the port, in lower case.
std::string host_of(std::string_view text) {
  if (const auto scheme = text.find("://"); scheme != std::string_view::npos) text.remove_prefix(scheme + 3);
  const auto colon = text.rfind(':');
  const bool has_port = colon != std::string_view::npos &&
                        text.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  return lower_case(has_port ? text.substr(0, colon) : text);
}

Response unauthorized(std::string_view message) {
  Response response = problem(401, "unauthorized", message);
  response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"leasehold\"");
  return response;
}

// Of "Bearer TOKEN"; or of "Basic ...", as git asks people for it: any user name, and the token as password.
std::optional<std::string> secret_in(std::string_view header) {
  const auto blank = std::min(header.find(' '), header.size());
  const std::string scheme = lower_case(header.substr(0, blank));
  const std::string_view rest = header.substr(std::min(blank + 1, header.size()));
  if (scheme == "bearer") return std::string(rest);
  if (scheme != "basic" || rest.size() > kBasicMost) return std::nullopt;
  std::string plain(rest.size(), '\0');
  const int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(plain.data()),
                      reinterpret_cast<const unsigned char*>(rest.data()), static_cast<int>(rest.size()));
  if (size < 0) return std::nullopt;
  plain.resize(static_cast<std::size_t>(size));
  while (plain.ends_with('\0')) plain.pop_back();  // What the padding stands for.
  const auto colon = plain.find(':');
  return colon == std::string::npos ? std::nullopt : std::optional(plain.substr(colon + 1));
}

}  // namespace

Door::Door(Options options, std::shared_ptr<const Tokens> tokens)
    : options_(std::move(options)), tokens_(std::move(tokens)) {}
Door::~Door() = default;

// A page in a browser can have its own name lead here (DNS rebinding), but cannot make the browser lie about
// the name.
std::optional<Response> Door::check_address(const Peer& peer, const Request& request) const {
  const std::string_view origin = request.header("origin");
  if (peer.is_unix) return std::nullopt;
  const std::string host = host_of(request.header("host"));
  if (!options_.hosts.contains(host)) {
    return problem(421, "misdirected",
                   fmt::format("This server is not {}. If it should be: lease serve --host {}",
                               in_quotes(host), in_sentence(host)));
  }
  if (!origin.empty() && !options_.hosts.contains(host_of(origin)))
    return problem(403, "forbidden", "Pages from elsewhere may not ask this server.");
  return std::nullopt;
}

std::expected<Principal, Response> Door::admit(const Peer& peer, const Request& request) const {
  if (auto refused = check_address(peer, request)) return std::unexpected(*std::move(refused));
  if (peer.is_unix) {
    // Whoever has this user's rights could open the store itself.
    if (peer.uid == options_.uid || peer.uid == 0)
      return Principal{
          .role = Role::op, .agent_id = {}, .is_local = true, .name = fmt::format("uid {}", peer.uid)};
    return std::unexpected(
        problem(403, "forbidden",
                fmt::format("This socket is for uid {}, and you are {}. Ask for a token, and use TCP.",
                            options_.uid, peer.uid)));
  }
  const std::string_view header = request.header("authorization");
  if (!header.empty()) {
    const auto secret = secret_in(header);
    if (!secret) return std::unexpected(unauthorized("Authorization has to be: Bearer TOKEN."));
    const TokenInfo* token = tokens_->find(*secret, wall_now());
    if (token == nullptr)
      return std::unexpected(
          unauthorized("This token is not known here, or is over. See: lease token create"));
    return Principal{.role = token->role,
                     .agent_id = token->agent_id,
                     .name = "token " + token->id,
                     .until = token->expires_at};
  }
  if (!peer.certificate.empty())
    return Principal{
        .role = Role::agent, .agent_id = peer.certificate, .name = "certificate " + peer.certificate};
  if (options_.open_to_loopback && peer.is_loopback)
    return Principal{.role = Role::op, .agent_id = {}, .name = "loopback"};
  return std::unexpected(
      unauthorized("A token is needed: Authorization: Bearer TOKEN. See: lease token create"));
}

}  // namespace leasehold::daemon
