#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <chrono>
#include <cstdlib>
#include <set>

#include "cli/call.h"
#include "cli/commands.h"
#include "cli/held_twice.h"
#include "cli/past.h"
#include "config/settings.h"
#include "init/configured_command.h"
#include "init/host_check.h"
#include "init/rehearsal.h"
#include "model/notice_text.h"
#include "open/stores.h"
#include "util/unique.h"
#include "util/utf8.h"
#include "util/variables.h"
#include "util/wall_now.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

enum class Health { good, odd, bad };

struct Finding {
  std::string what;
  Health health = Health::good;
  std::string text;
  bool repaired = false;
  bool is_refused = false;  // It was not examined: who asks may not.
};

std::string_view word_of(Health health) {
  constexpr std::string_view kWords[] = {"good", "odd", "bad"};
  return kWords[static_cast<std::size_t>(health)];
}

// Others must neither read what agents write into reasons nor change who holds what.
Finding permissions(const std::string& folder, bool repair) {
  constexpr mode_t kForeign = S_IRWXG | S_IRWXO;
  struct stat found{};
  if (::stat(folder.c_str(), &found) != 0)
    return {"permissions", Health::bad, "the store's folder cannot be seen"};
  if ((found.st_mode & kForeign) == 0)
    return {"permissions", Health::good, "only you may look into the store"};
  if (repair && ::chmod(folder.c_str(), S_IRWXU) == 0)
    return {"permissions", Health::good, "others could look into the store; not any more", true};
  return {"permissions", Health::bad,
          fmt::format("others may look into the store. Run: chmod 700 {}", in_sentence(folder))};
}

Finding clock_of(const Board& board) {
  const auto skew = std::chrono::abs(wall_now() - board.wall);
  if (skew <= 30s) return {"clock", Health::good, "the store's clock and this machine's agree"};
  return {"clock", Health::odd,
          fmt::format("the store's clock is {} s off this machine's; times you read are the store's",
                      std::chrono::duration_cast<std::chrono::seconds>(skew).count())};
}

Finding liveness(const OpenWorkspace& workspace) {
  if (!workspace.own_process())
    return {"liveness", Health::odd, "processes cannot be seen here (/proc); only time ends leases"};
  if (const auto process = workspace.caller_process())
    return {"liveness", Health::good, fmt::format("your leases end with process {}", process->pid)};
  return {"liveness", Health::good, "no agent and no terminal is around; only time ends your leases"};
}

Finding holders(const Board& board) {
  const auto both = held_twice(board);
  if (!both) return {"holders", Health::good, "no two hold what excludes the other"};
  const auto& [one, other] = *both;
  return {"holders", Health::bad,
          fmt::format("{} holds {} and {} holds {}, which exclude each other: the store lost something "
                      "meanwhile. Ask both, and end one: lease force-release --id {} --reason TEXT",
                      in_sentence(one.holder.owner.agent_id), scope_text(one.path, one.subtree),
                      in_sentence(other.holder.owner.agent_id), scope_text(other.path, other.subtree),
                      other.id.text)};
}

Finding leftovers(const Board& board, Client& client, bool repair) {
  std::size_t over = 0;
  for (const BoardRow& row : board.rows) over += row.live ? 0 : 1;
  if (over == 0) return {"leftovers", Health::good, "everything that ended is recorded"};
  if (repair && client.sweep(true))
    return {"leftovers", Health::good, fmt::format("recorded {} that had ended", over), true};
  return {"leftovers", Health::good, fmt::format("{} ended and will be recorded by the next acquire", over)};
}

// What a store says that cannot be read. It would send people here.
Finding unreadable(const Error& error) {
  constexpr std::string_view kHere = "Look at it with: lease doctor";
  std::string text = error.message;
  if (const auto at = text.find(kHere); at != std::string::npos)
    text.replace(at, kHere.size(), "Restore it from a backup, or delete it when nobody works here.");
  return {"store", Health::bad, std::move(text)};
}

// What the store itself finds wrong in it.
Result<void> add_defects(OpenWorkspace& workspace, bool repair, std::vector<Finding>& findings) {
  const auto defects = workspace.examine_store(repair);
  if (!defects && defects.error().code == Code::not_owner) {
    findings.push_back({.what = "records",
                        .health = Health::odd,
                        .text = "not examined: " + defects.error().message,
                        .is_refused = true});
    return {};
  }
  if (!defects) return fail(defects.error());
  for (const Defect& defect : *defects) {
    findings.push_back({"records", defect.repaired ? Health::good : Health::bad,
                        fmt::format("{}: {}", in_sentence(defect.where), defect.what), defect.repaired});
  }
  if (defects->empty())
    findings.push_back({"records", Health::good, "all can be read, and lead where they should"});
  return {};
}

