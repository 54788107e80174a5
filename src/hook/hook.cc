#include "hook/hook.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "hook/reason.h"
#include "open/open_found.h"
#include "shell/place.h"
#include "util/path_text.h"
#include "util/percent.h"
#include "util/resolve_path.h"
#include "util/shell_word.h"

namespace leasehold {
namespace {

bool is_over(HookMoment moment) {
  return moment == HookMoment::after_write || moment == HookMoment::after_read ||
         moment == HookMoment::after_command;
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

// As files are known whatever they are called.
std::string HookCall::resolved(const std::string& path) {
  const auto found = resolve_path("/", path);
  return found ? found->path : path;
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

}  // namespace leasehold
