// A workspace as tools over HTTP see it.
#pragma once

#include <string>

#include "daemon/services.h"
#include "leasehold/open.h"

namespace leasehold::daemon {

// The daemon's own workspace lies on its disk: links are resolved and tests found, as for everybody there. Of
// any other, and of a client that says where its own copy lies (`client_root`), paths are only text; an
// absolute one has to be below that root, because nobody could tell it from a key.
class McpWorkspace final : public OpenWorkspace {
 public:
  struct Options {
    Services& services;
    std::string id;           // Of the workspace.
    std::string client_root;  // Absolute; empty: not said.
    std::shared_ptr<Client> client;
  };
  explicit McpWorkspace(Options options);

  bool is_on_disk() const { return is_on_disk_; }
  std::shared_ptr<Client> client() override { return options_.client; }

  Result<std::string> key(const std::string& path, const PathOptions& options) const override;
  Result<std::optional<std::string>> key_if_inside(const std::string& path,
                                                   const PathOptions& options) const override;
  Result<std::vector<WantedPath>> wanted(const std::vector<AskedPath>& paths,
                                         const PathOptions& options) const override;

  const std::string& root() const override { return options_.client_root; }
  const std::string& id() const override { return options_.id; }
  const std::string& store_url() const override { return options_.services.store_url(); }
  const std::string& profile() const override { return nothing_; }
  bool is_managed() const override { return true; }
  const std::vector<std::string>& notes() const override { return options_.services.notes(); }
  bool gates_reads() const override { return false; }

  // Nobody's death is seen through HTTP.
  std::optional<Process> caller_process() const override { return std::nullopt; }
  std::optional<Process> own_process() const override { return std::nullopt; }

  // No tool asks for these.
  Result<std::vector<EffectiveSetting>> settings() const override { return std::vector<EffectiveSetting>(); }
  Result<Setting> setting(const std::string&, const std::string&, const std::string&) const override {
    return Setting();
  }
  Result<std::vector<Defect>> examine_store(bool) override { return std::vector<Defect>(); }
  void set_room_busy(const std::string&, bool) override {}

 private:
  Result<std::string> text_key(const std::string& path) const;

  const Options options_;
  const bool is_on_disk_;
  const std::string nothing_;
};

}  // namespace leasehold::daemon
