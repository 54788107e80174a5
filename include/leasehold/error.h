// Every way a call can fail or be refused, under one set of names.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace leasehold {

// The words are the same in C++, JSON, HTTP and the CLI. code_table() maps them to HTTP statuses
// and exit codes, and nothing else does.
enum class Code {
  busy,                   // Somebody else holds it, or is ahead in the queue.
  timeout,                // Waited as long as allowed; still not granted.
  deadlock,               // Waiting would close a cycle of waiters.
  rate_limited,           // Too many acquire calls of this session in the window.
  limit_exceeded,         // More paths, leases or waiters than the limits allow.
  not_found,              // No such lease.
  not_owner,              // It is somebody else's.
  max_renewals_exceeded,  // The lease was renewed as often as it may be.
  lost,                   // It was the caller's, and ended.
  transferred,            // It was the caller's, and was handed to somebody else.
  stale_token,            // The token is not the one of the current grant.
  retry_later,            // The gate denied the write and scheduled one retry.
  halted,                 // The gate stopped this work until an operator instructs it.
  locked,                 // The repository lock is held.
  transaction_conflict,   // The store aborted the transaction too often.
  invalid_argument,
  invalid_path,
  invalid_session,
  config_error,
  unavailable,      // The store cannot be reached; nothing was written.
  outcome_unknown,  // A commit was sent and its answer lost; asking again is safe.
  corrupt,          // A stored record cannot be read.
};

struct Error {
  Code code;            // For programs.
  std::string message;  // For people: what was tried, on what, why it failed, what to do next.

  bool operator==(const Error&) const = default;
};

struct CodeInfo {
  Code code;
  std::string_view name;  // In JSON and text; never renamed.
  int http_status;
  int exit_code;  // sysexits(3) where one fits.
};

// One row for each code, in the order of the enum.
std::span<const CodeInfo> code_table();

const CodeInfo& info(Code code);
std::optional<Code> code_named(std::string_view name);

}  // namespace leasehold
