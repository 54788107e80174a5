// For tests: a workspace without a disk, on whichever client a test has.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "leasehold/open.h"

namespace leasehold::mcp {

// "a" is the key "/a". Its client outlives it.
class TestWorkspace final : public OpenWorkspace {
 public:
  TestWorkspace(Client& client, Process own) : client_(&client, [](Client*) {}), own_(std::move(own)) {}

  std::shared_ptr<Client> client() override { return client_; }
  std::optional<Process> caller_process() const override { return own_; }
  std::optional<Process> own_process() const override { return own_; }

  Result<std::string> key(const std::string& path, const PathOptions&) const override { return "/" + path; }
  Result<std::optional<std::string>> key_if_inside(const std::string& path,
                                                   const PathOptions&) const override {
    return "/" + path;
  }
  Result<std::vector<WantedPath>> wanted(const std::vector<AskedPath>& paths,
                                         const PathOptions&) const override {
    std::vector<WantedPath> wanted;
    for (const AskedPath& asked : paths) {
      WantedPath& one = wanted.emplace_back();
      one.path = "/" + asked.path;
      one.subtree = asked.subtree;
    }
    return wanted;
  }

  const std::string& root() const override { return nothing_; }
  const std::string& id() const override { return nothing_; }
  const std::string& store_url() const override { return nothing_; }
  const std::string& profile() const override { return nothing_; }
  bool is_managed() const override { return true; }
  const std::vector<std::string>& notes() const override { return notes_; }
  bool gates_reads() const override { return false; }
  Result<std::vector<EffectiveSetting>> settings() const override { return std::vector<EffectiveSetting>(); }
  Result<Setting> setting(const std::string&, const std::string&, const std::string&) const override {
    return Setting();
  }
  Result<std::vector<Defect>> examine_store(bool) override { return std::vector<Defect>(); }
  void set_room_busy(const std::string&, bool) override {}

 private:
  const std::shared_ptr<Client> client_;
  const Process own_;
  const std::string nothing_;
  const std::vector<std::string> notes_;
};

}  // namespace leasehold::mcp
