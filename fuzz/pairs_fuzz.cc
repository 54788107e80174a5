// Settings files from any bytes: read or refused, and the rules of those that are read stay inside the tree.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/key.h"
#include "util/check.h"
#include "workspace/pair_config.h"
#include "workspace/project_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leasehold;
  const auto project = parse_project_file({reinterpret_cast<const char*>(data), size}, "f");
  if (!project) {
    LEASEHOLD_CHECK(project.error().code == Code::config_error);
    return 0;
  }
  const auto rules = pair_rules(project->table, "f");
  if (!rules) {
    LEASEHOLD_CHECK(rules.error().code == Code::config_error);
    return 0;
  }
  const std::vector<std::string> keys = {"/src/a.ts", "/a",     "/src/b/src/c/x_test.go",
                                         "/...ts",    "port:1", "/"};
  for (const PairedPath& pair : rules->expand(keys, [](const std::string&) { return true; })) {
    LEASEHOLD_CHECK(key_from_wire(pair.path) == pair.path);
  }
  return 0;
}
