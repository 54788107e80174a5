#include "store/redis/examiner.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "store/deadline.h"
#include "store/json/records_json.h"
#include "store/json/stored_records.h"
#include "store/redis/key_kinds.h"
#include "store/redis/transaction.h"
#include "util/utf8.h"

namespace leasehold::redis {
namespace {

constexpr std::size_t kAtOnce = 500;

// Each does its work only if things are still as they were found, and then answers 1.
constexpr std::string_view kDropUnlessType = R"lua(
local is = redis.call('TYPE', KEYS[1]).ok
if is == ARGV[1] or is == 'none' then return 0 end
return redis.call('DEL', KEYS[1])
)lua";
constexpr std::string_view kReplaceIfSame = R"lua(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then return redis.call('DEL', KEYS[1]) end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 1
)lua";
constexpr std::string_view kDropFieldIfSame = R"lua(
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])
)lua";
constexpr std::string_view kDropMemberIfGone = R"lua(
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
if ARGV[1] == 'LREM' then return redis.call('LREM', KEYS[1], 0, ARGV[2]) end
return redis.call(ARGV[1], KEYS[1], ARGV[2])
)lua";

// At least ARGV[1], and as high as a token drawn now would be.
constexpr std::string_view kReplaceBadToken = R"lua(
if redis.call('TYPE', KEYS[1]).ok == 'string' then
  local last = tonumber(redis.call('GET', KEYS[1]))
  if last and last >= 0 and last < 9007199254740992 then return 0 end
end
local time = redis.call('TIME')
local low = math.max(time[1] * 1000000 + time[2], tonumber(ARGV[1]))
redis.call('SET', KEYS[1], string.format('%.0f', low))
return 1
)lua";

// How the members of a type are listed, and one of them removed.
struct Access {
  std::vector<std::string> list;
  std::string remove;
  std::size_t step;  // From one member to the next in what is listed.
};
Access access_of(std::string_view type, const std::string& key) {
  if (type == "set") return {{"SMEMBERS", key}, "SREM", 1};
  if (type == "zset") return {{"ZRANGE", key, "0", "-1"}, "ZREM", 1};
  if (type == "list") return {{"LRANGE", key, "0", "-1"}, "LREM", 1};
  return {{"HGETALL", key}, "HDEL", 2};
}

bool is_of_path(std::string_view document, const std::string& path) {
  const auto leases = leases_from_document(document);
  return leases && std::ranges::all_of(*leases, [&](const Lease& lease) { return lease.path == path; });
}

bool names_lease(std::string_view document, const LeaseId& id) {
  const auto leases = leases_from_document(document);
  return leases && std::ranges::find(*leases, id, &Lease::id) != leases->end();
}

bool is_token(std::string_view text) {
  double value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0 && value < 9007199254740992.0;
}

std::string glob_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("*?[]\\^").contains(c)) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string Examiner::key(std::string_view name) const { return keys_.prefix() + std::string(name); }

void Examiner::found(std::string_view name, std::string what, bool repaired) {
  defects_.push_back({key(name), std::move(what), repaired});
}

std::vector<Reply> Examiner::ask(const std::vector<std::vector<std::string>>& commands) {
  for (const std::vector<std::string>& command : commands)
    connection_.add(std::vector<std::string_view>(command.begin(), command.end()));
  return connection_.exchange();
}

Reply Examiner::ask_one(const std::vector<std::string>& command) { return std::move(ask({command}).front()); }

// Changes something by a script that looks again, for those too who watch changes as a whole.
bool Examiner::repair(const std::vector<std::string>& command) {
  if (!repair_) return false;
  const std::vector<Reply> replies = ask({{"MULTI"}, {"SET", keys_.changes(), "1"}, command, {"EXEC"}});
  return replies.back()[1].integer() > 0;
}

std::vector<std::string> Examiner::scan(const std::string& pattern) {
  std::set<std::string> keys;
  std::string cursor = "0";
  do {
    const Reply page = ask_one({"SCAN", cursor, "MATCH", pattern, "COUNT", "1000"});
    if (page.view().is_error())
      throw Failure{error_of(page.view().text(), connection_.address(), "Looking at all keys")};
    cursor = page[0].text();
    for (std::size_t i = 0; i < page[1].size(); ++i) keys.emplace(page[1][i].text());
  } while (cursor != "0");
  return {keys.begin(), keys.end()};
}

