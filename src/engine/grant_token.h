#pragma once

#include <optional>

#include "store/store.h"

namespace leasehold {

// One token for all that is new in a grant or a transfer. Drawn when the first lease needs it: a grant that
// only extends has none.
class GrantToken {
 public:
  explicit GrantToken(Transaction& transaction) : transaction_(transaction) {}

  Token get() {
    if (!token_) token_ = transaction_.next_token();
    return *token_;
  }

  // 0: nothing needed it.
  Token drawn() const { return token_.value_or(Token{}); }

 private:
  Transaction& transaction_;
  std::optional<Token> token_;
};

}  // namespace leasehold
