#include "hook/hook.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "client/named_leases.h"
#include "hook/aftermath.h"
#include "hook/asked_paths.h"
#include "hook/news.h"
#include "hook/noted_session.h"
#include "hook/reason.h"
#include "hook/resumed.h"
#include "hook/session_keeper.h"
#include "hook/stale.h"
#include "open/open_found.h"
#include "shell/disk_folder.h"
#include "shell/place.h"
#include "util/path_text.h"
#include "util/percent.h"
#include "util/resolve_path.h"
#include "util/shell_word.h"
#include "util/unique.h"
#include "workspace/trees_below.h"

namespace leasehold {
namespace {

bool is_over(HookMoment moment) {
  return moment == HookMoment::after_write || moment == HookMoment::after_read ||
         moment == HookMoment::after_command;
}

// As files are known whatever they are called.
std::string resolved(const std::string& path) {
  const auto found = resolve_path("/", path);
  return found ? found->path : path;
}

bool may_write(HookMoment moment) {
  return moment == HookMoment::before_write || moment == HookMoment::before_command;
}

// A mistake in a file of settings is told as "FILE:LINE: ...". Nothing: it is none.
std::optional<std::string> mistaken_file(const Error& error) {
  if (error.code != Code::config_error || !error.message.starts_with('/')) return std::nullopt;
  const std::string& text = error.message;
  for (std::size_t at = text.find(':'); at != std::string::npos; at = text.find(':', at + 1)) {
    const std::size_t end = text.find_first_not_of("0123456789", at + 1);
    if (end != std::string::npos && end > at + 1 && text[end] == ':') return text.substr(0, at);
  }
  return std::nullopt;
}

std::string not_checked(const Error& why) {
  constexpr std::string_view kBefore = "Not checked, so not written: ";
  // Who cannot read a file of settings reads nothing else in it.
  std::string_view help = "To let such writes through: gate_fail_open = true in .leasehold.toml.";
  if (mistaken_file(why)) {
    help = "Mend that line first: writes of that file go through.";
  } else if (why.code == Code::config_error) {
    help = "Mend that first.";
  }
  const std::size_t room = kReasonMost - kBefore.size() - help.size() - std::string_view(" ()").size();
  return fmt::format("{}{} ({})", kBefore, with_short_path(why.message, room), help);
}

// What files have in common that lie in one tree: their folder. But a link leads elsewhere, and a folder may
// be the top of another tree.
std::string place_in_a_tree(const std::string& file) {
  struct stat found{};
  const bool is_alone =
      ::lstat(file.c_str(), &found) == 0 && (S_ISLNK(found.st_mode) || S_ISDIR(found.st_mode));
  return is_alone ? file : file.substr(0, file.rfind('/'));
}

constexpr std::size_t kRootShown = 40;

template <class T>
HookAnswer told(const Result<T>& result) {
  return result ? HookAnswer{} : HookAnswer{.problem = result.error().message};
}

}  // namespace

HookCall::HookCall(HookHost host, std::string_view payload, std::string cwd, const Variables& variables)
    : host_(host),
      event_(parse_hook(host, payload)),
      cwd_(std::move(cwd)),
      started_in_(cwd_),
      variables_(variables) {
  if (event_ && !event_->cwd.empty()) cwd_ = event_->cwd;
}

HookAnswer HookCall::late_answer() const {
  if (event_ && !may_write(event_->moment)) return {};
  return unchecked({Code::timeout, late_store()}, place());
}

// Which store that is, if it is the embedded one: somebody is in its way. The addresses of others may hold
// secrets.
std::string HookCall::late_store() const {
  const auto& tree = tree_of(place());
  const char* const named = variables_("LEASE_STORE");
  const bool is_named =
      (named != nullptr && *named != '\0') || (tree && tree->config.find("store") != nullptr);
  const std::string gate = tree && !is_named ? join(store_dir(*tree), "gate") : std::string();
  if (gate.empty() || ::access(gate.c_str(), F_OK) != 0) return "the store did not answer in time.";
  return fmt::format(
      "the store did not answer in time. See who is in its way (fuser -v {}), and continue or end that.",
      shell_word(gate));
}

HookAnswer HookCall::answer() {
  HookAnswer answer = decide();
  if (answer.denies() || !answer.output.empty() || !event_) return answer;
  std::string problem = std::move(answer.problem);
  answer = allowance(host_, event_->moment);
  answer.problem = std::move(problem);
  return answer;
}

HookAnswer HookCall::decide() {
  if (!event_) return not_understood(event_.error());
  if (is_gated(event_->moment) && !event_->flaw.empty())
    return not_understood({Code::invalid_argument, event_->flaw});
  if (is_gated(event_->moment) || is_over(event_->moment)) go_on();
  if (is_gated(event_->moment)) return at_the_gate();
  if (is_over(event_->moment)) return after();
  return event_->moment == HookMoment::other ? HookAnswer{} : tell();
}

Owner HookCall::main_owner() const { return {std::string(word(event_->host)), event_->session_id}; }

// A subagent is an agent of its own inside its session.
Owner HookCall::owner() const {
  Owner owner = main_owner();
  if (!event_->subagent_id.empty()) owner.agent_id += '/' + event_->subagent_id;
  return owner;
}

Caller HookCall::caller_in(const OpenWorkspace& workspace) const {
  return {.holder = {.owner = owner(), .process = workspace.caller_process()}};
}

// Of remarks. Copilot takes Claude Code's answers for others, but not these.
HookHost HookCall::dialect() const { return event_->host == HookHost::copilot ? event_->host : host_; }

// Some run the hooks that others were given: then the answer has to suit both.
bool HookCall::can_tell_now() const {
  return can_tell(host_, event_->moment) && can_tell(event_->host, event_->moment);
}

// Some hosts pass on what the model wrote, and take it for this themselves.
std::string HookCall::absolute(const std::string& path) const {
  constexpr std::string_view kUrl = "file://";
  const char* const home = variables_("HOME");
  if (path.starts_with("~/") && home != nullptr && *home == '/') return home + path.substr(1);
  if (path.starts_with("file:///")) {
    if (auto file = percent_decoded(std::string_view(path).substr(kUrl.size()))) return *std::move(file);
  }
  return path.starts_with('/') ? path : cwd_ + '/' + path;
}

OpenOptions HookCall::open_options(const std::string& place) const {
  return {.place = place,
          .environment = variables_,
          .only_managed = true,
          .is_brief = true,
          .prefers_server = true};
}

// Where the folder is that it is about, as far as one can tell.
std::string HookCall::place() const {
  return event_ && !event_->paths.empty() ? absolute(event_->paths.front()) : cwd_;
}

// Something is about to happen that we do not understand: for all we know a write, if the folder is ours.
HookAnswer HookCall::not_understood(const Error& error) const {
  const auto& tree = tree_of(place());
  if (tree && !tree->managed) return {.problem = error.message};
  return unchecked(error, place());
}

// What the tool names, and what its command line is seen to write. The rest of a command line goes on unseen.
std::vector<shell::Write> HookCall::writes() const {
  std::vector<shell::Write> writes;
  for (const std::string& path : event_->paths) writes.push_back({.path = absolute(path)});
  if (event_->command.empty()) return writes;
  const char* home = variables_("HOME");
  const shell::DiskFolder disk;
  shell::Writes found = shell::find_writes(
      event_->command, {.folder = cwd_, .home = home == nullptr ? "" : home, .files = disk});
  add_missing(writes, found.files);
  return writes;
}

// The workspace that a place is in.
const Result<Workspace>& HookCall::tree_of(const std::string& place) const {
  // The root of one that is known already is in it, most often.
  for (const auto& [known, tree] : trees_) {
    if (known == place || (tree && tree->root == place)) return tree;
  }
  return trees_.emplace(place, find_workspace(place)).first->second;
}

Result<std::unique_ptr<OpenWorkspace>> HookCall::open(const std::string& place, bool create) const {
  const auto& tree = tree_of(place);
  if (!tree) return fail(tree.error());
  OpenOptions options = open_options(place);
  options.create = create;
  return open_workspace(options, *tree);
}

// Where the session works: a shell may have gone elsewhere, and reports come from there.
const std::string& HookCall::project() const {
  if (!project_.empty()) return project_;
  const auto is_managed = [&](const std::string& place) {
    const auto& tree = tree_of(place);
    return tree && tree->managed;
  };
  project_ = cwd_;
  if (is_managed(cwd_)) return project_;
  for (const char* const name : {"CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "COPILOT_PROJECT_DIR"}) {
    const char* const place = variables_(name);
    if (place != nullptr && *place == '/' && is_managed(place)) return project_ = place;
  }
  if (started_in_ != cwd_ && is_managed(started_in_)) project_ = started_in_;
  return project_;
}

SeenFiles& HookCall::seen_in(const std::string& folder) {
  return seen_.try_emplace(folder, folder, owner()).first->second;
}

std::optional<std::string> HookCall::seen_folder(const std::string& place) const {
  const auto& tree = tree_of(place);
  return tree && tree->managed ? SeenFiles::folder_of(*tree) : std::nullopt;
}

// Null: there is no place for them.
SeenFiles* HookCall::seen_files() {
  const auto folder = seen_folder(project());
  return folder ? &seen_in(*folder) : nullptr;
}

// As far as is noted: a subagent that runs in the background may outlast its main agent's turn.
bool HookCall::main_has_stopped() const {
  const auto folder = seen_folder(project());
  return folder && SeenFiles(*folder, main_owner()).is_stopped();
}

// An agent may use a tool after its turn stopped, without a new prompt: a hook of its own kept it going, or a
// task that ended woke it. Then it is active again, and all it has stays.
void HookCall::go_on() {
  SeenFiles* const seen = seen_files();
  if (seen == nullptr || !seen->is_stopped()) return;
  const auto opened = open(project(), false);
  if (opened && (*opened)->client()->turn_started(caller_in(**opened).holder)) seen->note_turn(false);
}

// Whoever removes or moves a folder takes the work trees in it along.
std::vector<std::string> HookCall::trees_taken_along(const std::vector<shell::Write>& writes) const {
  std::vector<std::string> roots;
  TreesBelow trees;
  for (const shell::Write& write : writes) {
    struct stat found{};
    if (!write.is_whole || ::lstat(write.path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) continue;
    const auto& tree = tree_of(below(cwd_, shell::simplified(write.path)) ? cwd_ : write.path);
    if (!tree) continue;
    for (std::string& root : trees.find(*tree, resolved(write.path))) roots.push_back(std::move(root));
  }
  return roots;
}

// Each file belongs to the work tree it lies in.
std::expected<HookCall::Parts, HookAnswer> HookCall::parts_by_tree() {
  Parts parts;
  std::map<std::string, std::string> roots;  // Empty: not managed.
  const auto add = [&](const shell::Write& write, const std::string& file) -> Result<void> {
    const auto [known, is_new] = roots.try_emplace(place_in_a_tree(file));
    // Most often the same tree as before, which is open then.
    if (is_new && !parts.empty()) {
      const auto& tree = tree_of(file);
      if (tree && parts.contains(tree->root)) known->second = tree->root;
    }
    if (is_new && known->second.empty()) {
      auto opened = open(file, true);
      if (!opened && opened.error().code == Code::not_found) return {};
      if (!opened) return fail(opened.error());
      known->second = (*opened)->root();
      parts[known->second].workspace = std::move(*opened);
    }
    if (!known->second.empty()) parts[known->second].writes.push_back(write);
    return {};
  };
  const std::vector<shell::Write> all = writes();
  for (const shell::Write& write : all) {
    // A tree around us is a matter of ours.
    const bool is_around = write.subtree && below(cwd_, shell::simplified(write.path));
    const std::string file = is_around ? cwd_ + "/." : write.path;
    if (auto added = add(write, file); !added) return std::unexpected(unchecked(added.error(), file));
  }
  for (const std::string& root : trees_taken_along(all)) {
    if (auto added = add({.path = root, .subtree = true}, root); !added)
      return std::unexpected(unchecked(added.error(), root));
  }
  return parts;
}

// What belongs to one tree is granted together or not at all; what one of them refuses is not written in
// another either.
HookAnswer HookCall::at_the_gate() {
  auto parts = parts_by_tree();
  if (!parts) return std::move(parts).error();
  // The first that is heard of it here; else its session or its turn told.
  SeenFiles* const seen = seen_files();
  const bool is_first = seen != nullptr && seen->is_new();
  if (is_first) note_session_in(project());
  for (auto& [root, part] : *parts) {
    if (HookAnswer denied = gate(*part.workspace, part.writes); denied.denies()) {
      give_back_elsewhere(*part.workspace);
      return denied;
    }
    note_tree(root);
  }
  if (!event_->command.empty() && seen != nullptr) {
    if (is_first) {
      if (const auto opened = open(project(), false)) note_gone(**opened, *seen, owner());
    }
    // Codex does not report the end of one that failed, and runs one after the other.
    seen->note_command_begins(event_->call_id, event_->host == HookHost::codex);
  }
  return news_.empty() ? HookAnswer{} : remark(dialect(), event_->event_name, news_);
}

// What was granted to this call in other trees than the one that refuses it.
void HookCall::give_back_elsewhere(const OpenWorkspace& refusing) {
  for (const auto& [workspace, ids] : granted_) {
    if (workspace != &refusing)
      std::ignore = workspace->client()->release({.caller = caller_in(*workspace), .which = {.ids = ids}});
  }
}

// A refusal has room for what else there is to tell.
HookAnswer HookCall::deny(std::string reason) const {
  if (!news_.empty()) reason += "\n" + news_;
  return denial(host_, event_->event_name, reason);
}

// What its owner is to be told, at a moment when nothing is asked.
std::string HookCall::take_news(OpenWorkspace& workspace) {
  if (!can_tell_now()) return {};
  GateRequest request = {.telling = Telling::only};
  request.wanted.caller = caller_in(workspace);
  const auto answer = workspace.client()->gate(request);
  if (!answer) return {};
  if (SeenFiles* const seen = seen_files()) seen->note_untold(false);
  return news(*answer);
}

// Where it has leases besides the tree it works in. Its session may end in another tree than that of a
// subagent.
void HookCall::note_tree(const std::string& root) {
  const auto& tree = tree_of(project());
  if (!tree || (tree->root == root && event_->subagent_id.empty())) return;
  SeenFiles* const seen = seen_files();
  if (seen == nullptr || seen->elsewhere().contains(root)) return;
  seen->note_elsewhere(root);
  note_session_in(root);
  if (!event_->subagent_id.empty())
    SeenFiles(*SeenFiles::folder_of(*tree), main_owner()).note_elsewhere(root);
}

// For what its agent's process starts besides hooks.
void HookCall::note_session_in(const std::string& place) {
  const auto folder = seen_folder(place);
  if (!folder || event_->session_id.empty()) return;
  if (const auto agent = agent_around(variables_)) note_session(*folder, *agent, main_owner());
}

void HookCall::forget_session_in(const std::string& place) {
  const auto folder = seen_folder(place);
  if (!folder) return;
  if (const auto agent = agent_around(variables_)) forget_session(*folder, *agent, main_owner());
}

HookAnswer HookCall::gate(OpenWorkspace& workspace, const std::vector<shell::Write>& writes) {
  const bool read = event_->moment == HookMoment::before_read;
  if (read && !workspace.gates_reads()) return {};
  const auto inside = asked_paths(workspace, owner(), writes, !event_->command.empty());
  if (!inside) return unchecked(inside.error(), workspace.root());
  if (inside->empty()) return {};
  auto wanted = workspace.wanted(*inside, {.pairs = !read, .literal = true});
  if (!wanted) return unchecked(wanted.error(), workspace.root());
  GateRequest request = {.read = read};
  request.wanted.caller = caller_in(workspace);
  request.wanted.paths = std::move(*wanted);
  request.wanted.attended = true;
  if (!event_->subagent_id.empty() && !read) {
    const auto& tree = tree_of(workspace.root());
    take_back(workspace, request.wanted.caller.holder, main_owner(), request.wanted.paths,
              tree ? SeenFiles::folder_of(*tree) : std::nullopt);
  }
  request.telling = can_tell_now() ? Telling::told : Telling::kept;
  const auto decided = workspace.client()->gate(request);
  if (!decided) return unchecked(decided.error(), workspace.root());
  if (const std::string text = news(*decided); !text.empty()) {
    if (request.telling == Telling::told) {
      news_ += (news_.empty() ? "" : " ") + text;
    } else if (SeenFiles* const seen = seen_files()) {
      seen->note_untold(true);
    }
  }
  const auto* denied = std::get_if<Denied>(&decided->decision);
  if (denied == nullptr && !read) {
    const auto& allowed = std::get<Allowed>(decided->decision);
    keep(workspace, allowed.granted);
    for (const Lease& lease : allowed.leases) {
      if (allowed.granted && lease.acquired_at == decided->at) granted_[&workspace].push_back(lease.id);
    }
    std::vector<std::string> paths;  // What was asked for stands before its pairs.
    for (std::size_t i = 0; i < inside->size(); ++i)
      paths.push_back(join(workspace.root(), request.wanted.paths[i].path.substr(1)));
    if (const auto why = change_since_seen(workspace, paths)) return deny(*why);
  }
  if (denied == nullptr) return {};
  // Paths are those of the tree they lie in.
  const auto& tree = tree_of(cwd_);
  const bool is_elsewhere = !tree || tree->root != workspace.root();
  const std::string before = is_elsewhere ? workspace.root() : cwd_ == workspace.root() ? "" : "file:";
  const std::string where =
      is_elsewhere ? fmt::format("In {}: ", short_name(workspace.root(), kRootShown)) : "";
  const std::string reason =
      where + short_reason(*decided, *denied, owner(), before, kReasonMost - where.size());
  return deny(std::string(shortened(reason, kReasonMost)));
}

// Where nobody sees that its agent is there. Without a process nobody could tell when to stop.
void HookCall::keep(const OpenWorkspace& workspace, bool granted) const {
  if (event_->session_id.empty() || !needs_keeper(workspace, granted)) return;
  if (const auto agent = workspace.caller_process()) ensure_keeper(workspace, event_->session_id, *agent);
}

// The lease is the owner's by then, so that it can read the file again in peace.
std::optional<std::string> HookCall::change_since_seen(OpenWorkspace& workspace,
                                                       const std::vector<std::string>& paths) {
  const auto& tree = tree_of(workspace.root());
  const auto folder = tree ? SeenFiles::folder_of(*tree) : std::nullopt;
  if (!folder) return std::nullopt;
  SeenFiles& seen = seen_in(*folder);
  if (workspace.gates_stale_reads()) {
    if (auto why = stale_reason(workspace, seen, owner(), paths)) return why;
  }
  for (const std::string& path : paths) seen.note_write_begins(path);
  return std::nullopt;
}

// What a tool call left behind. Nothing that goes wrong here keeps anybody from working.
HookAnswer HookCall::after() {
  const auto folder = seen_folder(project());
  if (!folder) return {};
  SeenFiles& seen = seen_in(*folder);
  for (const std::string& path : event_->paths) {
    const std::string file = resolved(absolute(path));
    if (below(file, tree_of(project())->root)) seen.note(file);
  }
  return event_->moment == HookMoment::after_command ? after_command(*folder, seen) : tell_late(seen);
}

// What there was no place for before the tool ran.
HookAnswer HookCall::tell_late(SeenFiles& seen) {
  if (!seen.is_untold() || !can_tell_now()) return {};
  const auto opened = open(project(), false);
  if (!opened) return {};
  const std::string text = take_news(**opened);
  return text.empty() ? HookAnswer{} : remark(dialect(), event_->event_name, text);
}

HookAnswer HookCall::after_command(const std::string& seen_folder, SeenFiles& seen) {
  const auto opened = open(project(), false);
  if (!opened) return opened.error().code == Code::not_found ? HookAnswer{} : told(opened);
  const auto began = seen.command_began(event_->call_id);
  const auto trespasses = find_trespasses(**opened, seen_folder, seen, owner(), began);
  seen.note_command_ends(event_->call_id);
  if (!trespasses) return told(trespasses);
  std::string text = take_news(**opened);
  if (!trespasses->empty()) {
    record(**opened, caller_in(**opened).holder, *trespasses);
    text = aftermath_text(*trespasses) + (text.empty() ? "" : "\n" + text);
  }
  return text.empty() ? HookAnswer{} : remark(dialect(), event_->event_name, text);
}

// Whoever mends the file that is wrong, and writes nothing else, has nobody to ask.
bool HookCall::mends(const Error& error) const {
  const auto file = mistaken_file(error);
  if (!event_ || !file) return false;
  const std::vector<shell::Write> all = writes();
  return !all.empty() && std::ranges::all_of(all, [&](const shell::Write& write) {
    return !write.subtree && resolved(shell::simplified(write.path)) == *file;
  });
}

HookAnswer HookCall::unchecked(const Error& error, const std::string& place) const {
  const bool is_write = !event_ || may_write(event_->moment);
  const auto& tree = tree_of(place);
  const OpenOptions options = open_options(place);
  const bool passes = lets_unchecked_writes_pass(options, tree ? *tree : Workspace{});
  if (!is_write || passes || mends(error)) return {.problem = error.message};
  HookAnswer answer = denial(host_, event_ ? event_->event_name : "PreToolUse", not_checked(error));
  answer.problem = error.message;
  return answer;
}

// A session that goes on, or whose model forgot what was said before, has what it had; one that is new has
// nothing, and is told nothing.
HookAnswer HookCall::tell_what_it_has(OpenWorkspace& workspace) {
  const std::shared_ptr<Client> client = workspace.client();
  const auto leases = client->leases({.agent_id = main_owner().agent_id, .session_id = event_->session_id});
  if (!leases || leases->empty()) return told(leases);
  const auto active = client->turn_started({.owner = main_owner(), .process = workspace.caller_process()});
  keep(workspace, false);
  constexpr std::size_t kShown = 5;
  constexpr std::size_t kNameMax = 50;
  std::string names;
  for (std::size_t i = 0; i < std::min(kShown, leases->size()); ++i)
    names += fmt::format("{}{}", i == 0 ? "" : ", ", short_path((*leases)[i].path, kNameMax));
  const std::string text = take_news(workspace);
  if (leases->size() > kShown) names += fmt::format(" and {} more (lease ls)", leases->size() - kShown);
  HookAnswer answer =
      remark(event_->host, event_->event_name,
             fmt::format("This session holds {}. What it does not need any more: lease release PATH{}{}",
                         names, text.empty() ? "" : "\n", text));
  answer.problem = told(active).problem;
  return answer;
}

// By name, so that what was taken away elsewhere is still told at its write.
HookAnswer give_back_by_name(Client& client, const Caller& caller) {
  const Owner& self = caller.holder.owner;
  const auto held = client.leases({.agent_id = self.agent_id, .session_id = self.session_id});
  if (!held || held->empty()) return told(held);
  ReleaseRequest request = {.caller = caller};
  for (const Lease& lease : *held) request.which.ids.push_back(lease.id);
  return told(release_named(client, std::move(request)));
}

// What happens besides writes, in every tree that it has something in. A store that is not there has nothing
// to be told.
HookAnswer HookCall::tell() {
  cwd_ = project();
  std::set<std::string> places = {cwd_};
  if (SeenFiles* const seen = seen_files()) {
    for (const std::string& root : seen->elsewhere()) {
      if (const auto& tree = tree_of(cwd_); !tree || tree->root != root) places.insert(root);
    }
    if (event_->moment == HookMoment::turn_started || event_->moment == HookMoment::turn_stopped)
      seen->note_turn(event_->moment == HookMoment::turn_stopped);
    // Who begins or ends a turn runs nothing any more; one that its user refused never ended.
    if (event_->moment != HookMoment::session_ended) seen->note_no_command();
    if (event_->moment == HookMoment::session_ended) seen->forget();
  }
  for (const std::string& place : places) {
    if (event_->moment == HookMoment::session_started || event_->moment == HookMoment::turn_started)
      note_session_in(place);
    if (event_->moment == HookMoment::session_ended && event_->subagent_id.empty()) forget_session_in(place);
  }
  HookAnswer answer;
  for (const std::string& place : places) {
    const auto opened = open(place, false);
    if (!opened && opened.error().code == Code::not_found) continue;
    HookAnswer one = opened ? tell(**opened, place == cwd_) : told(opened);
    if (one.problem.empty()) one.problem = std::move(answer.problem);
    if (place == cwd_) {
      answer = std::move(one);
    } else {
      answer.problem = std::move(one.problem);
    }
  }
  return answer;
}

// Of what is to be told, one tree has room.
HookAnswer HookCall::tell(OpenWorkspace& workspace, bool has_room) {
  const std::shared_ptr<Client> client = workspace.client();
  const Caller caller = caller_in(workspace);
  switch (event_->moment) {
    case HookMoment::turn_started: {
      const auto active = client->turn_started(caller.holder);
      if (active && *active > 0) keep(workspace, false);
      HookAnswer answer = told(active);
      const std::string text = has_room ? take_news(workspace) : "";
      if (!text.empty()) answer.output = remark(dialect(), event_->event_name, text).output;
      return answer;
    }
    case HookMoment::turn_stopped:
      return told(client->turn_stopped(caller.holder));
    case HookMoment::session_started:
      return has_room ? tell_what_it_has(workspace) : told(client->turn_started(caller.holder));
    case HookMoment::turn_failed:
      return give_back_by_name(*client, caller);
    case HookMoment::session_ended:
      // A subagent's own session, which is one of many in that of its main agent.
      if (!event_->subagent_id.empty())
        return told(client->release({.caller = caller, .which = {.all = true}}));
      end_keeper(workspace, event_->session_id);
      return told(client->end_session(caller));
    case HookMoment::subagent_stopped: {
      Holder main = caller.holder;
      main.owner = main_owner();
      if (event_->subagent_id.empty()) return {};
      return told(client->transfer({.caller = caller,
                                    .which = {.all = true},
                                    .to = main,
                                    .note = note_of_stop(owner()),
                                    .attended = !main_has_stopped()}));
    }
    default:
      return {};
  }
}

}  // namespace leasehold