std::vector<Defect> Examiner::examine() {
  const std::string prefix = glob_escaped(keys_.prefix());
  for (const char* kind : {"lease:*", "session:locks:*"}) {
    std::vector<std::string> names = scan(prefix + kind);
    for (std::string& name : names) name.erase(0, keys_.prefix().size());
    examine_types(names);
  }
  examine_values();
  examine_indexes();
  for (const auto& [id, one] : active_) examine_lease(one.first, one.second);
  for (const auto& [id, ticket] : pending_) examine_ticket(ticket);
  examine_token();
  return std::move(defects_);
}

// Another one would stop everybody, or give a token twice.
void Examiner::examine_token() {
  const std::string name(kTokenKey);
  const std::string type(ask_one({"TYPE", name}).view().text());
  if (type == "none") return;
  if (type == "string" && is_token(ask_one({"GET", name}).view().text())) return;
  std::uint64_t highest = 0;
  for (const auto& [id, one] : active_) highest = std::max(highest, one.first.token.value);
  const bool done = repair({"EVAL", std::string(kReplaceBadToken), "1", name, std::to_string(highest)});
  defects_.push_back({name, "it is no token", done});
}

void Examiner::examine_types(const std::vector<std::string>& names) {
  for (std::size_t from = 0; from < names.size(); from += kAtOnce) {
    const std::size_t end = std::min(from + kAtOnce, names.size());
    std::vector<std::vector<std::string>> commands;
    for (std::size_t i = from; i < end; ++i) commands.push_back({"TYPE", key(names[i])});
    const std::vector<Reply> types = ask(commands);
    for (std::size_t i = from; i < end; ++i) {
      const KeyKind* kind = kind_of(names[i]);
      const std::string_view type = types[i - from].view().text();
      if (kind == nullptr || type == "none") continue;
      if (type == kind->type) {
        names_[std::string(kind->name)].push_back(names[i]);
        continue;
      }
      const bool done =
          repair({"EVAL", std::string(kDropUnlessType), "1", key(names[i]), std::string(kind->type)});
      found(names[i], fmt::format("it is a {} and has to be a {}", type, kind->type), done);
    }
  }
}

// Documents come first in the table of kinds: a lease that cannot be read may have a copy in one.
void Examiner::examine_values() {
  for (const KeyKind& kind : key_kinds()) {
    if (kind.is_value == nullptr) continue;
    for (const std::string& name : names_[std::string(kind.name)]) {
      if (kind.type == "string") {
        const Reply value = ask_one({"GET", key(name)});
        if (value.view().is_text()) examine_value(kind, name, value.view().text());
      } else {
        examine_fields(kind, name, ask_one({"HGETALL", key(name)}).view());
      }
    }
  }
}

void Examiner::examine_value(const KeyKind& kind, const std::string& name, std::string_view value) {
  const std::string rest = name.substr(kind.name.size());
  if (kind.is_value(value) && (kind.value != ValueKind::document || is_of_path(value, rest))) {
    if (kind.value == ValueKind::document) {
      const auto leases = leases_from_document(value);
      for (const Lease& lease : *leases) copies_[lease.id.text] = to_json(lease);
    } else if (kind.value == ValueKind::lease) {
      auto lease = record_from_json<Lease>(value);
      if (lease->status == Status::active) active_.emplace(rest, std::pair(std::move(*lease), value));
    } else if (kind.value == ValueKind::ticket) {
      auto ticket = record_from_json<Ticket>(value);
      if (ticket->status == Status::pending) pending_.emplace(rest, std::move(*ticket));
    }
    return;
  }
  const auto copy = kind.value == ValueKind::lease ? copies_.find(rest) : copies_.end();
  const std::string better = copy == copies_.end() ? std::string() : copy->second;
  const bool done = repair({"EVAL", std::string(kReplaceIfSame), "1", key(name), std::string(value), better});
  if (done && !better.empty()) active_.emplace(rest, std::pair(*record_from_json<Lease>(better), better));
  found(name, fmt::format("its value is no {}{}", kind.what, better.empty() ? "" : "; its path has a copy"),
        done);
}

void Examiner::examine_fields(const KeyKind& kind, const std::string& name, ReplyView pairs) {
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const std::string field(pairs[i].text());
    const std::string value(pairs[i + 1].text());
    if (kind.is_value(value)) continue;
    const bool done = repair({"EVAL", std::string(kDropFieldIfSame), "1", key(name), field, value});
    found(name, fmt::format("the value of {} is no {}", in_quotes(field), kind.what), done);
  }
}

