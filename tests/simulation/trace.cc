#include "simulation/trace.h"

#include <fmt/format.h>

#include "support/manual_clock.h"

namespace leasehold::simulation {
namespace {

std::string code_name(const Error& error) { return std::string(info(error.code).name); }

template <class Value>
std::string done_or_error(const Result<Value>& answer) {
  return answer ? "done" : code_name(answer.error());
}

}  // namespace

std::string text(const Scope& scope) { return scope.subtree ? scope.path + "/**" : scope.path; }

std::string seconds(std::chrono::nanoseconds span) {
  return fmt::format("{:.3f}", std::chrono::duration<double>(span).count());
}

void Trace::add(Time now, std::string line) {
  decisions_.push_back(fmt::format("{:>10}  {}", seconds(now - ManualClock::kStart), line));
  lines_.push_back(decisions_.back());
}

void Trace::add_aside(Time now, std::string line) {
  lines_.push_back(fmt::format("{:>10}  {}", seconds(now - ManualClock::kStart), line));
}

std::string Trace::text(const AcquireRequest& request) {
  std::string text;
  for (const WantedPath& wanted : request.paths) {
    text += simulation::text(wanted.scope()) + (wanted.requested ? " " : "(paired) ");
  }
  text += word(request.mode);
  if (request.ttl) text += fmt::format(" ttl={}", seconds(*request.ttl));
  if (request.wait) text += fmt::format(" wait={}", seconds(*request.wait));
  if (request.priority != 0) text += fmt::format(" priority={}", request.priority);
  if (request.attended) text += " attended";
  if (!request.idempotency_key.empty()) text += " key=" + request.idempotency_key;
  return text;
}

std::string Trace::text(const Selection& which) {
  std::string text = which.all ? "all" : "";
  for (const LeaseId& id : which.ids) text += (text.empty() ? "" : " ") + name(id);
  for (const std::string& path : which.paths) text += (text.empty() ? "" : " ") + path;
  if (which.session_id) text += "session=" + *which.session_id;
  if (which.agent_id) text += "agent=" + *which.agent_id;
  return text;
}

std::string Trace::text(const Decision& decision, Time now) {
  if (const auto* granted = std::get_if<Granted>(&decision)) {
    std::string text = granted->replayed ? "granted again" : "granted";
    for (const Lease& lease : granted->leases) {
      text += fmt::format(" {}={} {} {} for {}", simulation::text(lease.scope()), name(lease.id),
                          word(lease.mode), name(lease.token), seconds(lease.expires_at - now));
    }
    return text;
  }
  std::string text;
  const std::vector<Blocked>* blocked = nullptr;
  if (const auto* queued = std::get_if<Queued>(&decision)) {
    text = fmt::format("queued {} position={}", name(queued->ticket), queued->position);
    blocked = &queued->blocked;
  } else {
    const Refused& refused = std::get<Refused>(decision);
    text = info(refused.code).name;
    blocked = &refused.blocked;
  }
  for (const Blocked& one : *blocked) {
    text += fmt::format(" [{} {} {}]", simulation::text({one.held_path, one.subtree}),
                        one.waits ? "awaited by" : "held by", one.holder.owner.agent_id);
  }
  return text;
}

std::string Trace::text(const Result<AcquireAnswer>& answer, Time now) {
  return answer ? text(answer->decision, now) : code_name(answer.error());
}

std::string Trace::text(const Result<Outcomes>& answer) {
  if (!answer) return code_name(answer.error());
  std::string text = answer->outcomes.empty() ? "nothing" : "";
  for (const Outcome& outcome : answer->outcomes) {
    if (!text.empty()) text += ", ";
    // Of a lease that is not there, the id it was asked for by is all there is; real ids tell the time.
    const bool is_id = leases_.contains(LeaseId{outcome.path});
    text += (is_id ? name(LeaseId{outcome.path}) : outcome.path) + ' ';
    text += outcome.error ? code_name(*outcome.error) : outcome.already ? "already" : "done";
    if (outcome.lease && !outcome.error)
      text += ' ' + name(outcome.lease->id) + ' ' + name(outcome.lease->token);
  }
  return text;
}

std::string Trace::text(const Result<CheckAnswer>& answer) {
  if (!answer) return code_name(answer.error());
  return answer->current ? "current" : code_name(*answer->error);
}

std::string Trace::text(const Result<GateAnswer>& answer) {
  if (!answer) return code_name(answer.error());
  if (const auto* allowed = std::get_if<Allowed>(&answer->decision)) {
    std::string text = allowed->granted ? "granted" : "allowed";
    for (const Lease& lease : allowed->leases) {
      text += fmt::format(" {}={} {}", simulation::text(lease.scope()), name(lease.id), name(lease.token));
    }
    return text;
  }
  const Denied& denied = std::get<Denied>(answer->decision);
  std::string text(info(denied.code).name);
  for (const Contention& one : denied.contentions) {
    text +=
        fmt::format(" [{} {}, retry in {}]", one.path, word(one.state), seconds(one.retry_at - answer->at));
  }
  return text;
}

std::string Trace::text(const Result<void>& answer) { return done_or_error(answer); }
std::string Trace::text(const Result<std::size_t>& answer) { return done_or_error(answer); }

}  // namespace leasehold::simulation
