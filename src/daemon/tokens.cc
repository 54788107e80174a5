#include "daemon/tokens.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>

#include "util/descriptor.h"
#include "util/read_file.h"
#include "util/replace_file.h"
#include "util/rfc3339.h"
#include "util/utf8.h"

namespace leasehold::daemon {
namespace {

namespace json = boost::json;

constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kIdBytes = 6;
constexpr std::string_view kPrefix = "lh_";  // So that scanners for leaked secrets can know it.

template <std::size_t count>
std::string random_hex() {
  std::array<unsigned char, count> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(count)) != 1) return {};
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::string hash_of(std::string_view secret) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  EVP_Digest(secret.data(), secret.size(), digest.data(), &length, EVP_sha256(), nullptr);
  std::string text;
  for (unsigned int i = 0; i < length; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

json::object to_object(const TokenInfo& token) {
  json::object object = {{"id", token.id},           {"sha256", token.hash},
                         {"role", word(token.role)}, {"agent_id", token.agent_id},
                         {"note", token.note},       {"created_at", to_rfc3339(token.created_at)}};
  if (token.expires_at) object["expires_at"] = to_rfc3339(*token.expires_at);
  return object;
}

std::string text_of(const json::object& object, const char* name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(std::string_view(value->get_string())) : "";
}

std::optional<TokenInfo> token_from(const json::value& value) {
  if (!value.is_object()) return std::nullopt;
  const json::object& object = value.get_object();
  const auto role = role_named(text_of(object, "role"));
  TokenInfo token = {.id = text_of(object, "id"),
                     .hash = text_of(object, "sha256"),
                     .role = role.value_or(Role::read_only),
                     .agent_id = text_of(object, "agent_id"),
                     .note = text_of(object, "note"),
                     .created_at = parse_rfc3339(text_of(object, "created_at")).value_or(WallTime())};
  if (object.contains("expires_at")) {
    token.expires_at = parse_rfc3339(text_of(object, "expires_at"));
    if (!token.expires_at) return std::nullopt;  // One that should end must not last for ever.
  }
  if (!role || token.id.empty() || token.hash.size() != 64) return std::nullopt;
  return token;
}

Result<std::vector<TokenInfo>> read_all(const std::string& file) {
  struct stat found{};
  if (::stat(file.c_str(), &found) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::vector<TokenInfo>();
    return fail(Code::config_error,
                fmt::format("The tokens in {} cannot be read: {}.", file, std::strerror(errno)));
  }
  if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0 || (found.st_uid != ::geteuid() && found.st_uid != 0))
    return fail(
        Code::config_error,
        fmt::format("The tokens in {} may be read or written by others. Run: chmod 600 {}", file, file));
  constexpr std::size_t kFileMost = 16 << 20;
  const auto text = read_file(file, kFileMost);
  if (!text) return fail(Code::config_error, fmt::format("The tokens in {} cannot be read.", file));
  boost::system::error_code error;
  const json::value document = json::parse(*text, error);
  const json::value* list =
      !error && document.is_object() ? document.get_object().if_contains("tokens") : nullptr;
  std::vector<TokenInfo> tokens;
  if (list != nullptr && list->is_array()) {
    for (const json::value& one : list->get_array()) {
      auto token = token_from(one);
      if (!token) return fail(Code::corrupt, fmt::format("{} has a token that cannot be read.", file));
      tokens.push_back(*std::move(token));
    }
    return tokens;
  }
  return fail(Code::corrupt, fmt::format("{} is not a file of tokens. Move it away.", file));
}

// One change at a time.
Result<void> change(const std::string& file,
                    const std::function<Result<void>(std::vector<TokenInfo>&)>& edit) {
  std::error_code ignored;
  const auto folder = std::filesystem::path(file).parent_path();
  if (std::filesystem::create_directories(folder, ignored)) ::chmod(folder.c_str(), S_IRWXU);
  const auto cannot = [&](int why) {
    return fail(Code::unavailable, fmt::format("{} cannot be written: {}.", file, std::strerror(why)));
  };
  const Descriptor lock(::open((file + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.is_open() || ::flock(lock.number(), LOCK_EX) != 0) return cannot(errno);
  auto tokens = read_all(file);
  if (!tokens) return fail(tokens.error());
  if (auto edited = edit(*tokens); !edited) return edited;
  json::array list;
  for (const TokenInfo& token : *tokens) list.push_back(to_object(token));
  const std::string text = json::serialize(json::object{{"tokens", std::move(list)}}) + "\n";
  if (auto replaced = replace_file(file, text); !replaced) return cannot(static_cast<int>(replaced.error()));
  return {};
}

}  // namespace

Result<std::shared_ptr<const Tokens>> Tokens::read(const std::string& file) {
  auto all = read_all(file);
  if (!all) return fail(all.error());
  auto tokens = std::make_shared<Tokens>();
  tokens->tokens_ = *std::move(all);
  return tokens;
}

const TokenInfo* Tokens::find(std::string_view secret, WallTime now) const {
  const std::string hash = hash_of(secret);
  const TokenInfo* found = nullptr;
  for (const TokenInfo& token : tokens_) {
    // As long for a near miss as for any other.
    if (CRYPTO_memcmp(token.hash.data(), hash.data(), hash.size()) == 0) found = &token;
  }
  return found != nullptr && (!found->expires_at || now < *found->expires_at) ? found : nullptr;
}

Result<NewToken> create_token(const std::string& file, TokenInfo info) {
  const std::string random = random_hex<kSecretBytes>();
  info.id = random_hex<kIdBytes>();
  if (random.empty() || info.id.empty()) return fail(Code::unavailable, "There is no randomness to be had.");
  std::string secret = std::string(kPrefix) + random;
  info.hash = hash_of(secret);
  auto done = change(file, [&](std::vector<TokenInfo>& tokens) -> Result<void> {
    tokens.push_back(info);
    return {};
  });
  if (!done) return fail(done.error());
  return NewToken{info.id, std::move(secret)};
}

Result<void> revoke_token(const std::string& file, const std::string& id) {
  return change(file, [&](std::vector<TokenInfo>& tokens) -> Result<void> {
    if (std::erase_if(tokens, [&](const TokenInfo& token) { return token.id == id; }) > 0) return {};
    return fail(Code::not_found, fmt::format("There is no token {}. See: lease token list", in_quotes(id)));
  });
}

}  // namespace leasehold::daemon
