#include "support/power_cut_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <new>

namespace leasehold {
namespace {

constexpr std::size_t kSectorBytes = 512;

// SQLite gives it room for the file of the VFS below right behind it.
struct ShimFile {
  sqlite3_file base;
  PowerCutVfs* cutter;
  std::string* path;  // Owned; null for temporary files, which nobody misses.

  sqlite3_file* below() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

ShimFile& shim(sqlite3_file* file) { return *reinterpret_cast<ShimFile*>(file); }
sqlite3_file* below(sqlite3_file* file) { return shim(file).below(); }
const sqlite3_io_methods& methods(sqlite3_file* file) { return *below(file)->pMethods; }

int close_file(sqlite3_file* file) {
  delete shim(file).path;
  return methods(file).xClose(below(file));
}
int read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  return methods(file).xRead(below(file), to, size, offset);
}
int write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  if (!shim(file).cutter->step()) return SQLITE_IOERR_WRITE;
  const int code = methods(file).xWrite(below(file), data, size, offset);
  if (code == SQLITE_OK && shim(file).path != nullptr) {
    shim(file).cutter->written(*shim(file).path, offset, static_cast<const char*>(data), size);
  }
  return code;
}
int truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (!shim(file).cutter->step()) return SQLITE_IOERR_TRUNCATE;
  const int code = methods(file).xTruncate(below(file), size);
  if (code == SQLITE_OK && shim(file).path != nullptr) shim(file).cutter->truncated(*shim(file).path, size);
  return code;
}
int sync(sqlite3_file* file, int flags) {
  if (!shim(file).cutter->step()) return SQLITE_IOERR_FSYNC;
  const int code = methods(file).xSync(below(file), flags);
  if (code == SQLITE_OK && shim(file).path != nullptr) shim(file).cutter->synced(*shim(file).path);
  return code;
}
int file_size(sqlite3_file* file, sqlite3_int64* size) { return methods(file).xFileSize(below(file), size); }
int lock(sqlite3_file* file, int level) { return methods(file).xLock(below(file), level); }
int unlock(sqlite3_file* file, int level) { return methods(file).xUnlock(below(file), level); }
int check_lock(sqlite3_file* file, int* out) { return methods(file).xCheckReservedLock(below(file), out); }
int control(sqlite3_file* file, int what, void* argument) {
  return methods(file).xFileControl(below(file), what, argument);
}
int sector_size(sqlite3_file*) { return static_cast<int>(kSectorBytes); }
int characteristics(sqlite3_file* file) { return methods(file).xDeviceCharacteristics(below(file)); }
int shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** out) {
  return methods(file).xShmMap(below(file), page, size, extend, out);
}
int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return methods(file).xShmLock(below(file), offset, count, flags);
}
void shm_barrier(sqlite3_file* file) { methods(file).xShmBarrier(below(file)); }
int shm_unmap(sqlite3_file* file, int remove) { return methods(file).xShmUnmap(below(file), remove); }

// Version 2: with shared memory, without memory-mapped files.
constexpr sqlite3_io_methods kMethods = {
    2,         close_file, read,    write,       truncate,        sync,    file_size, lock,
    unlock,    check_lock, control, sector_size, characteristics, shm_map, shm_lock,  shm_barrier,
    shm_unmap, nullptr,    nullptr};

struct Shim {
  sqlite3_vfs vfs;
  sqlite3_vfs* below;
  PowerCutVfs* cutter;
};

Shim& shim(sqlite3_vfs* vfs) { return *static_cast<Shim*>(vfs->pAppData); }

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  ShimFile& opened = shim(file);
  opened.base.pMethods = nullptr;
  const int code = shim(vfs).below->xOpen(shim(vfs).below, name, opened.below(), flags, out_flags);
  if (code != SQLITE_OK) return code;
  opened.cutter = shim(vfs).cutter;
  opened.path = name != nullptr ? new std::string(name) : nullptr;
  opened.base.pMethods = &kMethods;
  if (name != nullptr) opened.cutter->opened(name);
  return SQLITE_OK;
}

int delete_file(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  if (!shim(vfs).cutter->step()) return SQLITE_IOERR_DELETE;
  shim(vfs).cutter->deleted(name);
  return shim(vfs).below->xDelete(shim(vfs).below, name, sync_folder);
}

}  // namespace

PowerCutVfs::PowerCutVfs(const char* name) {
  sqlite3_vfs* below = sqlite3_vfs_find(nullptr);
  auto* made = new Shim{*below, below, this};
  made->vfs.zName = name;
  made->vfs.pNext = nullptr;
  made->vfs.szOsFile = static_cast<int>(sizeof(ShimFile)) + below->szOsFile;
  made->vfs.pAppData = made;
  made->vfs.xOpen = open_file;
  made->vfs.xDelete = delete_file;
  // The rest needs nothing but the VFS below, which does not look at the one it is given except for these.
  made->vfs.xAccess = [](sqlite3_vfs* vfs, const char* path, int flags, int* out) {
    return shim(vfs).below->xAccess(shim(vfs).below, path, flags, out);
  };
  made->vfs.xFullPathname = [](sqlite3_vfs* vfs, const char* path, int size, char* out) {
    return shim(vfs).below->xFullPathname(shim(vfs).below, path, size, out);
  };
  vfs_ = &made->vfs;
  sqlite3_vfs_register(vfs_, 0);
}

PowerCutVfs::~PowerCutVfs() {
  sqlite3_vfs_unregister(vfs_);
  delete static_cast<Shim*>(vfs_->pAppData);
}

bool PowerCutVfs::step() {
  ++steps_;
  if (!steps_left_) return true;
  if (*steps_left_ == 0) return false;
  --*steps_left_;
  return true;
}

void PowerCutVfs::written(const std::string& path, std::int64_t offset, const char* data, int size) {
  files_[path].since.push_back({offset, std::string(data, static_cast<std::size_t>(size))});
}

void PowerCutVfs::truncated(const std::string& path, std::int64_t size) {
  files_[path].since.push_back({size, std::nullopt});
}

void PowerCutVfs::synced(const std::string& path) {
  File& file = files_[path];
  for (const Change& change : file.since) apply(change, file.safe);
  file.since.clear();
}

void PowerCutVfs::apply(const Change& change, std::string& content) {
  const auto offset = static_cast<std::size_t>(change.offset);
  if (!change.data) {
    content.resize(offset);
    return;
  }
  content.resize(std::max(content.size(), offset + change.data->size()));
  std::ranges::copy(*change.data, content.begin() + static_cast<std::ptrdiff_t>(offset));
}

void PowerCutVfs::cut(Left left, std::uint32_t seed) {
  std::minstd_rand random(seed + 1);
  const auto survives = [&] { return left == Left::some_sectors && random() % 2 == 0; };
  for (auto& [path, file] : files_) {
    for (const Change& change : file.since) {
      if (!change.data) {
        if (survives()) apply(change, file.safe);
        continue;
      }
      for (std::size_t at = 0; at < change.data->size(); at += kSectorBytes) {
        if (!survives()) continue;
        apply({change.offset + static_cast<std::int64_t>(at), change.data->substr(at, kSectorBytes)},
              file.safe);
      }
    }
    file.since.clear();
    std::ofstream(path, std::ios::binary | std::ios::trunc) << file.safe;
  }
  steps_left_.reset();
}

}  // namespace leasehold
