#include "cli/repo_lock_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <thread>

#include "cli/command.h"
#include "leasehold/repo_lock.h"
#include "run/child_process.h"
#include "util/duration_text.h"
#include "util/path_text.h"
#include "util/rfc3339.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kUsage =
    "lease repo-lock REPO_ID [--data-dir DIR] [--cmd TEXT] [--wait 10s] [--stale-after 2h] -- COMMAND...\n"
    "       lease repo-lock REPO_ID --status [--json] [--data-dir DIR] [--stale-after 2h]";

// Nobody waits longer, and deadlines stay within what clocks can hold.
constexpr Duration kWaitMax = std::chrono::days(365);

// Waiting is polling: the file is all there is, and others may remove it who do not know of us.
constexpr auto kLookEvery = 50ms;

// A message that cannot be written must not keep us from ending what runs.
void say(std::string_view message) {
  const std::string line = fmt::format("lease: {}\n", message);
  (void)std::fwrite(line.data(), 1, line.size(), stderr);
}

int say(const Error& error) {
  say(error.message);
  return info(error.code).exit_code;
}

Error bad_usage(std::string_view problem) {
  return {Code::invalid_argument, fmt::format("{}.\nusage: {}", problem, kUsage)};
}

// Words of another library about arguments that may be anything.
std::string safe(const std::string& text) {
  return invalid_utf8_at(text) || has_control_character(text) ? in_quotes(text) : text;
}

// The parser does not know what belongs to a command line like ours.
class HelpWithOurUsage final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return fmt::format("usage: {}\n", kUsage);
  }
};

// The parts of a time that the parser itself does not know.
CLI::Validator positive_duration(Duration& to, bool zero_too) {
  return CLI::Validator(
      [&to, zero_too](const std::string& text) -> std::string {
        const auto duration = parse_duration(text);
        if (!duration || *duration < 0ms || (!zero_too && *duration == 0ms)) {
          return fmt::format("{} is no time like 10s or 1h30m", in_quotes(text));
        }
        to = *duration;
        return {};
      },
      "TIME");
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
    object["pid"] = lock.info->pid;
    object["created_at"] = to_rfc3339(lock.info->created_at);
    object["cmd"] = lock.info->cmd;
  }
  return object;
}

int show_status(const RepoLock& lock, const RepoLockArguments& arguments) {
  const auto found = lock.status(arguments.repo_id);
  if (!found) return say(found.error());
  if (arguments.json) {
    fmt::print("{}\n", boost::json::serialize(to_json(arguments.repo_id, *found)));
  } else if (!*found) {
    fmt::print("The repository {} is not locked.\n", in_sentence(arguments.repo_id));
  } else {
    fmt::print("{}{}\n", describe((*found)->lock),
               (*found)->is_stale ? " It is stale: the next one to ask gets it." : "");
  }
  return 0;
}

// Asks until the lock is ours or the time to wait is over.
Result<RepoLockAnswer> lock_within(const RepoLock& lock, const RepoLockArguments& arguments,
                                   const std::string& cmd) {
  const auto deadline = std::chrono::steady_clock::now() + std::min(arguments.wait, kWaitMax);
  for (;;) {
    auto answer = lock.lock(arguments.repo_id, cmd);
    if (!answer || std::holds_alternative<RepoLockGuard>(*answer)) return answer;
    const auto rest = deadline - std::chrono::steady_clock::now();
    if (rest <= 0ns) return answer;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(rest, kLookEvery));
  }
}

int refuse(const Locked& locked, const RepoLockArguments& arguments) {
  if (arguments.json) {
    auto object = to_json(arguments.repo_id, RepoLockStatus{.lock = locked});
    object["error"] = info(Code::locked).name;
    fmt::print("{}\n", boost::json::serialize(object));
  }
  const std::string waited = arguments.wait > 0ms ? fmt::format(" Waited {}.", duration_text(arguments.wait)) : "";
  say(fmt::format("E_REPO_LOCKED: {}{} To wait {}, add --wait 10m.", describe(locked), waited,
                  arguments.wait > 0ms ? "longer" : "for it"));
  return info(Code::locked).exit_code;
}

