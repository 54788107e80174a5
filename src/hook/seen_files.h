// What an owner last saw of files on this machine's disk: so that it can be told when another changed one
// since, and so that its own writes are told from others'.
//
// One small file of lines for each owner, beside the embedded store: inodes and times of this machine mean
// nothing on another, so a shared store is no place for them. A line that is lost costs a question that is
// not asked.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "leasehold/lease.h"
#include "workspace/workspace.h"

namespace leasehold {

// By the clock that file systems stamp with.
using FileTime = std::chrono::sys_time<std::chrono::nanoseconds>;
FileTime file_clock_now();

struct FileState {
  std::uint64_t inode = 0;  // 0: there is none.
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;

  bool is_there() const { return inode != 0; }
  bool operator==(const FileState&) const = default;
};
FileState state_of(const std::string& path);

struct SeenFile {
  FileTime at;
  FileState state;
  std::string content;  // A hash; empty: it was too large, or not there.
};

class SeenFiles {
 public:
  // Where they are kept. Nothing: the workspace has no place for them.
  static std::optional<std::string> folder_of(const Workspace& workspace);
  // The same, whether or not there is anything around it yet.
  static std::string place_in(const Workspace& workspace);

  SeenFiles(const std::string& folder, const Owner& owner);

  // Nothing was noted of this owner yet.
  bool is_new() const { return bytes_ == 0; }

  // Paths are absolute. Nothing: it was not seen.
  std::optional<SeenFile> find(const std::string& path) const;
  // Whether it is about to be written, or was just now: then nobody can tell who wrote it.
  bool is_being_written(const std::string& path) const;
  // When this command began; `call` is the host's id of it, or empty. Nothing: it is not known.
  std::optional<FileTime> command_began(const std::string& call) const;
  bool runs_command() const;

  // Has it another content than when it was seen? One that was not seen has not.
  bool has_changed(const std::string& path) const;

  void note(const std::string& path);        // It sees the file as it is now.
  void note_state(const std::string& path);  // It knows whether it is there, and how large; no more.
  void note_write_begins(const std::string& path);
  // It got leases in another work tree, too: what ends with its turn or session ends there as well.
  void note_elsewhere(const std::string& root);
  const std::set<std::string>& elsewhere() const { return elsewhere_; }

  // It was denied the file, and may not have it yet: a whole folder is looked at, and what is free in it by
  // now is still to be asked for.
  void note_denied(const std::string& path);
  void note_granted(const std::string& path);
  const std::set<std::string>& denied() const { return denied_; }

  // `alone`: no other one runs any more, though nobody said so.
  void note_command_begins(const std::string& call, bool alone);
  void note_command_ends(const std::string& call);
  // None runs any more: hosts do not report the end of every one.
  void note_no_command();

  // Whether its turn stopped, as far as it was told, and it has not gone on since.
  bool is_stopped() const { return is_stopped_; }
  void note_turn(bool stopped);

  // Whether there is something it was not told, because its host has no place for it before a tool runs.
  bool is_untold() const { return is_untold_; }
  void note_untold(bool untold);

  // The owner is gone. Takes along what owners left behind who did not say so.
  void forget() const;

 private:
  void read();
  void take(char kind, const std::string& path, const SeenFile& seen);
  void append(char kind, const std::string& path, const SeenFile& seen);
  void write_anew() const;

  std::string folder_;
  std::string file_;
  std::size_t bytes_ = 0;
  std::map<std::string, SeenFile> seen_;
  std::map<std::string, FileTime> begun_;
  // Those that run, in the order in which they began.
  struct Running {
    std::string call;
    FileTime began;
  };
  std::vector<Running>::const_iterator running(const std::string& call) const;
  std::vector<Running> commands_;
  std::set<std::string> elsewhere_;
  std::set<std::string> denied_;
  bool is_stopped_ = false;
  bool is_untold_ = false;
};

}  // namespace leasehold
