// A tour in one minute: two agents, one file and its test, in a temporary workspace.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/json/array.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/call.h"
#include "cli/commands.h"
#include "leasehold/open.h"

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

Caller caller_named(const std::string& agent) {
  return {.holder = {.owner = {agent, "demo"}, .pr_id = {}, .host = "localhost", .process = {}}};
}

// What happens, told as it does, or with --json in one document at the end.
class Story {
 public:
  explicit Story(const Output& out) : out_(out) {
    if (!out_.json()) out_.print("Two agents, one file and its test, in a temporary workspace.\n");
  }

  void scene(std::string_view title) {
    if (!out_.json()) return out_.print(fmt::format("\n== {}\n", title));
    scenes_.push_back(boost::json::object{{"title", title}, {"lines", boost::json::array()}});
  }

  void say(std::string_view line) {
    if (!out_.json()) return out_.print(fmt::format("  {}\n", line));
    scenes_.back().at("lines").as_array().emplace_back(line);
  }

  // The parts of a refusal stand in one line each: it is long.
  void say_in_parts(std::string_view message) {
    while (!message.empty()) {
      const std::size_t end = std::min(message.find("; /"), message.size() - 1) + 1;
      say(message.substr(0, end));
      message.remove_prefix(std::min(end + 1, message.size()));
    }
  }

  void end() {
    if (out_.json()) out_.document({{"scenes", std::move(scenes_)}});
  }

 private:
  const Output& out_;
  boost::json::array scenes_;
};

void tell_notices(Story& story, const std::string& agent, std::span<const Notice> notices) {
  for (const Notice& notice : notices) {
    story.say(fmt::format("{} is told: {} {} {}: {}", agent, notice.path,
                          notice.received ? "comes from" : "was taken by", notice.actor, notice.reason));
  }
}

std::string added_by_pairing(const Lease& lease) {
  if (lease.requested || lease.paired_with.empty()) return {};
  return fmt::format("  (paired with {}, rule {})", lease.paired_with.front(), lease.rule);
}

void tell_answer(Story& story, const std::string& agent, const AcquireAnswer& answer) {
  if (const auto* granted = std::get_if<Granted>(&answer.decision)) {
    for (const Lease& lease : granted->leases) {
      story.say(fmt::format("{} holds {} {} token {}{}", agent, lease.path, word(lease.mode),
                            lease.token.value, added_by_pairing(lease)));
    }
  } else if (const auto* refused = std::get_if<Refused>(&answer.decision)) {
    story.say(fmt::format("{} is refused: {}", agent, info(refused->code).name));
    story.say_in_parts(refused->message);
    if (!refused->next_command.empty()) story.say(fmt::format("To wait for it: {}", refused->next_command));
  }
  tell_notices(story, agent, answer.notices);
}

class Demo {
 public:
  Demo(OpenWorkspace& workspace, Story& story)
      : workspace_(workspace), client_(workspace.client()), story_(story) {}

  Result<void> run() {
    story_.scene("ann wants src/greeting.ts; its test comes along");
    auto first = acquire("ann", {});
    if (!first) return fail(first.error());
    tell_answer(story_, "ann", *first);

    story_.scene("bob wants it too, and is told who is in the way");
    auto second = acquire("bob", {});
    if (!second) return fail(second.error());
    tell_answer(story_, "bob", *second);

    story_.scene("bob waits; ann releases; bob goes on");
    if (auto done = wait_and_release(); !done) return done;

    story_.scene("bob hands his work to cyd");
    if (auto done = hand_over(); !done) return done;

    story_.scene("history of src/greeting.ts");
    return tell_history();
  }

 private:
  Result<AcquireRequest> request(const std::string& agent) {
    auto paths = workspace_.wanted({{.path = "src/greeting.ts"}});
    if (!paths) return fail(paths.error());
    return AcquireRequest{
        .caller = caller_named(agent), .paths = *std::move(paths), .reason = "translate the greeting"};
  }