void Examiner::examine_indexes() {
  for (const KeyKind& kind : key_kinds()) {
    if (kind.leads == nullptr) continue;
    for (const std::string& name : names_[std::string(kind.name)]) {
      const Access access = access_of(kind.type, key(name));
      const Reply members = ask_one(access.list);
      const std::string_view rest = std::string_view(name).substr(kind.name.size());
      for (std::size_t i = 0; i < members.view().size(); i += access.step) {
        const std::string member(members[i].text());
        const std::string there = kind.leads(keys_, rest, member);
        if (ask_one({"EXISTS", there}).view().integer() == 1) continue;
        const bool done =
            repair({"EVAL", std::string(kDropMemberIfGone), "2", key(name), there, access.remove, member});
        found(name, fmt::format("{} in it leads nowhere", in_quotes(member)), done);
      }
    }
  }
}

// Everything that has to lead to an active lease does.
void Examiner::examine_lease(const Lease& lease, const std::string& text) {
  const Owner& owner = lease.holder.owner;
  const std::vector<Reply> seen = ask({{"SISMEMBER", keys_.at(lease.path), lease.id.text},
                                       {"HEXISTS", keys_.owner(owner), lease.id.text},
                                       {"SISMEMBER", keys_.agent(owner.agent_id), lease.path},
                                       {"ZSCORE", keys_.times(), lease.id.text},
                                       {"ZSCORE", keys_.paths(), lease.path},
                                       {"GET", keys_.id(lease.id)},
                                       {"GET", keys_.file(lease.path)},
                                       {"TIME"},
                                       {"HEXISTS", keys_.dirs(), "id:" + lease.id.text}});
  if (seen[5].view().text() != text) return;  // It is being changed; then it is written as it should be.
  const bool is_indexed = seen[0].view().integer() == 1 && seen[1].view().integer() == 1 &&
                          seen[2].view().integer() == 1 && seen[3].view().is_text() &&
                          seen[4].view().is_text() && (!lease.subtree || seen[8].view().integer() == 1);
  const std::string seconds(seen[7][0].text());
  const bool is_running =
      lease.attended || lease.expires_at > Time(std::chrono::seconds(std::atoll(seconds.c_str()) + 1));
  const bool has_document = names_lease(seen[6].view().text(), lease.id);
  if (is_indexed && (has_document || !is_running)) return;
  if (repair_) index_again(lease, text);
  found("lease:id:" + lease.id.text,
        fmt::format("what should lead to the lease on {} does not", in_quotes(lease.path)), repair_);
}

void Examiner::index_again(const Lease& lease, const std::string& text) {
  const Owner& owner = lease.holder.owner;
  const std::vector<Reply> now = ask({{"WATCH", keys_.id(lease.id)}, {"GET", keys_.id(lease.id)}});
  if (now[1].view().text() != text) {
    ask_one({"UNWATCH"});
    return;
  }
  std::vector<std::vector<std::string>> commands = {
      {"MULTI"},
      {"SET", keys_.changes(), "1"},
      {"SADD", keys_.at(lease.path), lease.id.text},
      {"HSET", keys_.owner(owner), lease.id.text, lease.path},
      {"SADD", keys_.agent(owner.agent_id), lease.path},
      {"ZADD", keys_.times(), active_score(earliest_deadline(lease)), lease.id.text},
      {"ZADD", keys_.paths(), "0", lease.path}};
  if (!owner.session_id.empty())
    commands.push_back({"SADD", keys_.session(owner.session_id), owner.agent_id});
  if (!lease.holder.pr_id.empty()) commands.push_back({"SADD", keys_.pr(lease.holder.pr_id), lease.path});
  if (lease.subtree) commands.push_back({"HSET", keys_.dirs(), "id:" + lease.id.text, lease.path});
  commands.push_back({"EXEC"});
  ask(commands);
  leases_to_write_.push_back(lease.id);
}

void Examiner::examine_ticket(const Ticket& ticket) {
  for (const WantedPath& wanted : ticket.request.paths) {
    const std::vector<Reply> seen = ask({{"HEXISTS", keys_.queue(wanted.path), ticket.id.text},
                                         {"HEXISTS", keys_.dirs(), "ticket:" + ticket.id.text}});
    if (seen[0].view().integer() == 1 && (!wanted.subtree || seen[1].view().integer() == 1)) continue;
    const Reply now = ask_one({"GET", keys_.ticket(ticket.id)});
    const auto stored = record_from_json<Ticket>(now.view().text());
    if (!stored || stored->status != Status::pending) return;
    if (repair_) tickets_to_write_.push_back(ticket.id);
    found("lease:ticket:" + ticket.id.text,
          fmt::format("it waits for {} and nothing there says so", in_quotes(wanted.path)), repair_);
    return;
  }
}

}  // namespace leasehold::redis
