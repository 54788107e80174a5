#include "engine/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "engine/explain.h"
#include "leasehold/until_released.h"
#include "model/key.h"
#include "model/scope.h"
#include "util/unique.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

constexpr std::size_t kAgentIdMax = 128;
constexpr std::size_t kSessionIdMax = 128;
constexpr std::size_t kTextMax = 4096;  // Reasons and labels are for people, not for payloads.
constexpr Duration kYear = std::chrono::hours(24 * 365);

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_session_id(std::string_view text) {
  if (text.empty()) return true;
  if (text.size() > kSessionIdMax || !is_alphanumeric(text.front())) return false;
  return std::ranges::all_of(
      text, [](char c) { return is_alphanumeric(c) || std::string_view("._:-").contains(c); });
}

Error bad_session(std::string_view session_id) {
  return {
      Code::invalid_session,
      fmt::format("The session id must be empty, or a letter or digit followed by up to {} letters, digits "
                  "or . _ : -; this one has {} bytes. Choose another.",
                  kSessionIdMax - 1, session_id.size())};
}

Result<void> check_text(std::string_view name, std::string_view text) {
  if (text.size() > kTextMax) {
    return fail(Code::invalid_argument, fmt::format("The {} has {} bytes; at most {} are kept. Shorten it.",
                                                    name, text.size(), kTextMax));
  }
  if (text.find('\0') != std::string_view::npos) {
    return fail(
        Code::invalid_argument,
        fmt::format("The {} contains a NUL byte, which no text can. Check where it came from.", name));
  }
  if (const auto at = invalid_utf8_at(text)) {
    return fail(Code::invalid_argument,
                fmt::format("The {} is not valid UTF-8 (byte {}). Write it in UTF-8.", name, *at + 1));
  }
  return {};
}

// A path named twice is one path, asked for if either spelling was, with the sources of both.
void merge_repeated(std::vector<WantedPath>& paths) {
  std::unordered_map<std::string, std::size_t> first;
  std::vector<WantedPath> merged;
  for (WantedPath& wanted : paths) {
    std::erase(wanted.paired_with, wanted.path);  // Nothing is its own pair.
    const auto [place, is_new] = first.emplace((wanted.subtree ? "+" : "-") + wanted.path, merged.size());
    if (is_new) {
      merged.push_back(std::move(wanted));
      continue;
    }
    WantedPath& kept = merged[place->second];
    kept.requested |= wanted.requested;
    if (kept.rule.empty()) kept.rule = std::move(wanted.rule);
    add_missing(kept.paired_with, wanted.paired_with);
  }
  paths = std::move(merged);
}

Result<void> check_sources(const WantedPath& wanted, const Policy& policy) {
  if (wanted.paired_with.size() > policy.paths_max) {
    return fail(Code::limit_exceeded,
                fmt::format("{} is paired with {} sources; at most {} are kept. Split the request.",
                            in_quotes(wanted.path), wanted.paired_with.size(), policy.paths_max));
  }
  for (const std::string& source : wanted.paired_with) {
    if (auto checked = check_key(source); !checked) return checked;
  }
  return check_texts({{"name of the pair rule", wanted.rule}});
}

Result<void> check_paths(const std::vector<WantedPath>& paths, const Policy& policy) {
  if (paths.empty()) return fail(Code::invalid_argument, "The request names no path. Name at least one.");
  const auto added = static_cast<std::size_t>(std::ranges::count(paths, false, &WantedPath::requested));
  if (auto checked = check_count(paths.size(), policy, added); !checked) return checked;
  for (const WantedPath& wanted : paths) {
    if (auto checked = check_key(wanted.path); !checked) return checked;
    if (auto checked = check_sources(wanted, policy); !checked) return checked;
    if (wanted.subtree && !is_path(wanted.path)) {
      return fail(
          Code::invalid_argument,
          fmt::format("{} is not a directory; only a path can be leased with all below it. Ask for it "
                      "without --subtree.",
                      in_quotes(wanted.path)));
    }
  }
  return {};
}

Result<void> check_numbers(const AcquireRequest& request) {
  if (request.mode != Mode::shared && request.mode != Mode::exclusive) {
    return fail(Code::invalid_argument, fmt::format("There is no mode {}. Choose shared or exclusive.",
                                                    static_cast<int>(request.mode)));
  }
  if (request.priority < -kPriorityMax || request.priority > kPriorityMax) {
    return fail(Code::invalid_argument,
                fmt::format("Priority {} is out of range; it goes from {} to {}. Choose one of these.",
                            request.priority, -kPriorityMax, kPriorityMax));
  }
  if (request.max_renewals.value_or(0) < -1) {
    return fail(
        Code::invalid_argument,
        fmt::format("The limit max_renewals cannot be {}. Give -1 for no limit, or how many are allowed.",
                    *request.max_renewals));
  }
  return {};
}

