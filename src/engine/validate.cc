#include "engine/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "engine/explain.h"
#include "model/scope.h"
#include "util/utf8.h"
#include "model/key.h"

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
  return std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || std::string_view("._:-").contains(c); });
}

Result<void> check_text(std::string_view name, std::string_view text) {
  if (text.size() > kTextMax) {
    return fail(Code::invalid_argument, fmt::format("The {} has {} bytes; at most {} are kept. Shorten it.", name,
                                                    text.size(), kTextMax));
  }
  if (invalid_utf8_at(text) || text.find('\0') != std::string_view::npos) {
    return fail(Code::invalid_argument, fmt::format("The {} is not valid UTF-8 text.", name));
  }
  return {};
}

Result<void> check_key(const std::string& path) {
  const Result<std::string> key = key_from_wire(path);
  if (!key) return fail(key.error());
  if (*key == path) return {};
  return fail(Code::invalid_path,
              fmt::format("{} is not a key; the key of this file is {}.", in_quotes(path), in_quotes(*key)));
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
    for (std::string& source : wanted.paired_with) {
      if (std::ranges::find(kept.paired_with, source) == kept.paired_with.end()) {
        kept.paired_with.push_back(std::move(source));
      }
    }
  }
  paths = std::move(merged);
}

Result<void> check_paths(const std::vector<WantedPath>& paths, const Policy& policy) {
  if (paths.empty()) return fail(Code::invalid_argument, "The request names no path. Name at least one.");
  if (paths.size() > policy.paths_max) {
    return fail(Code::limit_exceeded,
                fmt::format("The request names {} paths; one request may name {}. Name their directory with "
                            "--subtree, or split the request.",
                            paths.size(), policy.paths_max));
  }
  for (const WantedPath& wanted : paths) {
    if (auto checked = check_key(wanted.path); !checked) return checked;
    if (wanted.paired_with.size() > policy.paths_max) {
      return fail(Code::limit_exceeded, fmt::format("{} is paired with {} sources; at most {} are kept.", wanted.path,
                                                    wanted.paired_with.size(), policy.paths_max));
    }
    for (const std::string& source : wanted.paired_with) {
      if (auto checked = check_key(source); !checked) return checked;
    }
    if (wanted.subtree && !is_path(wanted.path)) {
      return fail(Code::invalid_argument,
                  fmt::format("'{}' is not a directory; only a path can be leased with all below it.", wanted.path));
    }
  }
  return {};
}

}  // namespace

Result<CheckedTtl> check_ttl(Duration ttl, const Policy& policy) {
  if (ttl <= Duration::zero()) {
    return fail(Code::invalid_argument,
                fmt::format("A lease of {} ms cannot be given. Ask for a positive time, at most {}.", ttl.count(),
                            describe(policy.ttl_max)));
  }
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
                fmt::format("The agent id must be 1 to {} printable bytes of UTF-8; this one has {} bytes.", kAgentIdMax,
                            owner.agent_id.size()));
  }
  if (!is_session_id(owner.session_id)) {
    return fail(Code::invalid_session,
                fmt::format("The session id must be empty, or a letter or digit followed by up to {} letters, digits "
                            "or . _ : -; this one has {} bytes.",
                            kSessionIdMax - 1, owner.session_id.size()));
  }
  return {};
}

Result<CheckedRequest> check_request(AcquireRequest request, const Policy& policy) {
  if (auto checked = check_holder(request.caller.holder); !checked) return fail(checked.error());
  if (auto checked = check_paths(request.paths, policy); !checked) return fail(checked.error());
  if (auto checked = check_texts({{"reason", request.reason},
                                  {"room", request.room},
                                  {"trace context", request.trace},
                                  {"idempotency key", request.idempotency_key}});
      !checked) {
    return fail(checked.error());
  }
  if (request.priority < -kPriorityMax || request.priority > kPriorityMax) {
    return fail(Code::invalid_argument, fmt::format("Priority {} is out of range; it goes from {} to {}.",
                                                    request.priority, -kPriorityMax, kPriorityMax));
  }
  if (request.max_renewals.value_or(0) < -1) {
    return fail(Code::invalid_argument, fmt::format("max_renewals is {}; it is -1 for no limit, or the number of "
                                                    "renewals allowed.",
                                                    *request.max_renewals));
  }
  if (request.wait) {
    if (!policy.waiting_allowed) {
      return fail(Code::invalid_argument, "Waiting is switched off (blocking_mode_enabled = false). Ask without --wait.");
    }
    if (*request.wait <= Duration::zero()) {
      return fail(Code::invalid_argument, "The time to wait must be positive. Leave it out not to wait.");
    }
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
