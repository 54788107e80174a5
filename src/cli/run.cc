// A command under leases, as flock(1) runs one under a lock.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

#include "cli/acquiring.h"
#include "cli/answers.h"
#include "cli/commands.h"
#include "cli/end_signals.h"
#include "cli/progress.h"
#include "cli/render_text.h"
#include "cli/run_marks.h"
#include "cli/run_stand_in.h"
#include "client/named_leases.h"
#include "env/machine.h"
#include "env/processes.h"
#include "hook/aftermath.h"
#include "leasehold/keeper.h"
#include "open/credentials.h"
#include "run/child_process.h"
#include "util/nudge.h"
#include "util/unique.h"
#include "util/variables.h"
#include "util/wall_now.h"
#include "wire/answer_json.h"

namespace leasehold {
namespace {

// Which leases that the command runs under are over, and why if that is known; readable as soon as one is.
class LostFlag {
 public:
  void raise(const LeaseId& lease, const std::string& why) {
    {
      const std::lock_guard lock(mutex_);
      leases_.emplace(lease, why);
    }
    nudge_.give();
  }
  std::map<LeaseId, std::string> leases() {
    nudge_.take();
    const std::lock_guard lock(mutex_);
    return leases_;
  }
  int descriptor() const { return nudge_.fd(); }

 private:
  Nudge nudge_;
  std::mutex mutex_;  // Guards what follows.
  std::map<LeaseId, std::string> leases_;
};

// Looks once in a while whether one of the leases is over: somebody took it away, or another process of its
// owner gave it back. The keeper would learn of it by its next renewal, which may be minutes off.
class EndWatch {
 public:
  EndWatch(std::shared_ptr<Client> client, const std::vector<Lease>& leases, LostFlag& lost)
      : thread_([client = std::move(client), leases, &lost](const std::stop_token& stop) {
          std::mutex mutex;
          std::condition_variable_any stopped;
          std::unique_lock lock(mutex);
          while (!stopped.wait_for(lock, stop, kLookEvery, [&] { return stop.stop_requested(); })) {
            // One look at all; only for those that are missing there is more to ask.
            const Owner& owner = leases.front().holder.owner;
            const auto held = client->leases({.agent_id = owner.agent_id, .session_id = owner.session_id});
            if (!held) continue;
            for (const Lease& lease : leases) {
              if (contains(*held, lease.id, &Lease::id)) continue;
              const auto now = client->lease(lease.id);
              const bool is_over = now ? now->status != Status::active : now.error().code == Code::not_found;
              if (is_over) lost.raise(lease.id, {});
            }
          }
        }) {}

 private:
  static constexpr Duration kLookEvery = std::chrono::seconds(1);

  std::jthread thread_;
};

std::vector<std::pair<std::string, std::string>> variables_for(const Granted& granted, const Owner& owner) {
  Token highest;
  std::string tokens;
  std::string ids;
  for (const Lease& lease : granted.leases) {
    highest = std::max(highest, lease.token);
    tokens += fmt::format("{}{}={}", tokens.empty() ? "" : "\n", lease.path, lease.token.value);
    ids += fmt::format("{}{}", ids.empty() ? "" : " ", lease.id.text);
  }
  auto variables = credentials_for_command(own_variable);
  variables.insert(variables.end(), {{"LEASE_TOKEN", std::to_string(highest.value)},
                                     {"LEASE_TOKENS", tokens},
                                     {"LEASE_IDS", ids},
                                     {"LEASE_AGENT", owner.agent_id},
                                     {"LEASE_SESSION", owner.session_id}});
  return variables;
}

// Releases what is still ours and nobody else's who runs. Returns those that were taken away.
std::vector<Lease> release_all(Call& call, Keeper& keeper, RunMarks& marks) {
  std::vector<Lease> taken;
  const std::vector<LeaseId> ids = marks.take_last();
  if (ids.empty()) return taken;
  const auto released = keeper.release(ids);
  if (!released) {
    call.out().complain(released.error().message);
    return taken;
  }
  for (const Outcome& one : released->outcomes) {
    // What its owner gave back just before was not taken.
    const bool is_taken =
        one.lease && one.lease->status != Status::active && one.lease->ended_by != EndCause::released;
    if (is_taken) taken.push_back(*one.lease);
  }
  return taken;
}

// As the beginning of a sentence, with its verb.
std::string named(const std::vector<Lease>& lost, std::string_view one, std::string_view several) {
  std::string paths;
  for (const Lease& lease : lost)
    paths += fmt::format("{}{}", paths.empty() ? "" : ", ", scope_text(lease.path, lease.subtree));
  return fmt::format("{} on {} that the command {}", lost.size() == 1 ? "The lease" : "The leases", paths,
                     lost.size() == 1 ? one : several);
}

// What becomes of a run, in sentences for people as it comes, or as one document at the end.
class Telling {
 public:
  explicit Telling(const Output& out) : out_(out) {}

