// Bearer tokens, kept as hashes: whoever reads the file cannot use them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/message.h"
#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold::daemon {

struct TokenInfo {
  std::string id;    // To revoke it by; no secret.
  std::string hash;  // SHA-256 of the secret, in hex. The secret has 256 random bits: no salt is needed.
  Role role = Role::agent;
  std::string agent_id;  // The only agent it may act for; empty: any (--any-agent).
  std::string note;
  WallTime created_at;
  std::optional<WallTime> expires_at;

  bool operator==(const TokenInfo&) const = default;
};

// The tokens of one file. Immutable.
class Tokens {
 public:
  // A file that is not there has none. Errors: config_error (not ours, or readable by others), corrupt.
  static Result<std::shared_ptr<const Tokens>> read(const std::string& file);

  // The token of this secret, unless it is over.
  const TokenInfo* find(std::string_view secret, WallTime now) const;
  const std::vector<TokenInfo>& all() const { return tokens_; }
  bool empty() const { return tokens_.empty(); }

 private:
  std::vector<TokenInfo> tokens_;
};

struct NewToken {
  std::string id;
  std::string secret;  // Kept nowhere.
};
// Adds a token. Errors: as read(); unavailable.
Result<NewToken> create_token(const std::string& file, TokenInfo info);
// Error: not_found.
Result<void> revoke_token(const std::string& file, const std::string& id);

}  // namespace leasehold::daemon
