// A tour in one minute: two agents, one file and its test, in a temporary workspace.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/command.h"
#include "engine/explain.h"
#include "env/boottime_clock.h"
#include "env/system_random.h"
#include "manager/lease_manager.h"
#include "store/memory/memory_store.h"
#include "workspace/disk_pairs.h"
#include "workspace/pair_config.h"
#include "workspace/path_intake.h"
#include "workspace/workspace.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

// Removed with everything in it when the demo is over.
class TemporaryWorkspace {
 public:
  TemporaryWorkspace() {
    std::error_code error;
    std::string pattern = std::filesystem::temp_directory_path(error) / "leasehold-demo-XXXXXX";
    if (!error && mkdtemp(pattern.data()) != nullptr) root_ = pattern;
  }
  TemporaryWorkspace(const TemporaryWorkspace&) = delete;
  TemporaryWorkspace& operator=(const TemporaryWorkspace&) = delete;
  ~TemporaryWorkspace() {
    std::error_code ignored;
    if (!root_.empty()) std::filesystem::remove_all(root_, ignored);
  }

  const std::string& root() const { return root_; }

  bool add(const std::string& path) const {
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path(), error);
    return !error && std::ofstream(root_ + path).put('\n').good();
  }

 private:
  std::string root_;
};

class NobodyToWatch final : public LivenessProbe {
 public:
  Verdict look_at(const Process&) override {
    return {Liveness::unknown, "the demo's agents are not processes"};
  }
};

Caller caller_named(const std::string& agent) {
  return {.holder = {.owner = {agent, "demo"}, .pr_id = {}, .host = "localhost", .process = {}}};
}

void title(std::string_view text) { fmt::print("\n== {}\n", text); }

void print_notices(const std::string& agent, std::span<const Notice> notices) {
  for (const Notice& notice : notices) {
    fmt::print("  {} is told: {} {} {}: {}\n", agent, notice.path,
               notice.received ? "comes from" : "was taken by", notice.actor, notice.reason);
  }
}

// The parts of a refusal stand in one line each: it is long.
std::string one_per_line(std::string_view message) {
  std::string lines;
  while (!message.empty()) {
    const std::size_t end =
        std::min({message.find("; /"), message.find(". To wait"), message.size() - 1}) + 1;
    lines += fmt::format("  {}\n", message.substr(0, end));
    message.remove_prefix(std::min(end + 1, message.size()));
  }
  return lines;
}

std::string added_by_pairing(const Lease& lease) {
  if (lease.requested || lease.paired_with.empty()) return {};
  return fmt::format("  (paired with {}, rule {})", lease.paired_with.front(), lease.rule);
}

void print_answer(const std::string& agent, const AcquireAnswer& answer) {
  if (const auto* granted = std::get_if<Granted>(&answer.decision)) {
    for (const Lease& lease : granted->leases) {
      fmt::print("  {} holds {} {} token {}{}\n", agent, lease.path, word(lease.mode), lease.token.value,
                 added_by_pairing(lease));
    }
  } else if (const auto* refused = std::get_if<Refused>(&answer.decision)) {
    fmt::print("  {} is refused: {}\n{}", agent, info(refused->code).name, one_per_line(refused->message));
  }
  print_notices(agent, answer.notices);
}

class Demo {
 public:
  Demo(LeaseManager& manager, const Workspace& workspace, const PairRules& rules)
      : manager_(manager), workspace_(workspace), rules_(rules) {}

  Result<void> run() {
    title("ann wants src/greeting.ts; its test comes along");
    auto first = acquire("ann", {});
    if (!first) return fail(first.error());
    print_answer("ann", *first);

    title("bob wants it too, and is told who is in the way");
    auto second = acquire("bob", {});
    if (!second) return fail(second.error());
    print_answer("bob", *second);

    title("bob waits; ann releases; bob goes on");
    if (auto done = wait_and_release(); !done) return done;

    title("bob hands his work to cyd");
    if (auto done = hand_over(); !done) return done;

    title("history of src/greeting.ts");
    return print_history();
  }

 private:
  Result<AcquireRequest> request(const std::string& agent) {
    const auto key = key_from_os(workspace_, {"src/greeting.ts", workspace_.root});
    if (!key) return fail(key.error());
    AcquireRequest request = {
        .caller = caller_named(agent), .paths = {{.path = *key}}, .reason = "translate the greeting"};
    add_pairs(request.paths, pairs_on_disk(workspace_, rules_, std::span(&*key, 1)));
    return request;
  }