Result<void> check_wait(const AcquireRequest& request, const Policy& policy) {
  if (!request.wait) return {};
  if (!policy.waiting_allowed) {
    return fail(Code::invalid_argument, "Waiting is switched off (setting waiting). Ask without --wait.");
  }
  if (*request.wait <= Duration::zero()) {
    return fail(Code::invalid_argument, "The time to wait must be positive. Leave it out not to wait.");
  }
  return {};
}

}  // namespace

Result<void> check_key(const std::string& path) {
  const Result<std::string> key = key_from_wire(path);
  if (!key) return fail(key.error());
  if (*key == path) return {};
  return fail(Code::invalid_path, fmt::format("{} is not a key; the key of this file is {}. Use that.",
                                              in_quotes(path), in_quotes(*key)));
}

Result<void> check_count(std::size_t names, const Policy& policy, std::size_t added) {
  if (names <= policy.paths_max) return {};
  return fail(Code::limit_exceeded,
              fmt::format("The request names {} paths{}; one request may name {}. Name their directory with "
                          "--subtree, or split the request.",
                          names, added == 0 ? "" : fmt::format(", {} of them added by pairing", added),
                          policy.paths_max));
}

Result<CheckedTtl> check_ttl(Duration ttl, const Policy& policy) {
  if (ttl <= Duration::zero()) {
    return fail(Code::invalid_argument,
                fmt::format("A lease of {} ms cannot be given. Ask for a positive time, at most {}.",
                            ttl.count(), describe(policy.ttl_max)));
  }
  if (ttl == kUntilReleased) return CheckedTtl{ttl, false};
  return CheckedTtl{std::min(ttl, policy.ttl_max), ttl > policy.ttl_max};
}

Result<void> check_texts(std::initializer_list<std::pair<std::string_view, std::string_view>> texts) {
  for (const auto& [name, text] : texts) {
    if (auto checked = check_text(name, text); !checked) return checked;
  }
  return {};
}

Result<void> check_holder(const Holder& holder) {
  if (auto checked = check_owner(holder.owner); !checked) return checked;
  const Process process = holder.process.value_or(Process{});
  return check_texts({{"pr id", holder.pr_id},
                      {"host name", holder.host},
                      {"machine id", process.machine_id},
                      {"boot id", process.boot_id}});
}

Duration at_most_a_year(Duration duration) { return std::min(duration, kYear); }

Result<void> check_owner(const Owner& owner) {
  if (owner.agent_id.empty() || owner.agent_id.size() > kAgentIdMax || invalid_utf8_at(owner.agent_id) ||
      has_control_character(owner.agent_id)) {
    return fail(Code::invalid_argument,
                fmt::format("The agent id must be 1 to {} printable bytes of UTF-8; this one has {} bytes. "
                            "Choose another.",
                            kAgentIdMax, owner.agent_id.size()));
  }
  if (!is_session_id(owner.session_id)) return fail(bad_session(owner.session_id));
  return {};
}

Result<void> check_session(const std::string& session_id) {
  if (session_id.empty()) {
    return fail(Code::invalid_session,
                "The profile session needs a session. Name it with --session, or with LEASE_SESSION.");
  }
  if (is_session_id(session_id)) return {};
  return fail(bad_session(session_id));
}

Result<CheckedRequest> check_request(AcquireRequest request, const Policy& policy) {
  if (auto checked = check_holder(request.caller.holder); !checked) return fail(checked.error());
  if (policy.session_locks) {
    if (auto checked = check_session(request.caller.holder.owner.session_id); !checked)
      return fail(checked.error());
  }
  if (auto checked = check_paths(request.paths, policy); !checked) return fail(checked.error());
  if (auto checked = check_texts({{"reason", request.reason},
                                  {"room", request.room},
                                  {"trace context", request.trace},
                                  {"idempotency key", request.idempotency_key}});
      !checked) {
    return fail(checked.error());
  }
  if (auto checked = check_numbers(request); !checked) return fail(checked.error());
  if (auto checked = check_wait(request, policy); !checked) return fail(checked.error());
  if (request.wait) {
    request.wait = std::min(at_most_a_year(*request.wait), policy.wait_max.value_or(Duration::max()));
  }
  const Result<CheckedTtl> ttl = check_ttl(request.ttl.value_or(policy.ttl), policy);
  if (!ttl) return fail(ttl.error());
  request.ttl = ttl->ttl;
  request.max_renewals = request.max_renewals.value_or(policy.max_renewals);
  merge_repeated(request.paths);
  return CheckedRequest{std::move(request), ttl->clamped};
}

}  // namespace leasehold
