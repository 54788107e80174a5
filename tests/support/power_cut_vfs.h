// A file system below SQLite that loses, when a test cuts the power, what was not synced.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

struct sqlite3_file;
struct sqlite3_vfs;

namespace leasehold {

// Passes everything on to the default VFS and remembers, for each file, what it was when it was last synced
// and what was written since. Shared memory is not watched: it starts over with the machine. Not thread-safe.
class PowerCutVfs {
 public:
  // `name` is what to open databases with; a literal.
  explicit PowerCutVfs(const char* name);
  PowerCutVfs(const PowerCutVfs&) = delete;
  PowerCutVfs& operator=(const PowerCutVfs&) = delete;
  ~PowerCutVfs();

  // The power goes after so many further writes, syncs and truncations: all later ones fail.
  void fail_after(int steps) { steps_left_ = steps; }
  int steps() const { return steps_; }

  // What unsynced writes leave behind.
  enum class Left { nothing, some_sectors };

  // Puts the files on disk as they are after a power cut. Whoever had them open has closed them.
  void cut(Left left, std::uint32_t seed);

  // How the VFS below it tells of what happens. True: go on.
  bool step();
  void written(const std::string& path, std::int64_t offset, const char* data, int size);
  void truncated(const std::string& path, std::int64_t size);
  void synced(const std::string& path);
  void deleted(const std::string& path) { files_.erase(path); }
  void opened(const std::string& path) { files_.try_emplace(path); }

 private:
  struct Change {
    std::int64_t offset = 0;
    std::optional<std::string> data;  // Nothing: cut off at `offset`.
  };
  struct File {
    std::string safe;
    std::vector<Change> since;
  };

  static void apply(const Change& change, std::string& content);

  std::map<std::string, File> files_;
  int steps_ = 0;
  std::optional<int> steps_left_;
  sqlite3_vfs* vfs_;
};

}  // namespace leasehold
