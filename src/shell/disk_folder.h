#pragma once

#include "shell/folder_view.h"

namespace leasehold::shell {

// The machine's own disk.
class DiskFolder : public FolderView {
 public:
  bool exists(const std::string& path) const override;
  bool is_folder(const std::string& path) const override;
  bool is_link(const std::string& path) const override;
  std::string resolved(const std::string& path) const override;
  std::optional<std::vector<std::string>> names(const std::string& folder) const override;
  std::optional<std::string> text(const std::string& path) const override;
};

}  // namespace leasehold::shell
