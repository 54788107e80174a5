#include "hook/git_hook.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <cstdlib>
#include <ranges>
#include <string_view>

#include "cli/answers.h"
#include "cli/call.h"
#include "cli/commands.h"
#include "engine/explain.h"
#include "util/utf8.h"
#include "util/variables.h"
#include "wire/answer_json.h"

namespace leasehold {
namespace {

constexpr int kRefused = 1;  // As git's own hooks do.
// What git asks before the commit of a merge without conflicts; pre-commit it asks for all others.
constexpr std::string_view kMerge = "pre-merge-commit";

bool is_switched_off() {
  const char* const value = std::getenv("LEASE_GIT_HOOKS");
  return value != nullptr && (std::string_view(value) == "0" || std::string_view(value) == "off");
}

void tell_nothing_is_held(const Call& call) {
  if (call.out().json()) call.out().document({{"held", boost::json::array()}});
}

void tell_released(const Call& call, std::size_t released) {
  if (call.out().json()) {
    call.out().document({{"released", released}});
  } else if (released > 0) {
    call.out().note(released == 1 ? "Released 1 file." : fmt::format("Released {} files.", released));
  }
}

boost::json::object refusal_json(const std::vector<Trespass>& found, const std::string& message) {
  boost::json::array held;
  for (const Trespass& one : found) {
    const Owner& owner = one.lease.holder.owner;
    held.push_back(boost::json::object{{"file", one.path},
                                       {"lease_id", one.lease.id.text},
                                       {"agent_id", owner.agent_id},
                                       {"session_id", owner.session_id}});
  }
  boost::json::object error = error_json({Code::busy, message});
  error["exit_code"] = kRefused;
  return {{"error", std::move(error)}, {"held", std::move(held)}};
}

int refuse(const Call& call, const std::vector<Trespass>& found, bool is_merge) {
  constexpr std::size_t kShown = 10;
  std::string text = fmt::format("This {} touches files that others hold:\n", is_merge ? "merge" : "commit");
  for (std::size_t i = 0; i < std::min(found.size(), kShown); ++i) {
    text += fmt::format("  {} is held by {}\n", in_sentence(found[i].path), describe(found[i].lease.holder));
  }
  if (found.size() > kShown) text += fmt::format("  and {} more\n", found.size() - kShown);
  text += is_merge
              ? "Take it back (git merge --abort), or wait for them (lease acquire PATH --wait 5m) and then "
                "git commit. To commit anyway: git commit --no-verify."
              : "Wait for them (lease acquire PATH --wait 5m), commit the rest, or commit anyway with git "
                "commit --no-verify.";
  if (call.out().json()) {
    call.out().document(refusal_json(found, text));
  } else {
    call.out().complain(text);
  }
  return kRefused;
}

Committer committer(Call& call, const OpenWorkspace& workspace) {
  Committer who = {
      .caller = call.caller(), .agent = host_agent(own_variable), .process = workspace.caller_process()};
  const char* const ids = own_variable("LEASE_IDS");
  for (const auto id : std::views::split(std::string_view(ids == nullptr ? "" : ids), ' '))
    who.kept.push_back({std::string(id.begin(), id.end())});
  return who;
}

// By the same setting as a write of an agent.
Result<int> unchecked(const Call& call, const Error& error) {
  const auto place = call.place();
  if (!place || !lets_unchecked_writes_pass({.place = *place, .environment = own_variable}))
    return fail(error.code, error.message + " To commit all the same: git commit --no-verify");
  if (call.out().json()) call.out().document({{"held", boost::json::array()}, {"unchecked", error.message}});
  call.out().note(fmt::format("This commit was not checked (gate_fail_open): {}", error.message));
  return 0;
}

Result<int> run(Call& call) {
  const std::string hook = call.arguments().operands().front();
  const bool before = hook != "post-commit";
  const auto nothing_to_do = [&] {
    before ? tell_nothing_is_held(call) : tell_released(call, 0);
    return 0;
  };
  if (is_switched_off()) return nothing_to_do();
  if (before && hook != "pre-commit" && hook != kMerge)
    return fail(Code::invalid_argument,
                "There is no such hook of ours. Name one of: pre-commit, pre-merge-commit, post-commit.");
  const auto workspace = call.workspace();
  // Nobody ever leased anything here.
  if (!workspace && workspace.error().code == Code::not_found) return nothing_to_do();
  if (!workspace) return unchecked(call, workspace.error());
  if (!before) {
    const auto released = after_commit(**workspace, committer(call, **workspace));
    if (!released) return fail(released.error());
    tell_released(call, released->count);
    tell(call.out(), released->notices);
    return 0;
  }
  const auto found = before_commit(**workspace, committer(call, **workspace));
  if (!found) return unchecked(call, found.error());
  if (!found->empty()) return refuse(call, *found, hook == kMerge);
  return nothing_to_do();
}

}  // namespace

const Command kGitHook = {
    .name = "git-hook",
    .synopsis = "pre-commit|pre-merge-commit|post-commit",
    .summary = "Answer git's hook",
    .description =
        "pre-commit refuses a commit that touches files of another live owner, both sides of a rename "
        "included; pre-merge-commit does the same for a merge. "
        "post-commit gives the committed files back. Refused is exit status 1, as of any hook of git's. "
        "LEASE_GIT_HOOKS=0 switches all off.",
    .uses = Uses::owner,
    .operands = {"HOOK", "Which of git's hooks this is", 1, 1, "pre-commit pre-merge-commit post-commit"},
    .run = run,
};

}  // namespace leasehold
