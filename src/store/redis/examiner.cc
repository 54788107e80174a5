#include "store/redis/examiner.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/json/stored_records.h"
#include "store/redis/document.h"
#include "store/redis/key_kinds.h"
#include "store/redis/scripts.h"
#include "util/number.h"
#include "util/utf8.h"

namespace leasehold::redis {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kAtOnce = 500;

// How long others hold back for a repair, at most. Whatever lasts longer nobody of ours announced.
constexpr std::string_view kIntentMs = "5000";
constexpr std::int64_t kIntentMsMax = 10'000;

// How all of a key is read.
std::vector<std::string> read_command(std::string_view type, const std::string& key) {
  if (type == "string") return {"GET", key};
  if (type == "set") return {"SMEMBERS", key};
  if (type == "zset") return {"ZRANGE", key, "0", "-1", "WITHSCORES"};
  if (type == "list") return {"LRANGE", key, "0", "-1"};
  return {"HGETALL", key};
}

bool is_token(std::string_view text) {
  const auto value = parse_number<double>(text);
  return value && *value >= 0 && *value < static_cast<double>(kTokenEnd);
}

bool is_at_end(std::string_view stream_id) {
  const auto milliseconds = parse_number<std::uint64_t>(stream_id.substr(0, stream_id.find('-')));
  return !milliseconds || *milliseconds >= kStreamEnd;
}

// Scores are numbers, and the server writes them in its own way.
bool is_same(std::string_view type, std::string_view is, std::string_view should) {
  if (type == "hash") return is == should;
  if (type != "zset") return true;
  const auto score = parse_number<double>(is);
  return score && score == parse_number<double>(should);
}

// Of two that differ, the later one; in doubt the one that holds the path.
bool is_better(const Lease& a, const Lease& b) {
  if (a.updated_at != b.updated_at) return a.updated_at > b.updated_at;
  return a.status == Status::active && b.status != Status::active;
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

void Examiner::found(std::string_view name, std::string what) {
  told_.emplace(name);
  defects_.push_back({key(name), std::move(what), true});
}

std::vector<Reply> Examiner::ask(const std::vector<Command>& commands) {
  for (const Command& command : commands)
    connection_.add(std::vector<std::string_view>(command.begin(), command.end()));
  std::vector<Reply> replies = connection_.exchange();
  for (const Reply& reply : replies) {
    if (reply.view().is_error())
      throw Failure{error_of(reply.view().text(), connection_.address(), "Looking at all keys")};
  }
  return replies;
}

Reply Examiner::ask_one(const Command& command) { return std::move(ask({command}).front()); }

std::vector<std::string> Examiner::scan(const std::string& pattern) {
  std::set<std::string> keys;
  std::string cursor = "0";
  do {
    const Reply page = ask_one({"SCAN", cursor, "MATCH", pattern, "COUNT", "1000"});
    cursor = page[0].text();
    for (std::size_t i = 0; i < page[1].size(); ++i) keys.emplace(page[1][i].text());
  } while (cursor != "0");
  return {keys.begin(), keys.end()};
}

void Examiner::announce() {
  ask_one(
      {"SET", keys_.intent(), fmt::format("{} /", connection_.client_id()), "PX", std::string(kIntentMs)});
}

std::vector<Defect> Examiner::examine(bool repair) {
  watch();
  read_types();
  read_values();
  settle_copies();
  examine_documents();
  examine_indexes();
  examine_intent();
  examine_token();
  examine_history();
  if (repair) end_in_history();
  return defects_;
}

// Every change touches the first or the second; should one of them be broken, still one of the others.
void Examiner::watch() {
  connection_.watches = true;
  ask_one({"WATCH", keys_.changes(), keys_.history(), keys_.times(), keys_.tickets(), keys_.paths(),
           keys_.waiting(), keys_.dirs()});
}

void Examiner::read_types() {
  const std::string prefix = glob_escaped(keys_.prefix());
  std::vector<std::string> names = scan(prefix + "lease:*");
  for (std::string& name : scan(prefix + "session:locks:*")) names.push_back(std::move(name));
  for (std::size_t from = 0; from < names.size(); from += kAtOnce) {
    const std::size_t end = std::min(from + kAtOnce, names.size());
    std::vector<Command> commands;
    for (std::size_t i = from; i < end; ++i) commands.push_back({"TYPE", names[i]});
    const std::vector<Reply> types = ask(commands);
    for (std::size_t i = from; i < end; ++i) {
      const std::string name = names[i].substr(keys_.prefix().size());
      const KeyKind* kind = kind_of(name);
      const std::string_view type = types[i - from].view().text();
      if (kind == nullptr || type == "none") continue;
      if (type == kind->type) {
        there_.emplace(name, kind);
        continue;
      }
      found(name, fmt::format("it is a {} and has to be a {}", type, kind->type));
      repair_.push_back({"DEL", names[i]});
    }
  }
}

void Examiner::read_values() {
  std::vector<std::pair<std::string, const KeyKind*>> wanted;
  for (const auto& [name, kind] : there_) {
    if (kind->role != Role::other) wanted.emplace_back(name, kind);
  }
  for (std::size_t from = 0; from < wanted.size(); from += kAtOnce) {
    const std::size_t end = std::min(from + kAtOnce, wanted.size());
    std::vector<Command> commands;
    for (std::size_t i = from; i < end; ++i)
      commands.push_back(read_command(wanted[i].second->type, key(wanted[i].first)));
    const std::vector<Reply> values = ask(commands);
    for (std::size_t i = from; i < end; ++i)
      learn(*wanted[i].second, wanted[i].first, values[i - from].view());
  }
}

void Examiner::learn(const KeyKind& kind, const std::string& name, ReplyView values) {
  const std::string_view rest = std::string_view(name).substr(kind.name.size());
  if (kind.type == "string") {
    if (values.is_nil() || kind.learn(records_, rest, {}, values.text())) return;
    found(name, fmt::format("its value is no {}, or that of another", kind.what));
    repair_.push_back({"DEL", key(name)});
    return;
  }
  const bool has_pairs = kind.type == "hash" || kind.type == "zset";
  for (std::size_t i = 0; i < values.size(); i += has_pairs ? 2 : 1) {
    const std::string member(values[i].text());
    const std::string_view value = has_pairs ? values[i + 1].text() : std::string_view();
    if (kind.role != Role::record) {
      indexes_[key(name)].emplace(member, value);
    } else if (!kind.learn(records_, rest, member, value)) {
      found(name, fmt::format("the value of {} is no {}, or that of another", in_quotes(member), kind.what));
      repair_.push_back({"HDEL", key(name), member});
    }
  }
}

// A lease stands under its id and in the document of its path. One of them is enough to have it back.
void Examiner::settle_copies() {
  for (const auto& [path, copies] : records_.documents) {
    for (const Lease& copy : copies) {
      const auto [place, is_new] = records_.leases.emplace(copy.id.text, copy);
      if (!is_new && !is_better(copy, place->second)) continue;
      place->second = copy;
      const std::string name = "lease:id:" + copy.id.text;
      if (!told_.contains(name))
        found(name,
              fmt::format("it is {}; {} has the lease", is_new ? "missing" : "outdated", in_quotes(path)));
      repair_.push_back({"SET", key(name), to_json(copy)});
    }
  }
}

Time Examiner::now() {
  if (clock_ != nullptr) return clock_->now();
  const Reply time = ask_one({"TIME"});
  return Time(std::chrono::seconds(std::atoll(std::string(time[0].text()).c_str())));
}

// All who hold a path stand in its document, and nobody else. When the last of them is over, the server drops
// it.
void Examiner::examine_documents() {
  const Time soon = now() + 2s;
  std::map<std::string, std::vector<Lease>> held;
  for (const auto& [path, copies] : records_.documents) held[path];
  for (const auto& [id, lease] : records_.leases) {
    if (lease.status == Status::active) held[lease.path].push_back(lease);
  }
  for (auto& [path, leases] : held) {
    const auto document = records_.documents.find(path);
    const bool is_there = document != records_.documents.end();
    const auto is_in = [](const std::vector<Lease>& all, const Lease& lease) {
      return std::ranges::find(all, lease) != all.end();
    };
    const bool is_right = std::ranges::all_of(leases, [&](const Lease& lease) {
      const bool is_over = !lease.attended && lease.expires_at <= soon;
      return is_over || (is_there && is_in(document->second, lease));
    });
    const bool has_more = is_there && !std::ranges::all_of(document->second, [&](const Lease& copy) {
                            return is_in(leases, copy);
                          });
    if (is_right && !has_more) continue;
    const std::string name = "lease:file:" + path;
    if (!told_.contains(name)) found(name, "it is not what the leases say who hold the path");
    if (leases.empty()) {
      repair_.push_back({"DEL", key(name)});
      continue;
    }
    sort_for_document(leases);
    std::vector<std::string> texts;
    for (const Lease& lease : leases) texts.push_back(to_json(lease));
    repair_.push_back({"SET", key(name), path_document(leases.front(), texts)});
    const auto expiry = clock_ == nullptr ? expiry_ms(leases) : std::nullopt;
    if (expiry) repair_.push_back({"PEXPIREAT", key(name), std::to_string(*expiry)});
  }
}

void Examiner::examine_indexes() {
  Indexes all = indexes_of(keys_, records_);
  for (const auto& [key, index] : indexes_) all[key];
  for (const auto& [key, should] : all)
    examine_index(*kind_of(key.substr(keys_.prefix().size())), key, should);
}

void Examiner::examine_index(const KeyKind& kind, const std::string& key, const Index& should) {
  static const std::map<std::string_view, std::pair<std::string, std::string>> kCommands = {
      {"set", {"SADD", "SREM"}}, {"hash", {"HSET", "HDEL"}}, {"zset", {"ZADD", "ZREM"}}};
  const Index& is = indexes_[key];
  std::vector<std::string> missing;
  for (const auto& [member, value] : should) {
    const auto there = is.find(member);
    if (there == is.end() || !is_same(kind.type, there->second, value)) missing.push_back(member);
  }
  std::vector<std::string> surplus;
  for (const auto& [member, value] : is) {
    if (kind.role != Role::loose_index && !should.contains(member)) surplus.push_back(member);
  }
  const std::string name = key.substr(keys_.prefix().size());
  const bool is_told = told_.contains(name);
  for (const std::string& member : missing) {
    if (!is_told) found(name, fmt::format("{} does not stand in it as it should", in_quotes(member)));
  }
  for (const std::string& member : surplus)
    found(name, fmt::format("{} in it leads nowhere", in_quotes(member)));

  if (kind.type == "list") {
    if (missing.empty() && surplus.empty()) return;
    repair_.push_back({"DEL", key});
    std::vector<std::pair<std::string, std::string>> order;
    for (const auto& [member, value] : should) order.emplace_back(value, member);
    std::ranges::sort(order);
    for (const auto& [value, member] : order) repair_.push_back({"RPUSH", key, member});
    return;
  }
  const auto& [put, drop] = kCommands.at(kind.type);
  for (const std::string& member : missing) {
    Command command = {put, key, member};
    if (kind.type == "hash") command.push_back(should.at(member));
    if (kind.type == "zset") command.insert(command.begin() + 2, should.at(member));
    repair_.push_back(std::move(command));
  }
  for (const std::string& member : surplus) repair_.push_back({drop, key, member});
}

// One that does not end soon would hold back everybody.
void Examiner::examine_intent() {
  if (!there_.contains("lease:intent")) return;
  const std::int64_t left = ask_one({"PTTL", keys_.intent()}).view().integer();
  if (left != -1 && left <= kIntentMsMax) return;
  found("lease:intent", "nobody announces something for that long");
  repair_.push_back({"DEL", keys_.intent()});
}

// Another one would stop everybody, or give a token twice. It is everybody's, in all workspaces.
void Examiner::examine_token() {
  const std::string name(kTokenKey);
  const std::string type(ask_one({"TYPE", name}).view().text());
  if (type == "none") return;
  if (type == "string" && is_token(ask_one({"GET", name}).view().text())) return;
  std::uint64_t highest = 0;
  for (const auto& [id, lease] : records_.leases) highest = std::max(highest, lease.token.value);
  // Those who have one from the very end would be passed by nobody.
  if (highest >= kTokenEnd) {
    defects_.push_back(
        {name, "no token is left above those of the leases; they have to be given back and forgotten first",
         false});
    return;
  }
  defects_.push_back({name, "it is no token", true});
  repair_.push_back({"EVAL", std::string(kReplaceTokenScript), "1", name, std::to_string(highest)});
}

// Entries that are no events; and behind an id from the end of all ids nothing can be added.
void Examiner::examine_history() {
  if (!there_.contains("lease:history")) return;
  std::string from = "-";
  std::string last = "0-1";  // That is an event.
  for (bool more = true; more;) {
    const Reply part = ask_one({"XRANGE", keys_.history(), from, "+", "COUNT", std::to_string(kAtOnce)});
    more = part.view().size() == kAtOnce;
    for (std::size_t i = 0; i < part.view().size(); ++i) {
      const std::string id(part[i][0].text());
      from = "(" + id;
      const auto event = record_from_json<Event>(part[i][1][1].text());
      if (event && !is_at_end(id)) {
        last = id;
        note_last_word(*event);
        continue;
      }
      found("lease:history", fmt::format("its entry {} is no event", in_quotes(id)));
      repair_.push_back({"XDEL", keys_.history(), id});
    }
  }
  const Reply about = ask_one({"XINFO", "STREAM", keys_.history()});
  for (std::size_t i = 0; i + 1 < about.view().size(); i += 2) {
    if (about[i].text() != "last-generated-id" || !is_at_end(about[i + 1].text())) continue;
    found("lease:history", "no id is left for what comes next");
    repair_.push_back({"XSETID", keys_.history(), last});
  }
}

void Examiner::note_last_word(const Event& event) {
  const std::string& id = event.lease_id.text;  // Empty: a renewal of many at once.
  if (!event.status_after || id.empty() || records_.leases.contains(id)) return;
  if (event.status_after == Status::active) {
    gone_.insert_or_assign(id, event);
  } else {
    gone_.erase(id);
  }
}

// What history tells of as held, and nothing else does any more. Whether that is wrong is for those to say
// who know whether history was kept all the time.
void Examiner::end_in_history() {
  if (gone_.empty()) return;
  const Time at = now();
  const WallTime wall = clock_ != nullptr
                            ? clock_->wall()
                            : WallTime(std::chrono::floor<WallTime::duration>(at.time_since_epoch()));
  for (auto& [id, event] : gone_) {
    found("lease:history",
          fmt::format("it tells that {} is held, and the lease is gone", in_quotes(event.path)));
    event.type = EventType::expired;
    event.status_before = Status::active;
    event.status_after = Status::expired;
    event.cause = EndCause::expired;
    event.at = at;
    event.wall = wall;
    event.reason = "its record was lost";
    repair_.push_back({"XADD", keys_.history(), "*", "event", to_json(event)});
  }
}

bool Examiner::finish(bool repair) {
  std::vector<Command> commands = {{"MULTI"}};
  if (repair) {
    commands.insert(commands.end(), repair_.begin(), repair_.end());
    commands.push_back({"SET", keys_.format(), std::string(kFormat)});
    // For those too who watch changes as a whole.
    commands.push_back({"SET", keys_.changes(), "1"});
    commands.push_back({"DEL", keys_.intent()});
  }
  commands.push_back({"EXEC"});
  const std::vector<Reply> replies = ask(commands);
  connection_.watches = false;
  const ReplyView executed = replies.back().view();
  for (std::size_t i = 0; i < executed.size(); ++i) {
    if (executed[i].is_error())
      throw Failure{error_of(executed[i].text(), connection_.address(), "Repairing")};
  }
  return executed.is_array();
}

}  // namespace leasehold::redis
