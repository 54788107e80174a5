#include "hook/seen_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <tuple>

#include "util/descriptor.h"
#include "util/path_text.h"
#include "util/read_file.h"
#include "util/replace_file.h"
#include "util/stable_hash.h"
#include "util/write_all.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// Larger files are compared by size and time alone: reading them would take longer than the rest of a hook.
constexpr std::size_t kHashedMax = std::size_t{1} << 20;
// Of one owner: some thousand lines. Beyond half of it, only the last line of each file is kept.
constexpr std::size_t kBytesMax = std::size_t{1} << 20;
// How long a tool takes to write a file, at most.
constexpr auto kWriting = 60s;
// Hosts do not report the end of every command. One that began longer ago is taken to be over.
constexpr auto kRunning = 10min;
constexpr auto kKept = std::chrono::days(3);

constexpr char kSeen = 's';
constexpr char kWriteBegins = 'w';
constexpr char kCommandBegins = 'c';
constexpr char kCommandEnds = 'e';
constexpr char kNoCommand = 'x';
constexpr char kElsewhere = 'o';
constexpr char kDenied = 'd';
constexpr char kGranted = 'a';
constexpr char kStops = 'h';
constexpr char kGoesOn = 'g';
constexpr char kUntold = 'n';
constexpr char kTold = 't';

std::string content_of(const std::string& path, const FileState& state) {
  if (!state.is_there() || state.size > kHashedMax) return {};
  const auto text = read_file(path, kHashedMax);
  return text ? stable_hash({*text}) : std::string();
}

template <class Number>
bool take_number(std::string_view& line, Number& number) {
  const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (problem != std::errc() || end == line.data() + line.size() || *end != ' ') return false;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
  return true;
}

struct Line {
  char kind = 0;
  SeenFile seen;
  std::string path;
};

// Anything else is passed over: a line may have been cut.
std::optional<Line> parse(std::string_view text) {
  if (text.size() < 2 || text[1] != ' ') return std::nullopt;
  Line line = {.kind = text[0]};
  text.remove_prefix(2);
  std::int64_t at = 0;
  FileState& state = line.seen.state;
  if (!take_number(text, at) || !take_number(text, state.inode) || !take_number(text, state.size) ||
      !take_number(text, state.modified_ns)) {
    return std::nullopt;
  }
  line.seen.at = FileTime(std::chrono::nanoseconds(at));
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  line.seen.content = text.substr(0, blank);
  line.path = text.substr(blank + 1);
  return line;
}

std::string line_of(char kind, const std::string& path, const SeenFile& seen) {
  return fmt::format("{} {} {} {} {} {} {}\n", kind, seen.at.time_since_epoch().count(), seen.state.inode,
                     seen.state.size, seen.state.modified_ns, seen.content, path);
}

// Who saw a file first is told from this: the clock of files stands still for milliseconds.
FileTime exactly_now() { return FileTime(std::chrono::system_clock::now().time_since_epoch()); }

}  // namespace

FileTime file_clock_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return FileTime(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

FileState state_of(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return {};
  return {found.st_ino, static_cast<std::uint64_t>(found.st_size),
          found.st_mtim.tv_sec * 1'000'000'000LL + found.st_mtim.tv_nsec};
}

std::string SeenFiles::place_in(const Workspace& workspace) {
  return join(workspace.git_common_dir ? join(*workspace.git_common_dir, "leasehold")
                                       : join(workspace.root, ".leasehold"),
              "seen");
}

std::optional<std::string> SeenFiles::folder_of(const Workspace& workspace) {
  std::string folder = place_in(workspace);
  const std::string around(parent_of(folder));
  if (!workspace.git_common_dir && ::access(around.c_str(), F_OK) != 0) return std::nullopt;
  return folder;
}

SeenFiles::SeenFiles(const std::string& folder, const Owner& owner)
    : folder_(folder), file_(join(folder, stable_hash({owner.agent_id, owner.session_id}))) {
  read();
}

void SeenFiles::read() {
  const auto text = read_file(file_, kBytesMax);
  if (!text) return;
  bytes_ = text->size();
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) return;
    if (auto line = parse(rest.substr(0, end))) take(line->kind, line->path, line->seen);
    rest.remove_prefix(end + 1);
  }
}

void SeenFiles::take(char kind, const std::string& path, const SeenFile& seen) {
  if (kind == kCommandBegins) {
    std::erase_if(commands_, [&](const Running& one) { return seen.at - one.began > kRunning; });
    commands_.push_back({path, seen.at});
  } else if (kind == kCommandEnds) {
    if (const auto ended = running(path); ended != commands_.end()) {
      const FileTime began = ended->began;
      commands_.erase(ended);
      // What happened since was looked at.
      for (Running& one : commands_) {
        if (one.began >= began) one.began = seen.at;
      }
    }
  } else if (kind == kNoCommand) {
    commands_.clear();
  } else if (kind == kStops || kind == kGoesOn) {
    is_stopped_ = kind == kStops;
  } else if (kind == kUntold || kind == kTold) {
    is_untold_ = kind == kUntold;
  } else if (kind == kElsewhere) {
    elsewhere_.insert(path);
  } else if (kind == kDenied) {
    denied_.insert(path);
  } else if (kind == kGranted) {
    denied_.erase(path);
  } else if (kind == kWriteBegins) {
    begun_[path] = seen.at;
  } else if (kind == kSeen) {
    seen_[path] = seen;
    begun_.erase(path);
  }
}

