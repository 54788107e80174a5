#include "manager/logging.h"

#include <fmt/format.h>

#include <algorithm>

namespace leasehold {
namespace {

LogRecord record_of(std::string_view event, const Lease& lease) {
  return {.event = std::string(event),
          .path = lease.path,
          .owner = lease.holder.owner,
          .pr_id = lease.holder.pr_id,
          .trace = lease.trace,
          .lease_id = lease.id,
          .token = lease.token};
}

std::string joined(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) text += (text.empty() ? "" : " ") + path;
  return text;
}

std::vector<std::string> names(const std::vector<WantedPath>& paths) {
  std::vector<std::string> names;
  for (const WantedPath& wanted : paths) names.push_back(wanted.path);
  return names;
}

LogRecord record_of(std::string_view event, const AcquireRequest& request) {
  return {.level = LogLevel::warning,
          .event = std::string(event),
          .path = joined(names(request.paths)),
          .owner = request.caller.holder.owner,
          .pr_id = request.caller.holder.pr_id,
          .trace = request.trace,
          .count = request.paths.size()};
}

void log_granted(const LogSink& sink, const Granted& granted, const std::string& trace) {
  for (const Lease& lease : granted.leases) {
    LogRecord record = record_of("acquired", lease);
    if (!trace.empty()) record.trace = trace;
    if (granted.waited > Duration::zero())
      record.message = fmt::format("after {} ms", granted.waited.count());
    sink(record);
  }
}

}  // namespace

void log_acquire(const LogSink& sink, const AcquireRequest& request, const Result<AcquireAnswer>& answer) {
  if (!sink) return;
  LogRecord record = record_of("failed", request);
  if (!answer) {
    record.message = answer.error().message;
    sink(record);
  } else if (const auto* granted = std::get_if<Granted>(&answer->decision)) {
    log_granted(sink, *granted, request.trace);
  } else if (const auto* queued = std::get_if<Queued>(&answer->decision)) {
    record.level = LogLevel::info;
    record.event = "queued";
    record.message = fmt::format("at place {}", queued->position);
    sink(record);
  } else {
    record.event = "refused";
    record.message = std::get<Refused>(answer->decision).message;
    sink(record);
  }
}

void log_gate(const LogSink& sink, const AcquireRequest& wanted, const Result<GateAnswer>& answer) {
  if (!sink) return;
  if (const auto* allowed = answer ? std::get_if<Allowed>(&answer->decision) : nullptr) {
    if (allowed->granted) log_granted(sink, {.group_id = {}, .leases = allowed->leases}, wanted.trace);
    return;
  }
  LogRecord record = record_of(answer ? "denied" : "failed", wanted);
  record.message = answer ? std::get<Denied>(answer->decision).message : answer.error().message;
  sink(record);
}

void log_instruct(const LogSink& sink, const InstructRequest& request, const Result<Contention>& answer) {
  if (!sink) return;
  LogRecord record = {.event = "instructed",
                      .message = fmt::format("{}: {}", word(request.instruction), request.reason)};
  if (!answer) {
    record.level = LogLevel::warning;
    record.event = "failed";
    record.message = answer.error().message;
  } else {
    record.path = answer->path;
    record.owner = answer->owner();
  }
  sink(record);
}

void log_poll(const LogSink& sink, const Caller& caller, const Result<AcquireAnswer>& answer) {
  if (!sink || !answer) return;
  if (const auto* granted = std::get_if<Granted>(&answer->decision)) log_granted(sink, *granted, {});
  if (const auto* refused = std::get_if<Refused>(&answer->decision)) {
    sink({.level = LogLevel::warning,
          .event = "refused",
          .owner = caller.holder.owner,
          .pr_id = caller.holder.pr_id,
          .message = refused->message});
  }
}

void log_outcomes(const LogSink& sink, std::string_view event, const Caller& caller, const Selection& which,
                  const Result<Outcomes>& answer, bool batch) {
  if (!sink) return;
  if (!answer) {
    sink({.level = LogLevel::warning,
          .event = "failed",
          .path = joined(which.paths),
          .owner = caller.holder.owner,
          .pr_id = caller.holder.pr_id,
          .lease_id = which.ids.empty() ? LeaseId{} : which.ids.front(),
          .count = std::max<std::size_t>(which.paths.size() + which.ids.size(), 1),
          .message = fmt::format("not {}: {}", event, answer.error().message)});
    return;
  }
  const Lease* first = nullptr;
  std::size_t done = 0;
  for (const Outcome& outcome : answer->outcomes) {
    if (outcome.error) {
      LogRecord record = outcome.lease ? record_of("failed", *outcome.lease) : LogRecord{.event = "failed"};
      record.level = LogLevel::warning;
      record.path = outcome.path;
      record.message = fmt::format("not {}: {}", event, outcome.error->message);
      sink(record);
    } else if (outcome.lease && !outcome.already) {
      if (!batch) sink(record_of(event, *outcome.lease));
      if (first == nullptr) first = &*outcome.lease;
      ++done;
    }
  }
  if (batch && first != nullptr) {
    sink({.event = std::string(event),
          .owner = first->holder.owner,
          .pr_id = first->holder.pr_id,
          .trace = first->trace,
          .count = done});
  }
}

void log_swept(const LogSink& sink, const Swept& swept) {
  if (!sink || swept.ended + swept.dropped == 0) return;
  sink({.event = "expired",
        .count = swept.ended,
        .message = fmt::format("a sweep; {} that waited are gone", swept.dropped)});
}

}  // namespace leasehold
