#include "shell/git_head.h"

#include <algorithm>

#include "shell/place.h"
#include "util/path_text.h"

namespace leasehold::shell {
namespace {

constexpr std::string_view kBranches = "refs/heads/";

std::string first_line(const std::optional<std::string>& text) {
  if (!text) return {};
  std::string line = text->substr(0, text->find('\n'));
  while (line.ends_with('\r') || line.ends_with(' ')) line.pop_back();
  return line;
}

bool is_commit(std::string_view text) {
  constexpr std::size_t kDigits = 40;
  return text.size() >= kDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

GitHead::GitHead(Follower& follower, const std::string& tree)
    : follower_(follower), own_(join(tree, ".git")) {
  const FolderView& files = follower.files();
  constexpr std::string_view kElsewhere = "gitdir: ";
  if (const std::string line = first_line(files.text(own_)); line.starts_with(kElsewhere))
    own_ = placed(tree, line.substr(kElsewhere.size()));
  const std::string shared = first_line(files.text(join(own_, "commondir")));
  common_ = shared.empty() ? own_ : placed(own_, shared);
}

bool GitHead::is_at(std::string_view name) const {
  if (name == "HEAD" || name == "@") return true;
  std::string head = first_line(follower_.files().text(join(own_, "HEAD")));
  constexpr std::string_view kRef = "ref: ";
  if (head.starts_with(kRef)) {
    head.erase(0, kRef.size());
    const std::string_view branch = std::string_view(head).substr(std::min(kBranches.size(), head.size()));
    if (head == name || (head.starts_with(kBranches) && branch == name)) return true;
    head = commit_of(head);
  }
  if (!is_commit(head) || follower_.is_made(join(common_, "packed-refs"))) return false;
  if (head == name) return true;
  // The first of these that there is, as git looks for it.
  for (const std::string_view place : {"refs/", "refs/tags/", "refs/heads/", "refs/remotes/"}) {
    if (const std::string commit = commit_of(std::string(place) + std::string(name)); !commit.empty())
      return commit == head;
  }
  return false;
}

// From its file, or from the list of many.
std::string GitHead::commit_of(std::string_view ref) const {
  if (ref.contains("..")) return {};
  if (std::string commit = first_line(follower_.files().text(join(common_, ref))); is_commit(commit))
    return commit;
  const auto list = follower_.files().text(join(common_, "packed-refs"));
  const std::string line = ' ' + std::string(ref) + '\n';
  const std::size_t at = list ? list->find(line) : std::string::npos;
  if (at == std::string::npos) return {};
  const std::size_t begin = at == 0 ? 0 : list->rfind('\n', at - 1) + 1;
  const std::string commit = list->substr(begin, at - begin);
  return is_commit(commit) ? commit : std::string();
}

void GitHead::note_moved() {
  follower_.note_own(join(own_, "HEAD"));
  note_branches();
}

void GitHead::note_branches() { follower_.note_own(join(common_, "packed-refs")); }

}  // namespace leasehold::shell