  Result<AcquireAnswer> acquire(const std::string& agent, std::optional<Duration> wait) {
    auto asked = request(agent);
    if (!asked) return fail(asked.error());
    asked->wait = wait;
    return wait ? manager_.acquire_and_wait(*asked) : manager_.acquire(*asked);
  }

  Result<void> wait_and_release() {
    Result<AcquireAnswer> answer;
    std::atomic<bool> answered = false;
    const auto began = std::chrono::steady_clock::now();
    std::jthread bob([&] {
      answer = acquire("bob", 30s);
      answered = true;
    });
    // Without a wait, be it by an error, there is nothing to wait for here.
    while (!answered && !bob_waits()) std::this_thread::yield();
    fmt::print("  bob waits\n");
    const auto released = manager_.release(
        {.caller = caller_named("ann"), .which = {.paths = {"/src/greeting.ts"}}, .token = {}});
    if (!released) return fail(released.error());
    fmt::print("  ann releases /src/greeting.ts, and with it the test that pairing added\n");
    bob.join();
    if (!answer) return fail(answer.error());
    if (const auto* granted = std::get_if<Granted>(&answer->decision))
      bobs_token_ = granted->leases.front().token;
    const auto waited =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began);
    print_answer("bob", *answer);
    fmt::print("  ({:.1f} ms after bob began to wait)\n", static_cast<double>(waited.count()) / 1000);
    return {};
  }

  bool bob_waits() {
    const auto board = manager_.board();
    if (!board) return true;  // The error will show in bob's own answer.
    return std::ranges::any_of(board->rows,
                               [](const BoardRow& row) { return row.lease.status == Status::pending; });
  }

  Result<void> hand_over() {
    const auto moved = manager_.transfer({.caller = caller_named("bob"),
                                          .which = {.paths = {"/src/greeting.ts"}},
                                          .to = caller_named("cyd").holder,
                                          .note = "French is done, German is yours"});
    if (!moved) return fail(moved.error());
    for (const Outcome& outcome : moved->outcomes) {
      if (outcome.error) return fail(*outcome.error);
      if (!outcome.lease) continue;
      fmt::print("  {} holds {} {} token {}\n", outcome.lease->holder.owner.agent_id, outcome.lease->path,
                 word(outcome.lease->mode), outcome.lease->token.value);
    }
    const auto old = manager_.check(caller_named("bob"), "/src/greeting.ts", bobs_token_);
    if (!old) return fail(old.error());
    if (old->error) fmt::print("  bob's old token no longer writes: {}\n", info(old->error->code).name);
    const auto cyds = acquire("cyd", {});
    if (!cyds) return fail(cyds.error());
    print_notices("cyd", cyds->notices);
    return {};
  }

  Result<void> print_history() {
    const auto events = manager_.history({.path = "/src/greeting.ts"});
    if (!events) return fail(events.error());
    for (const Event& event : *events) {
      fmt::print("  {:<9} {:<4} {}{}{}\n", word(event.type), event.owner.agent_id, word(event.mode),
                 event.reason.empty() ? "" : "  ", event.reason);
    }
    return {};
  }

  LeaseManager& manager_;
  const Workspace& workspace_;
  const PairRules& rules_;
  Token bobs_token_;
};

Result<void> run_demo() {
  const TemporaryWorkspace files;
  if (files.root().empty() || !files.add("/src/greeting.ts") || !files.add("/tests/greeting.test.ts") ||
      !files.add("/.leasehold.toml")) {
    return fail(Code::unavailable,
                "Cannot make a temporary workspace. Check that TMPDIR is a folder you can write to.");
  }
  const Result<Workspace> workspace = find_workspace(files.root());
  if (!workspace) return fail(workspace.error());
  const Result<PairRules> rules = pair_rules(workspace->config, kConfigFileName);
  if (!rules) return fail(rules.error());

  const BoottimeClock clock;
  const std::unique_ptr<Store> store = open_memory_store(clock);
  NobodyToWatch liveness;
  SystemRandom random;
  LeaseManager manager({liveness, random}, *store, "demo", Policy{});
  fmt::print("Two agents, one file and its test, in a temporary workspace.\n");
  return Demo(manager, *workspace, *rules).run();
}

int demo(std::span<const std::string_view>) {
  const Result<void> done = run_demo();
  if (done) return 0;
  fmt::print(stderr, "lease demo: {}\n", done.error().message);
  return info(done.error().code).exit_code;
}

}  // namespace

const Command kDemo = {"demo", "lease demo", "Watch two agents share a file, in a temporary workspace", demo};

}  // namespace leasehold
