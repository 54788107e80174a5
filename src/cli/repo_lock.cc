// One command at a time per repository.
#include "leasehold/repo_lock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "cli/call.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "run/child_process.h"
#include "util/duration_text.h"
#include "util/path_text.h"
#include "util/utf8.h"
#include "wire/answer_json.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// Nobody waits longer, and deadlines stay within what clocks can hold.
constexpr Duration kWaitMax = std::chrono::days(365);

// Waiting is polling: the file is all there is, and others may remove it who do not know of us.
constexpr auto kLookEvery = 50ms;

struct Asked {
  std::string repo_id;
  std::string cmd;  // What others are told.
  Duration wait{};
  std::vector<std::string> command;
};

// A message that cannot be written must not keep us from ending what runs.
void say(std::string_view message) {
  const std::string line = fmt::format("lease: {}\n", message);
  (void)std::fwrite(line.data(), 1, line.size(), stderr);
}

boost::json::object to_json(const std::string& repo_id, const std::optional<RepoLockStatus>& found) {
  if (!found) return {{"repo_id", repo_id}, {"state", "free"}};
  const Locked& lock = found->lock;
  boost::json::object object = {{"repo_id", repo_id},
                                {"state", found->is_stale ? "stale" : "held"},
                                {"path", lock.path},
                                {"age_ms", lock.age.count()},
                                {"liveness", word(lock.verdict.liveness)},
                                {"evidence", lock.verdict.evidence}};
  if (lock.info) {
    if (lock.info->pid != 0) object["pid"] = lock.info->pid;
    add_wall(object, "created_at", lock.info->created_at);
    object["cmd"] = lock.info->cmd;
  }
  return object;
}

Result<int> show_status(const RepoLock& lock, const std::string& repo_id, const Output& out) {
  const auto found = lock.status(repo_id);
  if (!found) return fail(found.error());
  if (out.json()) {
    out.document(to_json(repo_id, *found));
  } else if (!*found) {
    out.print(fmt::format("The repository {} is not locked.\n", in_sentence(repo_id)));
  } else {
    out.print(fmt::format("{}{}\n", describe((*found)->lock),
                          (*found)->is_stale ? " It is stale: the next one to ask gets it." : ""));
  }
  // Whoever wants no words asks by the exit status.
  const bool is_held = *found && !(*found)->is_stale;
  return out.quiet() && is_held ? info(Code::locked).exit_code : 0;
}

// Asks until the lock is ours or the time to wait is over.
Result<RepoLockAnswer> lock_within(const RepoLock& lock, const Asked& asked, const Output& out) {
  const Progress progress(
      out, [&] { return fmt::format("Waiting for the lock of {}", in_sentence(asked.repo_id)); });
  const auto deadline = std::chrono::steady_clock::now() + std::min(asked.wait, kWaitMax);
  for (;;) {
    auto answer = lock.lock(asked.repo_id, asked.cmd);
    if (!answer || std::holds_alternative<RepoLockGuard>(*answer)) return answer;
    const auto rest = deadline - std::chrono::steady_clock::now();
    if (rest <= 0ns) return answer;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(rest, kLookEvery));
  }
}

int refuse(const Locked& locked, const Asked& asked, const Output& out) {
  const std::string waited = asked.wait > 0ms ? fmt::format(" Waited {}.", duration_text(asked.wait)) : "";
  const std::string message = fmt::format("E_REPO_LOCKED: {}{} To wait {}, add --wait 10m.", describe(locked),
                                          waited, asked.wait > 0ms ? "longer" : "for it");
  if (out.json()) {
    auto object = to_json(asked.repo_id, RepoLockStatus{.lock = locked});
    object["error"] = error_json({Code::locked, message});
    out.document(object);
  } else {
    say(message);
  }
  return info(Code::locked).exit_code;
}

int run_under(RepoLockGuard& guard, const std::vector<std::string>& command) {
  const auto is_lost = [&guard] {
    const auto held = guard.check();
    if (held || held.error().code != Code::lost) return false;
    say(held.error().message + " The command is being ended.");
    return true;
  };
  const ChildEnd end = supervise({.command = command, .is_lost = is_lost});
  const auto unlocked = guard.unlock();
  if (!end.not_started.empty()) say(end.not_started);
  if (end.is_lost) return info(Code::lost).exit_code;
  if (unlocked) return end.exit_status;
  say(unlocked.error().message);
  // A file that stays is stale as soon as we are gone.
  return unlocked.error().code == Code::lost ? info(Code::lost).exit_code : end.exit_status;
}

