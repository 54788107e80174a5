// What happens besides writes (turns, sessions, what a tool left behind), and what an agent is told then.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "client/named_leases.h"
#include "hook/aftermath.h"
#include "hook/hook.h"
#include "hook/news.h"
#include "hook/noted_session.h"
#include "hook/reason.h"
#include "hook/resumed.h"
#include "hook/session_keeper.h"
#include "util/path_text.h"

namespace leasehold {
namespace {

template <class T>
HookAnswer told(const Result<T>& result) {
  return result ? HookAnswer{} : HookAnswer{.problem = result.error().message};
}

// By name, so that what was taken away elsewhere is still told at its write.
HookAnswer give_back_by_name(Client& client, const Caller& caller) {
  const Owner& self = caller.holder.owner;
  const auto held = client.leases({.agent_id = self.agent_id, .session_id = self.session_id});
  if (!held || held->empty()) return told(held);
  ReleaseRequest request = {.caller = caller};
  for (const Lease& lease : *held) request.which.ids.push_back(lease.id);
  return told(release_named(client, std::move(request)));
}

}  // namespace

// What its owner is to be told, at a moment when nothing is asked.
std::string HookCall::take_news(OpenWorkspace& workspace) {
  if (!can_tell_now()) return {};
  GateRequest request = {.telling = Telling::only};
  request.wanted.caller = caller_in(workspace);
  const auto answer = workspace.client()->gate(request);
  if (!answer) return {};
  if (SeenFiles* const seen = seen_files()) seen->note_untold(false);
  return news(*answer);
}

// For what its agent's process starts besides hooks.
void HookCall::note_session_in(const std::string& place) {
  const auto folder = seen_folder(place);
  if (!folder || event_->session_id.empty()) return;
  if (const auto agent = agent_around(variables_)) note_session(*folder, *agent, main_owner());
}

void HookCall::forget_session_in(const std::string& place) {
  const auto folder = seen_folder(place);
  if (!folder) return;
  if (const auto agent = agent_around(variables_)) forget_session(*folder, *agent, main_owner());
}

// What a tool call left behind. Nothing that goes wrong here keeps anybody from working.
HookAnswer HookCall::after() {
  const auto folder = seen_folder(project());
  if (!folder) return {};
  SeenFiles& seen = seen_in(*folder);
  for (const std::string& path : event_->paths) {
    const std::string file = resolved(absolute(path));
    if (below(file, tree_of(project())->root)) seen.note(file);
  }
  return event_->moment == HookMoment::after_command ? after_command(*folder, seen) : tell_late(seen);
}

// What there was no place for before the tool ran.
HookAnswer HookCall::tell_late(SeenFiles& seen) {
  if (!seen.is_untold() || !can_tell_now()) return {};
  const auto opened = open(project(), false);
  if (!opened) return {};
  const std::string text = take_news(**opened);
  return text.empty() ? HookAnswer{} : remark(dialect(), event_->event_name, text);
}

HookAnswer HookCall::after_command(const std::string& seen_folder, SeenFiles& seen) {
  const auto opened = open(project(), false);
  if (!opened) return opened.error().code == Code::not_found ? HookAnswer{} : told(opened);
  const auto began = seen.command_began(event_->call_id);
  const auto trespasses = find_trespasses(**opened, seen_folder, seen, owner(), began);
  seen.note_command_ends(event_->call_id);
  if (!trespasses) return told(trespasses);
  std::string text = take_news(**opened);
  if (!trespasses->empty()) {
    record(**opened, caller_in(**opened).holder, *trespasses);
    text = aftermath_text(*trespasses, owner()) + (text.empty() ? "" : "\n" + text);
  }
  return text.empty() ? HookAnswer{} : remark(dialect(), event_->event_name, text);
}

// A session that goes on, or whose model forgot what was said before, has what it had; one that is new has
// nothing, and is told nothing.
HookAnswer HookCall::tell_what_it_has(OpenWorkspace& workspace) {
  const std::shared_ptr<Client> client = workspace.client();
  const auto leases = client->leases({.agent_id = main_owner().agent_id, .session_id = event_->session_id});
  if (!leases || leases->empty()) return told(leases);
  const auto active = client->turn_started({.owner = main_owner(), .process = workspace.caller_process()});
  keep(workspace, false);
  constexpr std::size_t kShown = 5;
  constexpr std::size_t kNameMax = 50;
  std::string names;
  for (std::size_t i = 0; i < std::min(kShown, leases->size()); ++i)
    names += fmt::format("{}{}", i == 0 ? "" : ", ", short_path((*leases)[i].path, kNameMax));
  const std::string text = take_news(workspace);
  if (leases->size() > kShown) names += fmt::format(" and {} more (lease ls)", leases->size() - kShown);
  HookAnswer answer =
      remark(event_->host, event_->event_name,
             fmt::format("This session holds {}. What it does not need any more: lease release PATH{}{}",
                         names, text.empty() ? "" : "\n", text));
  answer.problem = told(active).problem;
  return answer;
}

// What happens besides writes, in every tree that it has something in. A store that is not there has nothing
// to be told.
HookAnswer HookCall::tell() {
  cwd_ = project();
  std::set<std::string> places = {cwd_};
  if (SeenFiles* const seen = seen_files()) {
    for (const std::string& root : seen->elsewhere()) {
      if (const auto& tree = tree_of(cwd_); !tree || tree->root != root) places.insert(root);
    }
    if (event_->moment == HookMoment::turn_started || event_->moment == HookMoment::turn_stopped)
      seen->note_turn(event_->moment == HookMoment::turn_stopped);
    // Who begins or ends a turn runs nothing any more; one that its user refused never ended.
    if (event_->moment != HookMoment::session_ended) seen->note_no_command();
    if (event_->moment == HookMoment::session_ended) seen->forget();
  }
  for (const std::string& place : places) {
    if (event_->moment == HookMoment::session_started || event_->moment == HookMoment::turn_started)
      note_session_in(place);
    if (event_->moment == HookMoment::session_ended && event_->subagent_id.empty()) forget_session_in(place);
  }
  HookAnswer answer;
  for (const std::string& place : places) {
    const auto opened = open(place, false);
    if (!opened && opened.error().code == Code::not_found) continue;
    HookAnswer one = opened ? tell(**opened, place == cwd_) : told(opened);
    if (one.problem.empty()) one.problem = std::move(answer.problem);
    if (place == cwd_) {
      answer = std::move(one);
    } else {
      answer.problem = std::move(one.problem);
    }
  }
  return answer;
}

// Of what is to be told, one tree has room.
HookAnswer HookCall::tell(OpenWorkspace& workspace, bool has_room) {
  const std::shared_ptr<Client> client = workspace.client();
  const Caller caller = caller_in(workspace);
  switch (event_->moment) {
    case HookMoment::turn_started: {
      const auto active = client->turn_started(caller.holder);
      if (active && *active > 0) keep(workspace, false);
      HookAnswer answer = told(active);
      const std::string text = has_room ? take_news(workspace) : "";
      if (!text.empty()) answer.output = remark(dialect(), event_->event_name, text).output;
      return answer;
    }
    case HookMoment::turn_stopped:
      return told(client->turn_stopped(caller.holder));
    case HookMoment::session_started:
      return has_room ? tell_what_it_has(workspace) : told(client->turn_started(caller.holder));
    case HookMoment::turn_failed:
      return give_back_by_name(*client, caller);
    case HookMoment::session_ended:
      // A subagent's own session, which is one of many in that of its main agent.
      if (!event_->subagent_id.empty())
        return told(client->release({.caller = caller, .which = {.all = true}}));
      end_keeper(workspace, event_->session_id);
      return told(client->end_session(caller));
    case HookMoment::subagent_stopped: {
      Holder main = caller.holder;
      main.owner = main_owner();
      if (event_->subagent_id.empty()) return {};
      return told(client->transfer({.caller = caller,
                                    .which = {.all = true},
                                    .to = main,
                                    .note = note_of_stop(owner()),
                                    .attended = !main_has_stopped()}));
    }
    default:
      return {};
  }
}

}  // namespace leasehold
