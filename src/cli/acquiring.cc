#include "cli/acquiring.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>

#include "cli/answers.h"
#include "cli/end_signals.h"
#include "cli/progress.h"
#include "cli/render_text.h"
#include "model/may_pass.h"
#include "util/shell_word.h"
#include "util/unique.h"
#include "util/utf8.h"
#include "workspace/trees_below.h"

namespace leasehold {
namespace {

constexpr OptionSpec kOptions[] = {
    {"--mode", "MODE", "Alone, or together with others who only read", "exclusive shared"},
    {"--subtree", "DIR", "A folder and all below it, now and later", {}, true},
    {"--ttl", "DURATION", "How long the leases last unless renewed"},
    {"--max-renewals", "N", "How often they may be renewed; -1: no limit"},
    {"--wait", "DURATION", "Wait in the queue for so long if somebody is in the way; 0s: not at all"},
    {"--priority", "N", "From -10 to 10; each step counts as ten seconds of waiting"},
    {"--reason", "TEXT", "What for; others see it"},
    {"--pr", "ID", "The pull request it is for (LEASE_PR)"},
    {"--no-pairs", {}, "Only these files, without the tests of sources"},
    {"--idempotency-key", "KEY", "The same key and request again give the same grant"},
    {"--room", "NAME", "The room it is for; a busy room refuses"},
    kConflictExitOption,
    kNullOption,
    {"--keep", {}, "Leave the leases held when the command has ended"},
};

Result<void> add_numbers(const Arguments& arguments, AcquireRequest& request) {
  auto ttl = arguments.duration("ttl");
  if (!ttl) return fail(ttl.error());
  auto wait = arguments.duration("wait");
  if (!wait) return fail(wait.error());
  const auto renewals = arguments.number("max-renewals", -1, INT_MAX);
  if (!renewals) return fail(renewals.error());
  const auto priority = arguments.number("priority", -10, 10);
  if (!priority) return fail(priority.error());
  request.ttl = *ttl;
  request.wait = *wait;
  if (*renewals) request.max_renewals = static_cast<int>(**renewals);
  request.priority = static_cast<int>(priority->value_or(0));
  return {};
}

// What depends on where it is asked.
Result<void> complete(Call& call, const OpenWorkspace& workspace, const std::vector<AskedPath>& asked,
                      AcquireRequest& request) {
  auto wanted = workspace.wanted(asked, {.cwd = call.cwd(), .pairs = !call.arguments().has("no-pairs")});
  if (!wanted) return fail(wanted.error());
  request.paths = *std::move(wanted);
  request.caller = call.caller(true);
  if (request.wait) request.waiter = workspace.own_process();
  return {};
}

// The rules have nothing against it where nobody holds anything.
Result<void> rehearse(Call& call, OpenWorkspace& empty, const std::vector<AskedPath>& asked,
                      AcquireRequest request) {
  request.wait.reset();
  if (auto completed = complete(call, empty, asked, request); !completed) return completed;
  if (const auto answer = empty.client()->acquire(request); !answer) return fail(answer.error());
  return {};
}

void give_back_untold(Call& call, const AcquireRequest& request, const AcquireAnswer& answer) {
  const auto* granted = std::get_if<Granted>(&answer.decision);
  if (granted == nullptr || call.out().is_written()) return;
  if (!request.idempotency_key.empty())
    return call.out().complain(
        "What was granted could not be told. Ask again under the same idempotency key.");
  Client& client = *(*call.workspace())->client();
  const std::vector<LeaseId> brought = brought_by(*granted);
  Selection raised;
  for (const Lease& lease : granted->leases) {
    if (contains(brought, lease.id) || lease.mode == Mode::shared) continue;
    const auto last = client.history({.lease_id = lease.id, .limit = 1});
    const bool is_raised = last && !last->empty() && last->front().type == EventType::upgraded &&
                           last->front().token == lease.token;
    if (is_raised) raised.ids.push_back(lease.id);
  }
  std::optional<Error> failed;
  const auto note = [&](const Result<Outcomes>& done) {
    if (!done) failed = done.error();
  };
  if (!brought.empty()) note(client.release({.caller = request.caller, .which = {.ids = brought}}));
  if (!raised.ids.empty()) note(client.downgrade({.caller = request.caller, .which = raised}));
  call.out().complain(failed ? "What was granted could not be told, and could not be given back: " +
                                   failed->message
                             : "What was granted could not be told, and is given back.");
}

// What lies below a folder and has leases of its own.
void note_trees_below(const Output& out, const std::string& asked, const std::filesystem::path& place) {
  std::error_code failed;
  const std::string folder = std::filesystem::canonical(place, failed).string();
  const auto workspace = failed ? std::nullopt : std::optional(find_workspace(folder));
  if (!workspace || !*workspace) return;
  const std::vector<std::string> roots = TreesBelow().find(**workspace, folder);
  if (roots.empty()) return;
  out.note(fmt::format(
      "{} has {} inside ({}{}): not what is in there. To lease that: lease -C {} acquire --subtree .",
      in_sentence(asked), roots.size() == 1 ? "another work tree" : "other work trees",
      in_sentence(roots.front()), roots.size() > 1 ? ", ..." : "", shell_word(roots.front())));
}

}  // namespace

std::span<const OptionSpec> acquire_options() { return std::span(kOptions).first(std::size(kOptions) - 1); }
std::span<const OptionSpec> run_options() { return kOptions; }

Result<AcquireRequest> acquire_request(Call& call, bool begins) {
  const Arguments& arguments = call.arguments();
  AcquireRequest request = {.mode = arguments.text("mode") == "shared" ? Mode::shared : Mode::exclusive,
                            .reason = arguments.text("reason").value_or(""),
                            .room = arguments.text("room").value_or(""),
                            .idempotency_key = arguments.text("idempotency-key").value_or("")};
  if (auto added = add_numbers(arguments, request); !added) return fail(added.error());
  auto files = call.paths();
  if (!files) return fail(files.error());
  std::vector<AskedPath> asked;
  for (std::string& path : *files) asked.push_back({std::move(path)});
  for (std::string& folder : arguments.texts("subtree")) asked.push_back({std::move(folder), true});
  if (asked.empty()) {
    return fail(
        Code::invalid_argument,
        fmt::format("Which files? Name a PATH or --subtree DIR. See: lease help {}", call.command().name));
  }

  if (const char* trace = std::getenv("TRACEPARENT")) request.trace = trace;
  const auto is_right = [&](OpenWorkspace& empty) { return rehearse(call, empty, asked, request); };
  const auto workspace = begins ? call.workspace_to_begin(is_right) : call.workspace();
  if (!workspace) return fail(workspace.error());
  if (auto completed = complete(call, **workspace, asked, request); !completed)
    return fail(completed.error());
  for (const AskedPath& one : asked) {
    std::error_code ignored;
    const std::filesystem::path place = std::filesystem::path(call.cwd()) / one.path;
    if (one.subtree && std::filesystem::is_regular_file(place, ignored)) {
      call.out().note(fmt::format("{} is a file: this is about it as a folder. The file alone: {}",
                                  in_sentence(one.path), shell_word(one.path)));
    }
    if (one.subtree) note_trees_below(call.out(), one.path, place);
    if (!one.subtree && std::filesystem::is_directory(place, ignored)) {
      call.out().note(fmt::format("{} is a folder: this is about its name alone. All below it: --subtree {}",
                                  in_sentence(one.path), shell_word(one.path)));
    }
  }
  return request;
}

std::string waiting_for(Client& client, const AcquireRequest& request) {
  Listing asked;
  for (const WantedPath& wanted : request.paths) asked.paths.push_back(wanted.path);
  std::string text = fmt::format("Waiting for {}", in_sentence(asked.paths.front()));
  const auto board = client.board(asked);
  if (!board) return text;
  const auto holder = std::ranges::find_if(board->rows, [&](const BoardRow& row) {
    return row.live && row.lease.status == Status::active &&
           row.lease.holder.owner != request.caller.holder.owner;
  });
  if (holder == board->rows.end()) return text;
  return fmt::format("Waiting for {}, held by {}", scope_text(holder->lease.path, holder->lease.subtree),
                     in_sentence(holder->lease.holder.owner.agent_id));
}

Result<AcquireAnswer> acquire(Call& call, const AcquireRequest& request) {
  Client& client = *(*call.workspace())->client();
  if (request.wait == Duration::zero()) {
    AcquireRequest at_once = request;
    at_once.wait.reset();
    return client.acquire(at_once);
  }
  // Also for one who does not say: the profile may wait by itself.
  const EndSignals signals;
  const Progress progress(call.out(), [&] { return waiting_for(client, request); });
  auto answer = client.acquire_and_wait(request, signals.descriptor());
  const auto* granted = answer ? std::get_if<Granted>(&answer->decision) : nullptr;
  if (granted != nullptr && signals.came()) {
    // Nobody will hear of it, so nobody would give it back.
    [[maybe_unused]] const auto done =
        client.release({.caller = request.caller, .which = {.ids = brought_by(*granted)}});
  }
  return answer;
}

std::vector<LeaseId> brought_by(const Granted& granted) {
  std::vector<LeaseId> ids;
  for (const Lease& lease : granted.leases) {
    if (lease.group_id == granted.group_id) ids.push_back(lease.id);
  }
  return ids;
}

Result<int> answer_or_give_back(Call& call, const AcquireRequest& request, const AcquireAnswer& answer) {
  std::signal(SIGPIPE, SIG_IGN);  // One who does not read on cannot be told.
  const auto status = leasehold::answer(call, request, answer);
  give_back_untold(call, request, answer);
  return status;
}

Result<AcquireAnswer> upgrade(Call& call, const AcquireRequest& request) {
  Client& client = *(*call.workspace())->client();
  const EndSignals signals;
  const Progress progress(call.out(), [&] { return waiting_for(client, request); });
  std::vector<Notice> told;
  std::optional<GroupId> ticket;
  auto patience = std::chrono::steady_clock::now();
  auto answer = client.upgrade(request);
  for (;;) {
    const auto now = std::chrono::steady_clock::now();
    if (answer) {
      std::ranges::move(answer->notices, std::back_inserter(told));
      const auto* queued = std::get_if<Queued>(&answer->decision);
      if (queued == nullptr) return AcquireAnswer{std::move(answer->decision), std::move(told)};
      ticket = queued->ticket;
      patience = now + (queued->wait_until - queued->at);
    } else if (!ticket || !may_pass(answer.error().code) || now >= patience) {
      return answer;
    }
    // Upgrades are rare, and whoever makes one holds the file already: no bell, just a look now and then.
    constexpr int kLookEveryMs = 100;
    pollfd cancelled = {signals.descriptor(), POLLIN, 0};
    if (::poll(&cancelled, 1, kLookEveryMs) > 0) {
      if (auto gave_up = client.cancel(request.caller, *ticket); !gave_up) return fail(gave_up.error());
      return AcquireAnswer{Refused{Code::lost, "The wait was cancelled. What was shared still is.", {}, {}},
                           std::move(told)};
    }
    answer = client.poll(request.caller, *ticket);
  }
}

}  // namespace leasehold
