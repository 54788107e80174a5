#include "open/stores.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "open/etcd.h"
#include "store/memory/memory_store.h"
#include "store/redis/redis_store.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/store_folder.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

Result<std::unique_ptr<Store>> open_sqlite(const std::string& url, const StorePlace& site) {
  const std::string folder = embedded_folder(url);
  if (!folder.starts_with('/')) {
    return fail(Code::config_error, fmt::format("The store sqlite:{} has to be an absolute folder, such as "
                                                "sqlite:/var/lib/leases.",
                                                in_sentence(folder)));
  }
  // Not the folder: hooks keep what they saw of files there, too.
  const std::string database = fmt::format("{}/{}", folder, sqlite::kDatabaseName);
  if (!site.create && ::access(database.c_str(), F_OK) != 0 && errno == ENOENT) {
    return fail(Code::not_found,
                fmt::format("There is no store in {}: nothing was ever leased here.", folder));
  }
  SqliteOptions options = {
      .folder = folder, .machine_id = site.machine.machine_id, .boot_id = site.machine.boot_id};
  options.durable = site.durable;
  // Each command reads the log as a whole: 100 pages take some 0.3 ms. Some fifteen acquires fill them, and
  // share the syncs that moving it costs.
  constexpr int kShortLogPages = 100;
  if (site.is_brief) {
    options.log_pages_max = kShortLogPages;
    options.empties_log = true;
  }
  return open_sqlite_store(options, site.clock);
}

Result<std::unique_ptr<Store>> open_redis(const std::string& url, const StorePlace& site) {
  RedisOptions options;
  options.on_warning = [&site](const std::string& warning) { site.notes.push_back(warning); };
  return open_redis_store(url, options);
}

Result<std::unique_ptr<Store>> open_etcd_if_we_can(const std::string& url, const StorePlace& site) {
  if (open_etcd != nullptr) return open_etcd(url, site);
  return fail(Code::config_error,
              "This program cannot use leases in etcd. Use the command lease, which can, or another store.");
}

Result<std::unique_ptr<Store>> open_memory(const std::string&, const StorePlace& site) {
  return open_memory_store(site.clock);
}

constexpr StoreScheme kSchemes[] = {
    {"sqlite", "sqlite:/FOLDER", WorkspaceScope::worktree, false, open_sqlite},
    {"memory", "memory:", WorkspaceScope::worktree, true, open_memory},
    {"redis", "redis://HOST", WorkspaceScope::repo, false, open_redis},
    {"rediss", "rediss://HOST", WorkspaceScope::repo, false, open_redis},
    {"redis+unix", "redis+unix:///SOCKET", WorkspaceScope::repo, false, open_redis},
    {"etcd", "etcd://HOST,HOST,HOST", WorkspaceScope::repo, false, open_etcd_if_we_can},
    {"etcds", "etcds://HOST", WorkspaceScope::repo, false, open_etcd_if_we_can},
    {"http", "http://HOST:PORT", WorkspaceScope::repo, false, nullptr},
    {"https", "https://HOST:PORT", WorkspaceScope::repo, false, nullptr},
    {"http+unix", "http+unix:/SOCKET", WorkspaceScope::repo, false, nullptr},
};

std::string forms() {
  std::string text;
  for (const StoreScheme& one : kSchemes) text += fmt::format("{}{}", text.empty() ? "" : ", ", one.form);
  return text;
}

// Passwords may stand in a URL, and messages go everywhere: only its scheme is shown.
std::string shown(std::string_view url) {
  const auto colon = url.find(':');
  return in_quotes(colon == std::string_view::npos ? url : fmt::format("{}:...", url.substr(0, colon)));
}

}  // namespace

std::string embedded_folder(std::string_view url) {
  constexpr std::string_view kEmbedded = "sqlite:";
  return std::string(url.starts_with(kEmbedded) ? url.substr(kEmbedded.size()) : "");
}

Result<const StoreScheme*> store_scheme(std::string_view url) {
  const auto colon = url.find(':');
  if (colon != std::string_view::npos) {
    for (const StoreScheme& one : kSchemes) {
      if (one.scheme != url.substr(0, colon)) continue;
      if (one.may_be_empty_path || colon + 1 < url.size()) return &one;
    }
  }
  return fail(Code::config_error, fmt::format("There is no store {}. Give one of: {}.", shown(url), forms()));
}

Result<std::unique_ptr<Store>> open_store(const std::string& url, const StorePlace& site) {
  const auto scheme = store_scheme(url);
  if (!scheme) return fail(scheme.error());
  if ((*scheme)->open == nullptr)
    return fail(Code::config_error,
                "A server of leases cannot be the store of another. Name the store it uses.");
  return (*scheme)->open(url, site);
}

}  // namespace leasehold
