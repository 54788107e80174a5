#include "cli/call.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>

#include "cli/input.h"
#include "cli/mcp.h"
#include "cli/without_password.h"
#include "hook/noted_session.h"
#include "open/open_found.h"
#include "util/shell_word.h"
#include "util/utf8.h"
#include "util/variables.h"
#include "wire/answer_json.h"

namespace leasehold {
namespace {

Result<std::vector<std::string>> listed_on_stdin(char separator) {
  std::vector<std::string> lines;
  std::string all;
  char* line = nullptr;
  std::size_t capacity = 0;
  for (;;) {
    const ssize_t length = ::getdelim(&line, &capacity, separator, stdin);
    if (length < 0) break;
    std::string_view text(line, static_cast<std::size_t>(length));
    all += text;
    if (text.ends_with(separator)) text.remove_suffix(1);
    // From Windows. Who really means it ends names with NUL.
    if (separator == '\n' && text.ends_with('\r')) text.remove_suffix(1);
    if (!text.empty()) lines.emplace_back(text);
  }
  std::free(line);
  remember_input(std::move(all));
  if (std::ferror(stdin) != 0) {
    return fail(Code::invalid_argument, "Standard input, which \"-\" stands for, cannot be read.");
  }
  return lines;
}

}  // namespace

Result<std::map<std::string, std::string>> settings_of(const Arguments& arguments) {
  std::map<std::string, std::string> settings;
  for (const std::string& pair : arguments.texts("set")) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos) {
      return fail(Code::invalid_argument,
                  fmt::format("--set is {}; give NAME=VALUE, such as ttl_max=2h.", in_quotes(pair)));
    }
    settings[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  for (const char* name : {"store", "profile"}) {
    if (auto value = arguments.text(name)) settings[name] = *std::move(value);
  }
  return settings;
}

Result<std::string> current_folder() {
  char folder[PATH_MAX];
  if (::getcwd(folder, sizeof folder) != nullptr) return std::string(folder);
  return fail(Code::invalid_path, "The current folder is gone or cannot be read. Change to another one.");
}

Result<std::string> Call::place() const {
  auto folder = current_folder();
  if (!folder) return fail(folder.error());
  const auto asked = arguments_.text("workspace");
  if (!asked) return folder;
  std::string there = asked->starts_with('/') ? *asked : *folder + "/" + *asked;
  struct stat found{};
  if (::stat(there.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) {
    return fail(Code::invalid_path, fmt::format("-C is {}, which is no folder.", in_quotes(*asked)));
  }
  return there;
}

Result<OpenWorkspace*> Call::workspace(bool create, bool only_managed) {
  const char* const store = std::getenv("LEASE_STORE");
  const bool is_named = arguments_.text("store") || (store != nullptr && *store != '\0');
  return open({.create = create, .only_managed = only_managed && !is_named});
}

Result<std::unique_ptr<OpenWorkspace>> Call::other_workspace(Workspace workspace) {
  const auto options = completed({.is_agent_guessed = identity().is_user}, workspace.root);
  if (!options) return fail(options.error());
  return open_workspace(*options, std::move(workspace));
}

Result<OpenWorkspace*> Call::workspace_to_begin(const std::function<Result<void>(OpenWorkspace&)>& is_right) {
  const auto found = workspace();
  if (found || found.error().code != Code::not_found) return found;
  const auto empty = workspace_without_store();
  if (!empty) return empty;
  const auto checked = is_right(**empty);
  workspace_.reset();
  if (!checked) return fail(checked.error());
  return workspace(true);
}

Result<OpenWorkspace*> Call::workspace_to_ask() { return open({.create = false, .prefers_server = true}); }

Result<OpenWorkspace*> Call::workspace_without_store() { return open({.settings = {{"store", "memory:"}}}); }

Result<std::vector<EffectiveSetting>> Call::settings_without_store() const {
  const auto folder = place();
  if (!folder) return fail(folder.error());
  const auto options = completed({}, *folder);
  return options ? leasehold::settings_without_store(*options) : fail(options.error());
}

Result<OpenWorkspace*> Call::open(OpenOptions options) {
  if (workspace_) return workspace_.get();
  auto folder = place();
  if (!folder) return fail(folder.error());
  cwd_ = *std::move(folder);
  // A client of tools tells its name later.
  options.is_agent_guessed = identity().is_user && command_.name != kMcp.name;
  const auto all = completed(std::move(options), cwd_);
  if (!all) return fail(all.error());
  auto opened = open_workspace(*all);
  if (!opened) return fail(opened.error());
  workspace_ = std::move(*opened);
  if (out_.verbose()) {
    for (const std::string& text : workspace_->notes()) out_.note(text);
  }
  return workspace_.get();
}

Result<OpenOptions> Call::completed(OpenOptions options, const std::string& place) const {
  auto settings = settings_of(arguments_);
  if (!settings) return fail(settings.error());
  options.place = place;
  options.settings.merge(*settings);
  options.environment = own_variable;
  options.is_brief = true;
  if (out_.verbose()) {
    options.log = [](const LogRecord& record) { write_error(log_line(record) + "\n"); };
  }
  return options;
}

const Identity& Call::identity() {
  if (!identity_) {
    const bool acts = command_.uses == Uses::owner;
    const auto flag = [&](const char* name) { return acts ? arguments_.text(name) : std::nullopt; };
    identity_ = identify({.agent_id = flag("agent"), .session_id = flag("session"), .pr_id = flag("pr")},
                         own_variable, system_user(), [&]() -> std::optional<Owner> {
                           const auto folder = place();
                           return folder ? SessionAround(*folder, own_variable).now() : std::nullopt;
                         });
  }
  return *identity_;
}

Caller Call::caller(bool watched) {
  const Identity& who = identity();
  return {.holder = {.owner = who.owner,
                     .pr_id = who.pr_id,
                     .host = who.host,
                     .process = watched && workspace_ ? workspace_->caller_process() : std::nullopt},
          .whole_session = true};
}

Result<std::vector<std::string>> Call::paths() {
  std::vector<std::string> paths;
  bool read = false;
  for (const std::string& operand : arguments_.operands()) {
    if (operand != "-" || read) {
      if (operand != "-") paths.push_back(operand);
      continue;
    }
    read = true;
    auto listed = listed_on_stdin(arguments_.has("null") ? '\0' : '\n');
    if (!listed) return fail(listed.error());
    listed_ = *listed;
    for (std::string& path : *listed) paths.push_back(std::move(path));
  }
  // No path means every one to some commands, and that was not asked for.
  if (read && paths.empty()) {
    return fail(Code::invalid_argument,
                "Standard input, which \"-\" stands for, lists no path. Nothing was done.");
  }
  return paths;
}

Result<std::string> Call::key(const std::string& path) const {
  auto key = workspace_->key(path, {.cwd = cwd_});
  constexpr std::string_view kAllBelow = "/**";
  if (key || !path.ends_with(kAllBelow)) return key;
  std::string folder = path.substr(0, path.size() - kAllBelow.size());
  if (folder.empty() || folder == "file:") folder += '/';
  if (auto of_folder = workspace_->key(folder, {.cwd = cwd_})) return of_folder;
  // As it is printed, it counts from the workspace's root.
  if (!folder.starts_with('/')) return key;
  const auto of_printed = workspace_->key("file:" + folder, {.cwd = cwd_});
  return of_printed ? of_printed : key;
}

Result<std::vector<std::string>> Call::keys(const std::vector<std::string>& paths) const {
  std::vector<std::string> keys;
  for (const std::string& path : paths) {
    auto key = this->key(path);
    if (!key) return fail(key.error());
    keys.push_back(*std::move(key));
  }
  return keys;
}

Result<Moment> Call::moment(const std::string& path) {
  const auto board = workspace_->client()->board({.paths = {path}});
  if (!board) return fail(board.error());
  return Moment{board->now, board->wall};
}

std::string Call::waiting(bool has_waited) const {
  std::string text = fmt::format("lease {}", command_.name);
  // In front: behind -- stands somebody else's command.
  const auto asked = arguments_.duration("wait");
  const bool waits = asked && *asked && **asked > Duration::zero();
  if (!waits && !has_waited) text += " --wait 5m";
  bool is_command = false;
  bool is_wait = false;  // The value of a --wait that waits for nothing.
  bool is_store_next = false;
  for (const std::string_view word : words_) {
    is_command = is_command || word == "--";
    const bool is_left_out = is_wait || (!waits && !is_command && word.starts_with("--wait="));
    is_wait = !is_wait && !waits && !is_command && word == "--wait";
    if (is_left_out || is_wait) continue;
    // The list is read already. A few paths can be said; for more, it has to be piped in again.
    constexpr std::size_t kSaid = 20;
    const bool is_list = word == "-" && !is_command && !listed_.empty() && listed_.size() <= kSaid;
    const bool is_store = !is_command && (is_store_next || word.starts_with("--store="));
    is_store_next = !is_command && word == "--store";
    if (!is_list)
      text += " " + shell_word(is_store ? without_password(std::string(word)) : std::string(word));
    for (std::size_t i = 0; is_list && i < listed_.size(); ++i) text += " " + shell_word(listed_[i]);
  }
  return text;
}

std::string Call::shared_options() const {
  std::string text;
  for (const char* name : {"agent", "session", "store", "profile", "set"}) {
    for (const std::string& value : arguments_.texts(name)) {
      const bool is_store = std::string_view(name) == "store";
      text += fmt::format(" --{} {}", name, shell_word(is_store ? without_password(value) : value));
    }
  }
  return text;
}

bool is_conflict(Code code) {
  return code == Code::busy || code == Code::timeout || code == Code::deadlock || code == Code::retry_later ||
         code == Code::locked;
}

Result<int> Call::exit_status(Code code) const {
  constexpr int kMost = 255;
  const auto chosen = arguments_.number("conflict-exit-code", 0, kMost);
  if (!chosen) return fail(chosen.error());
  return *chosen && is_conflict(code) ? static_cast<int>(**chosen) : info(code).exit_code;
}

int report(const Output& out, const Error& error) {
  if (out.json()) {
    out.document({{"error", error_json(error)}});
  } else {
    out.complain(error.message);
  }
  return info(error.code).exit_code;
}

}  // namespace leasehold
