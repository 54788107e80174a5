// The [pairs] table of .leasehold.toml:
//
//   [pairs]
//   enabled = true            # false: no pairs at all
//   mode = "extend"           # or "replace": without the built-in rules
//
//   [[pairs.rule]]
//   name = "handlers"         # the name of a built-in rule: instead of that one
//   source = "api/{sub}/{name}.go"
//   tests = ["e2e/{sub}/{name}_test.go"]
//
//   [[pairs.rule]]
//   name = "python"
//   enabled = false           # without this built-in rule
#pragma once

#include <string_view>

#include "leasehold/result.h"
#include "util/toml.h"
#include "workspace/pairs.h"

namespace leasehold {

// The rules of a project: its own first, then the built-in ones. `config` is its whole file, whose name
// `file` is for messages; an empty table gives the built-in rules.
//
// Errors: config_error, naming file, line and rule.
Result<PairRules> pair_rules(const TomlTable& config, std::string_view file);

}  // namespace leasehold
