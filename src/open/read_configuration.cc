#include "open/read_configuration.h"

#include <fmt/format.h>
#include <unistd.h>

#include "util/shell_word.h"
#include "util/utf8.h"
#include "workspace/project_file.h"
#include "workspace/store_owner.h"

namespace leasehold {
namespace {

std::string user_file(const OpenOptions& options) {
  if (!options.environment) return {};
  const auto folder = [&](const char* name, std::string_view below) -> std::string {
    const char* value = options.environment(name);
    return value == nullptr || *value != '/' ? std::string()
                                             : fmt::format("{}{}/leasehold/config.toml", value, below);
  };
  const std::string file = folder("XDG_CONFIG_HOME", "");
  return file.empty() ? folder("HOME", "/.config") : file;
}

}  // namespace

Result<std::unique_ptr<Configuration>> read_configuration(const OpenOptions& options,
                                                          const Workspace& workspace) {
  ConfigSources sources = {.flags = options.settings, .environment = options.environment};
  if (workspace.config_file) sources.project = {*workspace.config_file, workspace.config};
  if (const std::string file = user_file(options); !file.empty() && ::access(file.c_str(), F_OK) == 0) {
    auto read = read_project_file(file);
    if (!read) return fail(read.error());
    sources.user = {file, std::move(read->table)};
  }
  return Configuration::read(sources);
}

Result<std::string> complete_url(const OpenOptions& options, const Workspace& workspace,
                                 const std::string& url) {
  if (!url.empty()) return url;
  if (!options.place.empty() && has_lost_repository(workspace)) {
    return fail(Code::unavailable,
                fmt::format("{} is a work tree of a repository that is not where its .git file says, and its "
                            "leases are kept there. If the repository was moved, run in it: git worktree "
                            "repair {}. If it cannot be had here, name a store: --store {}",
                            in_quotes(workspace.root), shell_word(workspace.root),
                            shell_word("sqlite:" + store_dir(workspace))));
  }
  if (!options.place.empty()) return "sqlite:" + store_dir(workspace);
  return fail(Code::config_error,
              "Neither a place nor a store was given. Name the folder to work in, or a store, such as "
              "sqlite:/var/lib/leases.");
}

}  // namespace leasehold
