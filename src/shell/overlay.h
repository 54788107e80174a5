// The disk as it will be once the first part of a command line has run.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "shell/folder_view.h"

namespace leasehold::shell {

// What is removed stays: naming too much is the lesser mistake.
class Overlay : public FolderView {
 public:
  explicit Overlay(const FolderView& below) : below_(below) {}

  void add_file(const std::string& path);
  void add_folder(const std::string& path);
  bool is_added(const std::string& path) const;

  bool exists(const std::string& path) const override;
  bool is_folder(const std::string& path) const override;
  bool is_link(const std::string& path) const override { return below_.is_link(path); }
  std::string resolved(const std::string& path) const override { return below_.resolved(path); }
  std::optional<std::vector<std::string>> names(const std::string& folder) const override;
  std::optional<std::string> text(const std::string& path) const override;

 private:
  const FolderView& below_;
  std::set<std::string> files_;
  std::set<std::string> folders_;
};

}  // namespace leasehold::shell