std::optional<SeenFile> SeenFiles::find(const std::string& path) const {
  const auto found = seen_.find(path);
  if (found == seen_.end()) return std::nullopt;
  return found->second;
}

bool SeenFiles::is_being_written(const std::string& path) const {
  const auto found = begun_.find(path);
  return found != begun_.end() && file_clock_now() - found->second < kWriting;
}

bool SeenFiles::has_changed(const std::string& path) const {
  const auto found = seen_.find(path);
  if (found == seen_.end()) return false;
  const FileState now = state_of(path);
  if (now == found->second.state) return false;
  const std::string& content = found->second.content;
  return content.empty() || content_of(path, now) != content;
}

void SeenFiles::note(const std::string& path) {
  const FileState now = state_of(path);
  append(kSeen, path, {exactly_now(), now, content_of(path, now)});
}

void SeenFiles::note_state(const std::string& path) { append(kSeen, path, {exactly_now(), state_of(path)}); }

void SeenFiles::note_write_begins(const std::string& path) { append(kWriteBegins, path, {file_clock_now()}); }

// One without an id is whichever of those began first; so is one whose beginning was told without.
std::vector<SeenFiles::Running>::const_iterator SeenFiles::running(const std::string& call) const {
  const auto found = std::ranges::find(commands_, call, &Running::call);
  if (found != commands_.end() || call.empty()) return found;
  return std::ranges::find(commands_, std::string(), &Running::call);
}

std::optional<FileTime> SeenFiles::command_began(const std::string& call) const {
  const auto found = running(call);
  if (found == commands_.end()) return std::nullopt;
  return found->began;
}

void SeenFiles::note_command_begins(const std::string& call, bool alone) {
  if (alone) note_no_command();
  append(kCommandBegins, call, {file_clock_now()});
}

void SeenFiles::note_command_ends(const std::string& call) {
  if (running(call) != commands_.end()) append(kCommandEnds, call, {file_clock_now()});
}

void SeenFiles::note_no_command() {
  if (!commands_.empty()) append(kNoCommand, {}, {file_clock_now()});
}

bool SeenFiles::runs_command() const {
  return std::ranges::any_of(commands_,
                             [](const Running& one) { return file_clock_now() - one.began < kRunning; });
}

void SeenFiles::note_elsewhere(const std::string& root) {
  if (!elsewhere_.contains(root)) append(kElsewhere, root, {file_clock_now()});
}

void SeenFiles::note_denied(const std::string& path) {
  if (!denied_.contains(path)) append(kDenied, path, {file_clock_now()});
}

void SeenFiles::note_granted(const std::string& path) {
  if (denied_.contains(path)) append(kGranted, path, {file_clock_now()});
}

void SeenFiles::note_turn(bool stopped) {
  if (stopped != is_stopped_) append(stopped ? kStops : kGoesOn, {}, {file_clock_now()});
}

void SeenFiles::note_untold(bool untold) {
  if (untold != is_untold_) append(untold ? kUntold : kTold, {}, {file_clock_now()});
}

void SeenFiles::append(char kind, const std::string& path, const SeenFile& seen) {
  if (path.contains('\n')) return;
  take(kind, path, seen);
  const std::string line = line_of(kind, path, seen);
  if (bytes_ + line.size() > kBytesMax / 2) return write_anew();
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC;
  Descriptor file(::open(file_.c_str(), kFlags, 0600));
  if (!file.is_open() && errno == ENOENT) {
    ::mkdir(std::string(parent_of(folder_)).c_str(), 0700);
    ::mkdir(folder_.c_str(), 0700);
    file = Descriptor(::open(file_.c_str(), kFlags, 0600));
  }
  if (write_all(file.number(), line) == std::errc()) bytes_ += line.size();
}

void SeenFiles::write_anew() const {
  std::string text;
  for (const auto& [path, seen] : seen_) text += line_of(kSeen, path, seen);
  for (const Running& one : commands_) text += line_of(kCommandBegins, one.call, {one.began});
  for (const std::string& root : elsewhere_) text += line_of(kElsewhere, root, {file_clock_now()});
  for (const std::string& path : denied_) text += line_of(kDenied, path, {file_clock_now()});
  if (is_stopped_) text += line_of(kStops, {}, {file_clock_now()});
  if (is_untold_) text += line_of(kUntold, {}, {file_clock_now()});
  // Too many files for this: it begins anew.
  if (text.size() > kBytesMax / 2) text.clear();
  std::ignore = replace_file(file_, text, Outlives::process);
}

void SeenFiles::forget() const {
  ::unlink(file_.c_str());
  DIR* const folder = ::opendir(folder_.c_str());
  if (folder == nullptr) return;
  const std::time_t oldest = std::time(nullptr) - std::chrono::seconds(kKept).count();
  while (const dirent* entry = ::readdir(folder)) {
    struct stat found{};
    const std::string path = join(folder_, entry->d_name);
    if (::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) && found.st_mtim.tv_sec < oldest)
      ::unlink(path.c_str());
  }
  ::closedir(folder);
}

}  // namespace leasehold