  Result<AcquireAnswer> acquire(const std::string& agent, std::optional<Duration> wait) {
    auto asked = request(agent);
    if (!asked) return fail(asked.error());
    asked->wait = wait;
    return wait ? client_->acquire_and_wait(*asked) : client_->acquire(*asked);
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
    story_.say("bob waits");
    const auto released = client_->release(
        {.caller = caller_named("ann"), .which = {.paths = {"/src/greeting.ts"}}, .token = {}});
    if (!released) return fail(released.error());
    story_.say("ann releases /src/greeting.ts, and with it the test that pairing added");
    bob.join();
    if (!answer) return fail(answer.error());
    if (const auto* granted = std::get_if<Granted>(&answer->decision))
      bobs_token_ = granted->leases.front().token;
    const auto waited =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began);
    tell_answer(story_, "bob", *answer);
    story_.say(
        fmt::format("({:.1f} ms after bob began to wait)", static_cast<double>(waited.count()) / 1000));
    return {};
  }

  bool bob_waits() {
    const auto board = client_->board();
    if (!board) return true;  // The error will show in bob's own answer.
    return std::ranges::any_of(board->rows,
                               [](const BoardRow& row) { return row.lease.status == Status::pending; });
  }

  Result<void> hand_over() {
    const auto moved = client_->transfer({.caller = caller_named("bob"),
                                          .which = {.paths = {"/src/greeting.ts"}},
                                          .to = caller_named("cyd").holder,
                                          .note = "French is done, German is yours"});
    if (!moved) return fail(moved.error());
    for (const Outcome& outcome : moved->outcomes) {
      if (outcome.error) return fail(*outcome.error);
      if (!outcome.lease) continue;
      story_.say(fmt::format("{} holds {} {} token {}", outcome.lease->holder.owner.agent_id,
                             outcome.lease->path, word(outcome.lease->mode), outcome.lease->token.value));
    }
    const auto old = client_->check(caller_named("bob"), "/src/greeting.ts", bobs_token_);
    if (!old) return fail(old.error());
    if (old->error)
      story_.say(fmt::format("bob's old token no longer writes: {}", info(old->error->code).name));
    const auto cyds = acquire("cyd", {});
    if (!cyds) return fail(cyds.error());
    tell_notices(story_, "cyd", cyds->notices);
    return {};
  }

  Result<void> tell_history() {
    const auto events = client_->history({.path = "/src/greeting.ts"});
    if (!events) return fail(events.error());
    for (const Event& event : *events) {
      story_.say(fmt::format("{:<9} {:<4} {}{}{}", word(event.type), event.owner.agent_id, word(event.mode),
                             event.reason.empty() ? "" : "  ", event.reason));
    }
    return {};
  }

  OpenWorkspace& workspace_;
  std::shared_ptr<Client> client_;
  Story& story_;
  Token bobs_token_;
};

Result<int> run(Call& call) {
  const TemporaryWorkspace files;
  if (files.root().empty() || !files.add("/src/greeting.ts") || !files.add("/tests/greeting.test.ts") ||
      !files.add("/.leasehold.toml")) {
    return fail(Code::unavailable,
                "Cannot make a temporary workspace. Check that TMPDIR is a folder you can write to.");
  }
  const auto workspace = open_workspace({.place = files.root(), .settings = {{"store", "memory:"}}});
  if (!workspace) return fail(workspace.error());
  Story story(call.out());
  if (const auto done = Demo(**workspace, story).run(); !done) return fail(done.error());
  story.end();
  return 0;
}

}  // namespace

const Command kDemo = {
    .name = "demo",
    .synopsis = "",
    .summary = "Watch two agents share a file, in a temporary workspace",
    .description =
        "Plays a short scene with the real rules: two agents want one file and its test. Nothing stays "
        "behind.",
    .uses = Uses::nothing,
    .run = run,
};

}  // namespace leasehold
