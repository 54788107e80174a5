// What a command line means depends on what is there: `cp a b` writes b, or b/a.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace leasehold::shell {

// What the disk says. Paths are absolute. None fails: what cannot be looked at is not there.
class FolderView {
 public:
  virtual ~FolderView() = default;
  virtual bool exists(const std::string& path) const = 0;
  virtual bool is_folder(const std::string& path) const = 0;
  // A symbolic link, to whatever.
  virtual bool is_link(const std::string&) const { return false; }
  // Where a path leads: links are followed before a ".." behind them is.
  virtual std::string resolved(const std::string& path) const { return path; }
  // The names in a folder, in order, hidden ones too. Nothing: there are too many to look at.
  virtual std::optional<std::vector<std::string>> names(const std::string& folder) const = 0;
  // A small file. Nothing: it is not there, or not small.
  virtual std::optional<std::string> text(const std::string& path) const = 0;
};

}  // namespace leasehold::shell