int run_under(RepoLockGuard& guard, const RepoLockArguments& arguments) {
  const auto is_lost = [&guard] {
    const auto held = guard.check();
    if (held || held.error().code != Code::lost) return false;
    say(held.error().message + " The command is being ended.");
    return true;
  };
  const ChildEnd end = supervise({.command = arguments.command, .is_lost = is_lost});
  const auto unlocked = guard.unlock();
  if (!end.not_started.empty()) say(end.not_started);
  if (end.is_lost) return info(Code::lost).exit_code;
  if (unlocked) return end.exit_status;
  const int exit_code = say(unlocked.error());
  // A file that stays is stale as soon as we are gone.
  return unlocked.error().code == Code::lost ? exit_code : end.exit_status;
}

int repo_lock(std::span<const std::string_view> arguments) {
  const auto parsed = parse_repo_lock(arguments);
  if (!parsed) return say(parsed.error());
  return run_repo_lock(*parsed, [](const char* name) { return std::getenv(name); });
}

}  // namespace

Result<RepoLockArguments> parse_repo_lock(std::span<const std::string_view> arguments) {
  // What comes after the dashes is the command's own.
  const auto dashes = std::ranges::find(arguments, "--");
  RepoLockArguments parsed;
  if (dashes != arguments.end()) parsed.command.assign(dashes + 1, arguments.end());

  CLI::App app("Runs a command while nobody else has the lock of its repository; returns its status.");
  app.formatter(std::make_shared<HelpWithOurUsage>());
  std::string ignored;
  app.add_option("REPO_ID", parsed.repo_id, "Name of the repository: any file name without a leading dot")
      ->required();
  app.add_option("--data-dir", parsed.data_dir,
                 "Where locks are kept. Default: AGENCY_DATA_DIR, else the XDG state folder");
  app.add_option("--cmd", parsed.cmd, "What others are told we do. Default: the command");
  app.add_option("--wait", ignored, "Wait so long for the lock. Default: not at all")
      ->check(positive_duration(parsed.wait, true));
  app.add_option("--stale-after", ignored, "Take over a lock that is older. Default: 2h")
      ->check(positive_duration(parsed.stale_after, false));
  app.add_flag("--status", parsed.status, "Only say who has the lock");
  app.add_flag("--json", parsed.json, "Say it as JSON");
  try {
    std::vector<std::string> words(arguments.begin(), dashes);
    std::ranges::reverse(words);  // As the parser wants it.
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    parsed.help = app.help();
    return parsed;
  } catch (const CLI::ParseError& problem) {
    return fail(bad_usage(safe(problem.what())));
  }
  if (parsed.status && dashes != arguments.end()) return fail(bad_usage("--status runs no command"));
  if (!parsed.status && parsed.command.empty()) return fail(bad_usage("-- COMMAND is missing"));
  return parsed;
}

std::optional<std::string> default_data_dir(const Variables& variables) {
  const auto value = [&](const char* name) {
    const char* text = variables(name);
    return std::string_view(text == nullptr ? "" : text);
  };
  if (const auto folder = value("AGENCY_DATA_DIR"); !folder.empty()) return std::string(folder);
  // The XDG specification has relative ones ignored.
  if (const auto state = value("XDG_STATE_HOME"); state.starts_with('/')) return join(state, "leasehold");
  if (const auto home = value("HOME"); home.starts_with('/')) return join(home, ".local/state/leasehold");
  return std::nullopt;
}

int run_repo_lock(const RepoLockArguments& arguments, const Variables& variables) {
  if (!arguments.help.empty()) {
    fmt::print("{}", arguments.help);
    return 0;
  }
  RepoLock lock{.data_dir = arguments.data_dir, .stale_after = arguments.stale_after};
  if (lock.data_dir.empty()) {
    const auto folder = default_data_dir(variables);
    if (!folder) {
      return say(Error{Code::config_error,
                       "There is no place for the lock: neither AGENCY_DATA_DIR, XDG_STATE_HOME nor HOME is "
                       "set. Name a folder with --data-dir."});
    }
    lock.data_dir = *folder;
  }
  if (arguments.status) return show_status(lock, arguments);

  const std::string cmd =
      arguments.cmd.empty() ? fmt::format("{}", fmt::join(arguments.command, " ")) : arguments.cmd;
  auto answer = lock_within(lock, arguments, cmd);
  if (!answer) return say(answer.error());
  if (const auto* locked = std::get_if<Locked>(&*answer)) return refuse(*locked, arguments);
  return run_under(std::get<RepoLockGuard>(*answer), arguments);
}

const Command kRepoLock = {"repo-lock", kUsage, "Run a command while nobody else has a repository's lock",
                           repo_lock, std::string_view::npos};

}  // namespace leasehold
