// One file, one key, judged by the kernel: random trees with links of all kinds, random spellings, and for
// each what the system itself opens, creates or refuses.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "model/key.h"
#include "util/path_text.h"
#include "workspace/path_intake.h"
#include "workspace/scratch_tree.h"

namespace leasehold {
namespace {

enum class Kind { folder, file, link };

struct Step {
  Kind kind;
  std::string at;      // In the workspace.
  std::string target;  // Of a link.
};

void showValue(const Step& step, std::ostream& out) {
  out << (step.kind == Kind::folder ? "folder " : step.kind == Kind::file ? "file " : "link ") << step.at;
  if (step.kind == Kind::link) out << " -> " << step.target;
}

// Few names, so that they meet.
rc::Gen<std::string> spelling() {
  const auto segment =
      rc::gen::weightedElement<std::string>({{6, "a"}, {6, "b"}, {4, "c"}, {3, ".."}, {1, "."}, {1, ""}});
  return rc::gen::map(
      rc::gen::pair(rc::gen::container<std::vector<std::string>>(4, segment), rc::gen::inRange(1, 5)),
      [](const std::pair<std::vector<std::string>, int>& drawn) {
        std::string path;
        for (int i = 0; i < std::min(drawn.second, 4); ++i) {
          if (i > 0) path += '/';
          path += drawn.first[static_cast<std::size_t>(i)];
        }
        return path.empty() || path.front() == '/' ? "a" + path : path;
      });
}

rc::Gen<Step> step() {
  const auto kind = rc::gen::weightedElement<Kind>({{4, Kind::folder}, {2, Kind::file}, {5, Kind::link}});
  const auto target = rc::gen::weightedOneOf<std::string>(
      {{6, spelling()},
       {2, rc::gen::map(spelling(), [](const std::string& path) { return "ROOT/" + path; })},
       {1, rc::gen::map(spelling(), [](const std::string& path) { return "../outside/" + path; })}});
  return rc::gen::construct<Step>(kind, spelling(), target);
}

// Steps that cannot be done are left out: which ones can, depends on those before.
void build(const ScratchTree& tree, const std::vector<Step>& steps) {
  tree.folder("ws");
  tree.folder("outside/a");
  for (const Step& one : steps) {
    const std::string at = tree / ("ws/" + one.at);
    std::string target = one.target;
    if (target.starts_with("ROOT/")) target = tree / ("ws/" + target.substr(5));
    switch (one.kind) {
      case Kind::folder:
        (void)::mkdir(at.c_str(), 0700);
        break;
      case Kind::file:
        if (const int fd = ::open(at.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600); fd >= 0)
          ::close(fd);
        break;
      case Kind::link:
        (void)!::symlink(target.c_str(), at.c_str());
        break;
    }
  }
}

// What the system makes of a path.
struct Truth {
  std::optional<std::string> path;  // The file it opens, or creates.
  bool is_loop = false;             // Neither: and nobody else can.
};

Truth ask_the_kernel(const std::string& path) {
  std::array<char, PATH_MAX> buffer{};
  if (::realpath(path.c_str(), buffer.data()) != nullptr) return {.path = buffer.data()};
  if (errno == ELOOP) return {.path = {}, .is_loop = true};

  const int fd = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return {};
  const std::string self = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = ::readlink(self.c_str(), buffer.data(), buffer.size());
  ::close(fd);
  RC_ASSERT(length > 0);
  return {.path = std::string(buffer.data(), static_cast<std::size_t>(length))};
}

Result<std::string> key_of(const Workspace& workspace, const std::string& path, const std::string& cwd) {
  return key_from_os(workspace, {.path = path, .cwd = cwd});
}

void check_spelling(const Workspace& workspace, const std::string& cwd, const std::string& path) {
  const std::string full = path.starts_with('/') ? path : join(cwd, path);

  const auto before = key_of(workspace, path, cwd);  // First: asking the kernel may create the file.
  const Truth truth = ask_the_kernel(full);
  const auto after = key_of(workspace, path, cwd);

  RC_LOG() << full << " is " << truth.path.value_or("(none)") << ", key " << before.value_or("(none)")
           << '\n';
  // Creating a file must not change its key: the lease was taken before.
  RC_ASSERT((before == after));
  if (before) RC_ASSERT((key_from_wire(*before) == *before));
  if (truth.is_loop) RC_ASSERT(!before);
  if (!truth.path) return;
  const auto inside = below(*truth.path, workspace.root);
  RC_ASSERT(before.has_value() == inside.has_value());
  if (inside) RC_ASSERT(*before == *inside);
}

RC_GTEST_PROP(PathIntakeProperty, KeyIsTheFileTheKernelOpensOrCreates, ()) {
  const auto steps = *rc::gen::resize(30, rc::gen::container<std::vector<Step>>(step()));
  const auto spellings = *rc::gen::container<std::vector<std::string>>(12, spelling());
  const auto folder = *spelling();
  const ScratchTree tree;
  build(tree, steps);
  Workspace workspace;
  workspace.root = tree / "ws";

  for (const std::string& path : spellings) {
    check_spelling(workspace, workspace.root, path);
    check_spelling(workspace, tree / ("ws/" + folder),
                   path);  // The folder may be reached through a link, too.
    check_spelling(workspace, "/", tree / ("ws/" + path));
  }
}

// What is to be created with its folders: the part that exists is the kernel's to say, the rest is text.
RC_GTEST_PROP(PathIntakeProperty, MissingFoldersFollowTheirExistingParent, ()) {
  const auto steps = *rc::gen::resize(30, rc::gen::container<std::vector<Step>>(step()));
  const auto start = *spelling();
  const ScratchTree tree;
  build(tree, steps);
  Workspace workspace;
  workspace.root = tree / "ws";
  const std::string folder = tree / ("ws/" + start);
  std::array<char, PATH_MAX> real{};
  RC_PRE((::realpath(folder.c_str(), real.data()) != nullptr));

  const auto key = key_of(workspace, folder + "/new/folder/x", "/");

  const auto inside = below(real.data(), workspace.root);
  RC_ASSERT(key.has_value() == inside.has_value());
  if (inside) RC_ASSERT(*key == join(*inside, "new/folder/x"));
}

}  // namespace
}  // namespace leasehold