  void say(std::string sentence) {
    if (!out_.json()) return out_.complain(sentence);
    said_ += (said_.empty() ? "" : " ") + std::move(sentence);
  }
  // Where it ran, standard output is the command's.
  void finish(Code code, int exit_status, bool ran) {
    if (said_.empty()) return;
    auto error = error_json({code, std::move(said_)});
    error["exit_code"] = exit_status;
    const boost::json::object document = {{"error", std::move(error)}};
    if (ran) {
      write_error(boost::json::serialize(document) + "\n");
    } else {
      out_.document(document);
    }
  }

 private:
  const Output& out_;
  std::string said_;
};

// Who took it, and why, as far as history tells; else why it could not be kept.
void tell_how(Telling& telling, Client& client, const std::vector<Lease>& lost,
              const std::map<LeaseId, std::string>& reasons) {
  constexpr std::size_t kLatest = 10;
  for (const Lease& lease : lost) {
    const auto events =
        client.history({.lease_id = lease.id, .limit = kLatest}).value_or(std::vector<Event>());
    const auto end = std::ranges::find_if(events.rbegin(), events.rend(), [](const Event& event) {
      return event.status_before == Status::active && event.status_after != Status::active;
    });
    if (end != events.rend()) {
      telling.say(notice_text({.cause = end->cause,
                               .path = end->path,
                               .subtree = end->subtree,
                               .actor = end->actor,
                               .reason = end->reason},
                              wall_now()));
    } else if (const auto why = reasons.find(lease.id); why != reasons.end() && !why->second.empty()) {
      telling.say(why->second);
    }
  }
}

// What another one runs under, too, must not end when either of them is killed.
void share_with_others(Client& client, const RunMarks& marks, const std::vector<Lease>& leases,
                       Caller caller) {
  RenewRequest claim;
  std::vector<std::string> files;
  for (const RunMarks::Other& other : marks.others()) {
    const auto lease = std::ranges::find(leases, other.lease, &Lease::id);
    const auto& process = lease->holder.process;
    // Else it hangs on a stand-in already, or is nothing of theirs.
    if (!process || !contains(other.pids, static_cast<pid_t>(process->pid))) continue;
    claim.which.ids.push_back(other.lease);
    files.push_back(other.mark);
  }
  if (files.empty()) return;
  caller.holder.process = start_stand_in(files);
  claim.caller = std::move(caller);
  // Where that fails it is lost with the other one, and noticed as any loss.
  if (claim.caller.holder.process) [[maybe_unused]]
    const auto done = client.renew(claim);
}

// What others still run under must not end with this process.
void hand_over(Client& client, const RunMarks& marks, const Caller& caller) {
  for (const RunMarks::Other& other : marks.others()) {
    const auto lease = client.lease(other.lease);
    if (!lease || lease->holder.process != own_process(read_machine())) continue;
    for (const pid_t pid : other.pids) {
      Caller heir = caller;
      heir.holder.process = process_with_pid(read_machine(), pid);
      if (heir.holder.process && client.renew({.caller = heir, .which = {.ids = {other.lease}}})) break;
    }
  }
}

// What the command leased by itself is of a session that nobody can name again. What hangs on a process of
// its own, such as another lease run, goes on.
void release_session(Call& call, const Caller& caller) {
  OpenWorkspace& workspace = **call.workspace();
  const Owner& owner = caller.holder.owner;
  const auto left = workspace.client()->leases({.agent_id = owner.agent_id, .session_id = owner.session_id});
  if (!left) return call.out().complain(left.error().message);
  Selection which;
  for (const Lease& lease : *left) {
    const auto& process = lease.holder.process;
    if (!process || process == workspace.caller_process()) which.ids.push_back(lease.id);
  }
  if (which.ids.empty()) return;
  const auto done = release_named(*workspace.client(), {.caller = caller, .which = which});
  if (!done) call.out().complain(done.error().message);
}

int run_under(Call& call, Keeper& keeper, LostFlag& lost, const Granted& granted, const Owner& owner,
              RunMarks& marks) {
  std::vector<Lease> gone;
  Telling telling(call.out());
  const auto is_lost = [&] {
    const auto over = lost.leases();
    for (const Lease& lease : granted.leases) {
      if (over.contains(lease.id) || !keeper.is_valid(lease.id)) gone.push_back(lease);
    }
    // It is ended at once; the store is asked for more afterwards.
    if (!gone.empty())
      telling.say(named(gone, "runs under is lost.", "runs under are lost.") +
                  " The command is being ended.");
    return !gone.empty();
  };
  const ChildEnd end = supervise({.command = call.arguments().command(),
                                  .variables = variables_for(granted, owner),
                                  .is_lost = is_lost,
                                  .wake = lost.descriptor()});
  Client& client = *(*call.workspace())->client();
  tell_how(telling, client, gone, lost.leases());  // Before what is left is released, which is no reason.
  if (const std::vector<Lease> taken = release_all(call, keeper, marks); gone.empty() && !taken.empty()) {
    gone = taken;
    telling.say(named(gone, "ran under was lost before it ended.", "ran under were lost before it ended."));
    tell_how(telling, client, gone, {});
  }
  if (!end.not_started.empty()) telling.say(end.not_started);
  const int status = gone.empty() ? end.exit_status : info(Code::lost).exit_code;
  telling.finish(gone.empty() ? Code::invalid_argument : Code::lost, status, end.not_started.empty());
  return status;
}

// Whether any of the leases goes on when the command has ended: such a one must not hang on this process.
// Asking for what one holds already makes it hang on whoever asks.
Result<bool> outlives_command(Call& call, const AcquireRequest& request) {
  if (call.arguments().has("keep")) return true;
  const Owner& owner = request.caller.holder.owner;
  Listing own = {.paths = {}, .agent_id = owner.agent_id, .session_id = owner.session_id, .pr_id = {}};
  for (const WantedPath& wanted : request.paths) own.paths.push_back(wanted.path);
  const auto held = (*call.workspace())->client()->leases(own);
  if (!held) return fail(held.error());
  return !held->empty();
}

Result<int> run(Call& call) {
  if (call.arguments().command().empty())
    return fail(Code::invalid_argument, "-- COMMAND is missing. See: lease help run");
  auto request = acquire_request(call);
  if (!request) return fail(request.error());
  if (request->wait == Duration::zero()) request->wait.reset();
  Holder& holder = request->caller.holder;
  const auto workspace = call.workspace();
  // Two shells of one user are two, as with flock. Whoever has a name or a session is one in all that it
  // starts.
  const bool is_own_session = call.identity().is_user && holder.owner.session_id.empty();
  if (is_own_session) {
    holder.owner.session_id =
        fmt::format("run-{}-{}", ::getpid(), std::chrono::steady_clock::now().time_since_epoch().count());
  }

  const auto outlives = outlives_command(call, *request);
  if (!outlives) return fail(outlives.error());
  if (!*outlives) holder.process = (*workspace)->own_process();

  LostFlag lost;
  std::optional<EndSignals> signals(std::in_place);
  const auto on_event = [&](const KeeperEvent& event) {
    const bool is_over = event.type == KeeperEventType::expired || event.type == KeeperEventType::lost;
    if (is_over && event.lease) lost.raise(event.lease->id, event.error ? event.error->message : "");
  };
  auto keeper =
      Keeper::start((*workspace)->client(), request->caller, {.on_event = on_event, .recovers = false});
  if (!keeper) return fail(keeper.error());
  std::optional<Progress> progress(std::in_place, call.out(),
                                   [&] { return waiting_for(*(*workspace)->client(), *request); });
  const auto answered = (*keeper)->acquire(*request, signals->descriptor());
  progress.reset();
  signals.reset();
  if (!answered) return fail(answered.error());
  const auto* granted = std::get_if<Granted>(&answered->decision);
  if (granted == nullptr) return answer(call, *request, *answered);
  // A server may know the caller by another name than its guess: that of its credential.
  const auto brought = std::ranges::find(granted->leases, granted->group_id, &Lease::group_id);
  if (brought != granted->leases.end()) holder.owner = brought->holder.owner;
  tell(call.out(), answered->notices);
  note_granted(**workspace, granted->leases);
  const EndWatch watch((*workspace)->client(), granted->leases, lost);
  const bool keeps = call.arguments().has("keep");
  RunMarks marks(granted->leases, keeps ? std::vector<LeaseId>() : brought_by(*granted));
  share_with_others(*(*workspace)->client(), marks, granted->leases, request->caller);
  const int status = run_under(call, **keeper, lost, *granted, holder.owner, marks);
  (*keeper)->stop();
  hand_over(*(*workspace)->client(), marks, request->caller);
  if (is_own_session && !keeps) release_session(call, request->caller);
  return status;
}

constexpr Example kExamples[] = {
    {"lease run src/a.ts --wait 5m -- make format", "format it as soon as nobody else has it"},
    {"lease run port:3000 -- npm start", "one server at a time"},
    {"lease run --subtree docs -- sh -c 'build && lease check docs/a --token $LEASE_TOKEN'",
     "with its token"},
};

}  // namespace

const Command kRun = {
    .name = "run",
    .synopsis = "PATH... [OPTION]... -- COMMAND...",
    .summary = "Run a command while holding leases",
    .description =
        "Like flock(1), with leases: acquires (and with --wait waits), renews while the command runs, "
        "releases when "
        "it ends, and returns its exit status. Signals are passed on. If a lease is lost, the command gets "
        "TERM, and "
        "KILL after 5 s, and the exit status is 79.\n\n"
        "The command finds LEASE_TOKEN (the highest), LEASE_TOKENS (PATH=TOKEN, one per line), LEASE_IDS, "
        "LEASE_AGENT "
        "and LEASE_SESSION in its environment. A credential that LEASE_TOKEN had, and the file that "
        "LEASE_TOKENS "
        "named, it finds as LEASE_CREDENTIAL and LEASE_TOKEN_FILE, which lease reads as well. For a user who "
        "is no agent and named no session, each call is "
        "an owner of its own.",
    .uses = Uses::owner,
    .operands = {"PATH", "A file as in lease acquire; - reads a list from standard input"},
    .options = run_options(),
    .examples = kExamples,
    .runs_command = true,
    .run = run,
};

}  // namespace leasehold
