// The manager at the gate.
#include "engine/gate.h"

#include "engine/acquire.h"
#include "engine/instruct.h"
#include "engine/release.h"
#include "manager/gate_waiter.h"
#include "manager/logging.h"
#include "manager/run.h"

namespace leasehold {
Result<GateAnswer> LeaseManager::gate(const GateRequest& request) {
  const Footprint footprint = footprint_of(workspace_, request.wanted);
  auto seen = look<std::optional<GateAnswer>>(
      footprint, [&](View& view, const Context& context) { return gate_at_a_glance(view, context, request); },
      &request.wanted.caller);
  if (!seen) return fail(seen.error());
  if (*seen) return std::move(**seen);
  const GroupId group = new_group();
  auto answer = change<GateAnswer>(footprint, &request.wanted.caller,
                                   [&](Transaction& transaction, const Context& context) {
                                     return leasehold::gate(transaction, context, workspace_, request, group);
                                   });
  log_gate(options_.log, request.wanted, answer);
  return answer;
}

Result<GateAnswer> LeaseManager::gate_and_wait(const GateRequest& request, Duration at_most,
                                               const std::function<void(const GateAnswer&)>& denied,
                                               int cancelled) {
  GateWaiter waiter(*this, store_, request, at_most);
  Code last = Code::busy;
  for (;;) {
    waiter.look();
    if (waiter.answer()) return *waiter.answer();
    const Code code = waiter.code();
    if (denied && code != last) denied(waiter.take_denial());
    last = code;
    if (sleep_on(waiter.pause(), cancelled)) waiter.give_up();
    if (waiter.answer()) return *waiter.answer();
  }
}

Result<Blockers> LeaseManager::blockers() {
  return look<Blockers>({.workspace = workspace_},
                        [&](View& view, const Context& context) -> Result<Blockers> {
                          return leasehold::blockers(view, context);
                        });
}

Result<Contention> LeaseManager::instruct(const InstructRequest& request) {
  const GroupId group = new_group();
  auto answer = change<Contention>(
      {.workspace = workspace_}, nullptr, [&](Transaction& transaction, const Context& context) {
        return leasehold::instruct(transaction, context, workspace_, request, group);
      });
  log_instruct(options_.log, request, answer);
  return answer;
}

Result<Outcomes> LeaseManager::end_session(const Caller& caller) {
  const std::string& session_id = caller.holder.owner.session_id;
  if (session_id.empty()) return leave_session(caller);  // It is no session, but the agent's own.
  ReleaseRequest request = {.caller = caller, .which = {.session_id = session_id}};
  request.caller.whole_session = true;
  return end_all(request, {.session_id = session_id});
}

Result<Outcomes> LeaseManager::leave_session(const Caller& caller) {
  const auto& [agent_id, session_id] = caller.holder.owner;
  return end_all({.caller = caller, .which = {.all = true}},
                 {.agent_id = agent_id, .session_id = session_id});
}

Result<Outcomes> LeaseManager::end_all(const ReleaseRequest& request, const Filter& denied) {
  const Footprint footprint = {
      .workspace = workspace_, .owners = {request.caller.holder.owner}, .gives_back = true};
  auto answer = change<Outcomes>(footprint, nullptr,
                                 [&](Transaction& transaction, const Context& context) -> Result<Outcomes> {
                                   auto released = leasehold::release(transaction, context, request);
                                   if (!released) return released;
                                   for (const Contention& contention : transaction.contentions(denied))
                                     transaction.erase(contention);
                                   return released;
                                 });
  log_outcomes(options_.log, "released", request.caller, request.which, answer);
  return answer;
}

}  // namespace leasehold