// History told from its beginning has to end with what is held now, unless it `is_partial`.
Finding history_fold(const Board& board, const std::vector<Event>& events, bool is_partial) {
  std::set<LeaseId> told;
  for (const Stay& stay : stays(events)) {
    if (!stay.to && !stay.waits) told.insert(stay.lease_id);
  }
  std::size_t missing = 0;
  std::set<LeaseId> held;
  for (const BoardRow& row : board.rows) {
    if (row.lease.status != Status::active) continue;
    held.insert(row.lease.id);
    missing += told.contains(row.lease.id) ? 0 : 1;
  }
  std::size_t surplus = 0;
  for (const LeaseId& id : told) surplus += held.contains(id) ? 0 : 1;
  if (missing == 0 && surplus == 0)
    return {"history", Health::good, fmt::format("{} events lead to what is held now", events.size())};
  return {
      "history", is_partial || events.empty() ? Health::odd : Health::bad,
      fmt::format("{} leases are held that history does not tell of, and it tells of {} that are not held{}",
                  missing, surplus, is_partial ? ": it was not kept for a time (keep_history)" : "")};
}

// Others go on, and what is held and what was told are of two moments. What is wrong stays so.
Result<Finding> history_finding(Client& client) {
  for (int tries = 5;; --tries) {
    const auto board = client.board();
    if (!board) return fail(board.error());
    const auto events = client.history({});
    if (!events) return fail(events.error());
    const auto settings = client.settings().value_or(std::vector<Setting>());
    Finding found = history_fold(*board, *events, contains(settings, kHistoryLeftOut, &Setting::key));
    if (found.health == Health::good || tries == 1) return found;
  }
}

// Stops at the first thing that cannot be read.
Result<void> examine_records(OpenWorkspace& workspace, bool repair, std::vector<Finding>& findings) {
  const auto client = workspace.client();
  if (auto added = add_defects(workspace, repair, findings); !added) return added;
  findings.push_back(liveness(workspace));
  const auto board = client->board();
  if (!board) return fail(board.error());
  findings.push_back(clock_of(*board));
  findings.push_back(holders(*board));
  findings.push_back(leftovers(*board, *client, repair));
  auto history = history_finding(*client);
  if (!history) return fail(history.error());
  findings.push_back(*std::move(history));
  return {};
}

// A tree that asks a store elsewhere may have nothing of its own that says so; its hooks then ask nobody.
Finding workspace_of(const OpenWorkspace& workspace) {
  std::string text = fmt::format("{} ({})", in_sentence(workspace.root()), workspace.id());
  if (workspace.is_managed()) return {"workspace", Health::good, std::move(text)};
  text += ": it is not managed, so agents' hooks let every write pass here. To guard it: lease init";
  return {"workspace", Health::odd, std::move(text)};
}

// Error: not_owner.
Result<std::vector<Finding>> examine_store(Call& call, bool repair) {
  const auto opened = call.workspace();
  if (!opened && opened.error().code == Code::not_found)
    return std::vector<Finding>{{"store", Health::good, "there is none yet: nothing was ever leased here"}};
  if (!opened) return std::vector<Finding>{unreadable(opened.error())};
  OpenWorkspace& workspace = **opened;
  std::vector<Finding> findings;
  findings.push_back(workspace_of(workspace));
  if (const std::string folder = embedded_folder(workspace.store_url()); !folder.empty())
    findings.push_back(permissions(folder, repair));
  const auto examined = examine_records(workspace, repair, findings);
  if (!examined && examined.error().code == Code::not_owner) return fail(examined.error());
  findings.push_back(
      examined ? Finding{"store", Health::good, "it opens, and its tables are those of this version"}
               : unreadable(examined.error()));
  for (const std::string& note : workspace.notes()) findings.push_back({"settings", Health::odd, note});
  return findings;
}

// Whether an agent of this project asks before it writes. It is tried: two of them, one scratch file.
Finding asks(const std::string& root, HookHost host) {
  const std::string name(word(host));
  if (!calls_us(root, host)) {
    return {
        name, Health::odd,
        fmt::format("it is installed and does not ask before it writes. Run: lease init --agents {}", name)};
  }
  if (!on_path("lease", own_variable))
    return {name, Health::bad, "its hooks call lease, which is not on PATH. Put it there."};
  const auto told = rehearse(root, host, own_variable);
  if (!told) {
    return {name, Health::bad,
            fmt::format("{} (The lease on PATH is {}.)", told.error().message,
                        in_sentence(on_path("lease", own_variable).value_or("none")))};
  }
  return {
      name, Health::good,
      fmt::format("it asks before it writes. Of two on a scratch file, the second was refused: {}{}", *told,
                  passes_when_late(host) ? " (A hook that takes longer than 5 s it does not wait for, and "
                                           "writes; lease answers within 3.)"
                                         : "")};
}

