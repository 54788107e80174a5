// The words of one command line, sorted by what the command's specification says about them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "leasehold/lease.h"

namespace leasehold {

class Arguments {
 public:
  // Errors: invalid_argument, saying what does not fit and what may have been meant.
  static Result<Arguments> parse(const Command& command, std::span<const std::string_view> words);

  // By the long name, without the dashes: "ttl".
  bool has(std::string_view option) const { return values_.contains(option); }
  std::optional<std::string> text(std::string_view option) const;
  std::vector<std::string> texts(std::string_view option) const;

  // Errors: invalid_argument.
  Result<std::optional<Duration>> duration(std::string_view option) const;
  Result<std::optional<std::int64_t>> number(std::string_view option, std::int64_t least,
                                             std::int64_t most) const;

  const std::vector<std::string>& operands() const { return operands_; }
  const std::vector<std::string>& command() const { return command_; }  // Behind "--".

 private:
  friend class Parser;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> operands_;
  std::vector<std::string> command_;
};

}  // namespace leasehold
