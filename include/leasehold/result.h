#pragma once

#include <expected>
#include <string>
#include <utility>

#include "leasehold/error.h"

namespace leasehold {

// A value, or the error that kept us from it. A refusal is not an error: it is part of the value.
template <class T>
using Result = std::expected<T, Error>;

[[nodiscard]] inline std::unexpected<Error> fail(Code code, std::string message) {
  return std::unexpected(Error{code, std::move(message)});
}

[[nodiscard]] inline std::unexpected<Error> fail(Error error) { return std::unexpected(std::move(error)); }

}  // namespace leasehold