// Whether commits are looked at. Nothing where there is no repository.
std::optional<Finding> commits(const Workspace& workspace) {
  if (!workspace.git_common_dir) return std::nullopt;
  const auto git = find_git_place(workspace.root, workspace.git_common_dir);
  if (!git) return std::nullopt;
  if (has_git_hooks(*git))
    return Finding{"git", Health::good, "commits of files that others hold are refused"};
  if (!has_unused_git_hooks(*git))
    return Finding{"git", Health::good, "commits are not looked at (lease init --git-hooks)"};
  return Finding{"git", Health::odd,
                 fmt::format("our hooks are in {}, but git runs those in {} (core.hooksPath). {}",
                             in_sentence(git->usual_folder), in_sentence(git->hooks_folder),
                             git->is_shared ? kSharedHooksAdvice : "Run lease init --git-hooks again")};
}

// What lease init set up. Who only set up a part of it must not believe in the rest.
Result<std::vector<Finding>> hooks(const Call& call) {
  const auto place = call.place();
  if (!place) return fail(place.error());
  const auto workspace = find_workspace(*place);
  std::vector<Finding> findings;
  if (!workspace) return findings;
  const std::string& root = workspace->root;
  std::vector<HookHost> hosts = installed_hosts(root, own_variable);
  if (std::ranges::none_of(hosts, [&](HookHost host) { return calls_us(root, host); })) {
    findings.push_back({"agents", Health::odd,
                        "none of this project asks before it writes. Name those you use: lease init --agents "
                        "claude-code,codex"});
    hosts.clear();
  }
  const InitRequest project = {.workspace = *workspace, .wishes = wishes_of(*workspace)};
  for (const HookHost host : hosts) {
    findings.push_back(asks(root, host));
    if (!calls_us(root, host)) continue;
    for (std::string& problem : host_problems(project, host, own_variable))
      findings.push_back({std::string(word(host)), Health::odd, std::move(problem)});
  }
  if (auto looked_at = commits(*workspace)) findings.push_back(*std::move(looked_at));
  return findings;
}

Result<std::vector<Finding>> examine(Call& call) {
  const bool repair = call.arguments().has("repair");
  auto findings = hooks(call);
  if (!findings) return findings;
  auto stored = examine_store(call, repair);
  if (!stored) return stored;
  stored->insert(stored->end(), findings->begin(), findings->end());
  return stored;
}

Result<int> run(Call& call) {
  const auto findings = examine(call);
  if (!findings) return fail(findings.error());
  bool healthy = true;
  bool all_examined = true;
  boost::json::array all;
  std::string text;
  for (const Finding& finding : *findings) {
    healthy = healthy && finding.health != Health::bad;
    all_examined = all_examined && !finding.is_refused;
    const Paint paint = finding.health == Health::good  ? Paint::green
                        : finding.health == Health::odd ? Paint::yellow
                                                        : Paint::red;
    text += fmt::format("{}  {:<12} {}{}\n",
                        call.out().painted(paint, fmt::format("{:<4}", word_of(finding.health))),
                        finding.what, finding.text, finding.repaired ? " (repaired)" : "");
    all.push_back(boost::json::object{{"what", finding.what},
                                      {"health", word_of(finding.health)},
                                      {"text", finding.text},
                                      {"repaired", finding.repaired}});
  }
  if (call.out().json()) {
    call.out().document({{"healthy", healthy}, {"findings", std::move(all)}});
  } else {
    call.out().print(text);
  }
  if (!healthy) return info(Code::corrupt).exit_code;
  return all_examined ? 0 : info(Code::not_owner).exit_code;
}

constexpr OptionSpec kOptions[] = {
    {"--repair", {}, "Repair what can be: permissions, broken records and indexes, unrecorded ends"}};

}  // namespace

const Command kDoctor = {
    .name = "doctor",
    .synopsis = "[--repair]",
    .summary = "Examine the store, its permissions, records, clocks and history, and the hooks",
    .description =
        "Says for each part whether it is good, odd or bad, and what to do. Where lease init was run, two "
        "agents "
        "try to write one scratch file, and what the second is told is shown. Exits with 74 if anything is "
        "bad, else with 77 if you may not examine all of it.",
    .options = kOptions,
    .run = run,
};

}  // namespace leasehold