Result<Duration> time_option(const Arguments& arguments, std::string_view name, Duration otherwise,
                             Duration least) {
  const auto given = arguments.duration(name);
  if (!given) return fail(given.error());
  if (*given && **given < least) {
    return fail(Code::invalid_argument,
                fmt::format("--{} is {}; give a time like 10s or 1h30m.", name, duration_text(**given)));
  }
  return given->value_or(otherwise);
}

// --data-dir, AGENCY_DATA_DIR, else `leasehold` in the XDG state folder.
Result<std::string> data_dir(const Arguments& arguments) {
  if (auto given = arguments.text("data-dir")) return *std::move(given);
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string_view(text == nullptr ? "" : text);
  };
  if (const auto folder = value("AGENCY_DATA_DIR"); !folder.empty()) return std::string(folder);
  // The XDG specification has relative ones ignored.
  if (const auto state = value("XDG_STATE_HOME"); state.starts_with('/')) return join(state, "leasehold");
  if (const auto home = value("HOME"); home.starts_with('/')) return join(home, ".local/state/leasehold");
  return fail(
      Code::config_error,
      "There is no place for the lock: neither AGENCY_DATA_DIR, XDG_STATE_HOME nor HOME is set. Name a "
      "folder with --data-dir.");
}

Result<int> run(Call& call) {
  const Arguments& arguments = call.arguments();
  const bool status = arguments.has("status");
  if (status && !arguments.command().empty())
    return fail(Code::invalid_argument, "--status runs no command. See: lease help repo-lock");
  if (!status && arguments.command().empty())
    return fail(Code::invalid_argument, "-- COMMAND is missing. See: lease help repo-lock");
  const auto wait = time_option(arguments, "wait", 0ms, 0ms);
  if (!wait) return fail(wait.error());
  const auto stale_after = time_option(arguments, "stale-after", 2h, 1ms);
  if (!stale_after) return fail(stale_after.error());
  auto folder = data_dir(arguments);
  if (!folder) return fail(folder.error());
  const RepoLock lock{.data_dir = *std::move(folder), .stale_after = *stale_after};

  const Asked asked = {
      .repo_id = arguments.operands().front(),
      .cmd = arguments.text("cmd").value_or(fmt::format("{}", fmt::join(arguments.command(), " "))),
      .wait = *wait,
      .command = arguments.command()};
  if (status) return show_status(lock, asked.repo_id, call.out());
  auto answer = lock_within(lock, asked, call.out());
  if (!answer) return fail(answer.error());
  if (const auto* locked = std::get_if<Locked>(&*answer)) return refuse(*locked, asked, call.out());
  return run_under(std::get<RepoLockGuard>(*answer), asked.command);
}

constexpr OptionSpec kOptions[] = {
    {"--data-dir", "DIR", "Where locks are kept; if not given AGENCY_DATA_DIR, else the XDG state folder"},
    {"--cmd", "TEXT", "What others are told we do; if not given the command"},
    {"--wait", "DURATION", "Wait so long for the lock"},
    {"--stale-after", "DURATION", "Take over a lock that is older; 2h if not given"},
    {"--status", {}, "Only say who has the lock; with -q by the exit status, 75 if somebody has"},
};

constexpr Example kExamples[] = {{"lease repo-lock app --wait 10m -- make release", "one release at a time"}};

}  // namespace

const Command kRepoLock = {
    .name = "repo-lock",
    .synopsis = "REPO_ID [OPTION]... -- COMMAND...\nREPO_ID --status [--json]",
    .summary = "Run a command while nobody else has a repository's lock",
    .description =
        "Takes the one lock of a repository, a file in the data folder, runs the command and returns its "
        "exit "
        "status. If somebody takes the lock over, the command is ended: TERM, then KILL.",
    .uses = Uses::nothing,
    .operands = {"REPO_ID", "Name of the repository: any file name without a leading dot", 1, 1},
    .options = kOptions,
    .examples = kExamples,
    .runs_command = true,
    .run = run,
};

}  // namespace leasehold
