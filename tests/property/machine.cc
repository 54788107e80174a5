#include "property/machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/memory/memory_store.h"
#include "support/take_rings.h"

namespace leasehold::property {
namespace {

using std::chrono::seconds;

constexpr const char* kWorkspace = "here";

Policy policy() {
  Policy policy;
  policy.ttl_max = seconds(kTtlMax);
  policy.silence_max = seconds(kSilenceMax);
  policy.idle_grace = seconds(kIdleGrace);
  policy.waiter_silence = seconds(kWaiterSilence);
  policy.priority_step = seconds(kPriorityStep);
  policy.notice_life = std::chrono::hours(24 * 365);
  return policy;
}

long in_seconds(Time time) { return std::chrono::duration_cast<seconds>(time - ManualClock::kStart).count(); }

std::string code_name(Code code) { return std::string(info(code).name); }

std::string text_of(const std::vector<Blocked>& blocked, std::size_t more) {
  std::vector<std::string> parts(more, "not named");
  for (const Blocked& one : blocked) {
    parts.push_back(fmt::format("{}: {} {} {}", one.path, one.holder.owner.agent_id,
                                one.waits ? "waits for" : "holds",
                                to_text(Place{one.held_path, one.subtree})));
  }
  return told(std::move(parts));
}

Process process(int number, bool out_of_sight) {
  return {.machine_id = out_of_sight ? "elsewhere" : "here", .boot_id = "boot", .pid = number};
}

bool is_above(const std::string& directory, const std::string& path) {
  return directory == "/" ? path.starts_with('/') : path.starts_with(directory + "/");
}

bool conflict(const Lease& a, const Lease& b) {
  const bool overlap =
      a.path == b.path || (a.subtree && is_above(a.path, b.path)) || (b.subtree && is_above(b.path, a.path));
  const bool exclusive = a.mode == Mode::exclusive || b.mode == Mode::exclusive;
  return overlap && exclusive && a.holder.owner != b.holder.owner;
}

}  // namespace

Verdict Machine::Probe::look_at(const Process& process) {
  if (process.machine_id != "here") return {Liveness::unknown, "it is on another machine"};
  if (dead.contains(process.pid)) return {Liveness::dead, "it is gone"};
  return {Liveness::alive, "it runs"};
}

Machine::Machine()
    : store_(open_memory_store(clock_)),
      manager_(Environment{probe_, random_}, *store_, kWorkspace, policy()) {}

Caller Machine::caller(int agent, const Model& model) const {
  Caller caller;
  caller.holder.owner = {agent_name(agent), agent == 0 ? "s0" : agent == kOutOfSight ? "" : "s1"};
  if (const int number = model.process_of(agent); number != 0) {
    caller.holder.process = process(number, agent == kOutOfSight);
  }
  return caller;
}

AcquireRequest Machine::request(const Operation& operation, const Model& model) const {
  AcquireRequest request;
  request.caller = caller(operation.agent, model);
  for (const int index : operation.places) {
    const Place& place = place_at(index);
    WantedPath wanted;
    wanted.path = place.path;
    wanted.subtree = place.subtree;
    request.paths.push_back(std::move(wanted));
  }
  request.mode = operation.exclusive ? Mode::exclusive : Mode::shared;
  request.ttl = seconds(operation.ttl);
  if (operation.wait > 0) request.wait = seconds(operation.wait);
  if (operation.one_renewal) request.max_renewals = 1;
  request.priority = operation.priority;
  request.attended = operation.attended;
  return request;
}

std::string Machine::apply(const Operation& operation, const Named& named, const Model& model) {
  const Caller self = caller(operation.agent, model);
  Selection here;
  here.paths = {operation.place().path};
  Selection all;
  all.all = true;
  std::optional<Token> token;
  if (named.token) token = Token{1};  // For one that was replaced before anybody saw it.
  for (const auto& [value, number] : token_numbers_) {
    if (number == named.token) token = value;
  }

  switch (operation.verb) {
    case Verb::acquire:
      return text(manager_.acquire(request(operation, model)), operation.agent);
    case Verb::upgrade:
      return text(manager_.upgrade(request(operation, model)), operation.agent);
    case Verb::advance:
    case Verb::kill:
      late_ = true;
      if (operation.verb == Verb::advance) {
        clock_.advance(seconds(operation.seconds));
      } else {
        probe_.dead = {model.dead_processes().begin(), model.dead_processes().end()};
      }
      poll_again(operation, model);
      if (operation.attention != Attention::late) catch_up();
      return "";
    case Verb::poll: {
      if (!named.ticket) return "no ticket";
      return text(manager_.poll(self, ticket(*named.ticket)), operation.agent);
    }
    case Verb::cancel: {
      if (!named.ticket) return "no ticket";
      const auto done = manager_.cancel(self, ticket(*named.ticket));
      return done ? "cancelled" : code_name(done.error().code);
    }
    case Verb::release:
      return text(manager_.release({self, here, token}), operation.agent);
    case Verb::release_all:
      return text(manager_.release({self, all, {}}), operation.agent);
    case Verb::renew:
      return text(manager_.renew({self, here, token, seconds(operation.ttl)}), operation.agent);
    case Verb::renew_all:
      return text(manager_.renew({self, all, {}, seconds(operation.ttl)}), operation.agent);
    case Verb::downgrade:
      return text(manager_.downgrade({self, here, {}}), operation.agent);
    case Verb::transfer:
    case Verb::transfer_all: {
      const Selection& which = operation.verb == Verb::transfer ? here : all;
      return text(manager_.transfer(
                      {self, which, caller(operation.other, model).holder, "", false, operation.attended}),
                  operation.agent);
    }
    case Verb::force:
      return text(manager_.force_release({"operator", here, "needed", {}}), -1);
    case Verb::recall:
      return text(manager_.force_release({"operator", here, "needed", seconds(operation.seconds)}), -1);
    case Verb::check: {
      const auto answer = manager_.check(self, operation.place().path, token.value_or(Token{}));
      if (!answer) return code_name(answer.error().code);
      hear(operation.agent, answer->notices);
      return answer->current ? "current" : code_name(answer->error->code);
    }
    case Verb::turn_started:
      return manager_.turn_started(self.holder) ? "" : "failed";
    case Verb::turn_stopped:
      return manager_.turn_stopped(self.holder) ? "" : "failed";
  }
  return "";
}

void Machine::poll_again(const Operation& operation, const Model& model) {
  for (int i = 0; i < kAgents; ++i) {
    const int agent = operation.attention == Attention::polls_upward ? kAgents - 1 - i : i;
    for (const int number : model.patient_waiters()) {
      if (model.tickets()[static_cast<std::size_t>(number)].agent != agent) continue;
      text(manager_.poll(caller(agent, model), ticket(number)), agent);
    }
  }
}

void Machine::catch_up() {
  if (!std::exchange(late_, false)) return;
  if (!manager_.sweep(true)) token_problem_ = "the sweep failed";
}

void Machine::hear(int agent, const std::vector<Notice>& notices) {
  told_last_ = agent;
  for (const Notice& notice : notices) {
    if (notice.cause == EndCause::recalled && notice.actor.empty()) continue;  // As in the model.
    notices_[agent].insert(
        fmt::format("{} {}", notice.received ? "received" : word(notice.cause), notice.path));
  }
}

std::string Machine::text(const Result<AcquireAnswer>& answer, int agent) {
  if (!answer) return code_name(answer.error().code);
  hear(agent, answer->notices);
  if (const auto* granted = std::get_if<Granted>(&answer->decision)) {
    return granted->ttl_clamped ? "granted, clamped" : "granted";
  }
  if (const auto* refused = std::get_if<Refused>(&answer->decision)) {
    return fmt::format("{}: {}", code_name(refused->code), text_of(refused->blocked, refused->more_blocked));
  }
  const Queued& queued = std::get<Queued>(answer->decision);
  if (std::ranges::find(tickets_, queued.ticket) == tickets_.end()) {
    bells_[static_cast<int>(tickets_.size())] = *store_->listen(kWorkspace, queued.ticket);
    tickets_.push_back(queued.ticket);
  }
  return fmt::format("queued {}: {}", queued.position, text_of(queued.blocked, queued.more_blocked));
}

std::string Machine::text(const Result<Outcomes>& answer, int agent) {
  if (!answer) return code_name(answer.error().code);
  hear(agent, answer->notices);
  std::vector<std::string> parts;
  for (const Outcome& outcome : answer->outcomes) {
    parts.push_back(outcome.error         ? code_name(outcome.error->code)
                    : outcome.already     ? "already"
                    : outcome.ttl_clamped ? "clamped"
                                          : "done");
  }
  return joined(std::move(parts));
}

Board Machine::look() {
  Result<Board> board = manager_.board();
  if (!board) return {};
  std::erase_if(board->rows, [](const BoardRow& row) { return !row.live; });
  return std::move(*board);
}

void Machine::learn_numbers(const Board& board, const Model& model) {
  Token highest = highest_token_;
  for (const BoardRow& row : board.rows) {
    const Lease& lease = row.lease;
    const bool waits = lease.status == Status::pending;
    for (const ModelLease& twin : model.leases()) {
      if (twin.state != (waits ? State::waiting : State::held) ||
          agent_name(twin.agent) != lease.holder.owner.agent_id ||
          twin.place != Place{lease.path, lease.subtree}) {
        continue;
      }
      if (waits && ticket(twin.group) != lease.group_id) continue;
      lease_numbers_.try_emplace(lease.id, twin.id);
      if (waits || !token_numbers_.try_emplace(lease.token, twin.token).second) continue;
      if (lease.token <= highest_token_)
        token_problem_ = fmt::format("the new token of {} is not the highest", lease.path);
      highest = std::max(highest, lease.token);
    }
  }
  highest_token_ = highest;
}

std::vector<std::string> Machine::board(const Model& model) {
  const Board board = look();
  learn_numbers(board, model);
  std::vector<std::string> held;
  std::vector<std::string> waiting;
  for (const BoardRow& row : board.rows) {
    const Lease& lease = row.lease;
    const std::string start = fmt::format("{} {} {} l{}", to_text(Place{lease.path, lease.subtree}),
                                          word(lease.mode), lease.holder.owner.agent_id,
                                          lease_numbers_.contains(lease.id) ? lease_numbers_[lease.id] : -1);
    if (lease.status == Status::pending) {
      const auto ticket = std::ranges::find(tickets_, lease.group_id) - tickets_.begin();
      waiting.push_back(fmt::format("{} waits q{}", start, ticket));
      continue;
    }
    std::string line =
        fmt::format("{} t{} ttl {} until {} heard {} renewed {}/{}", start,
                    token_numbers_.contains(lease.token) ? token_numbers_[lease.token] : -1,
                    std::chrono::duration_cast<seconds>(lease.ttl).count(), in_seconds(lease.expires_at),
                    in_seconds(lease.last_heartbeat_at), lease.renewal_count, lease.max_renewals);
    if (lease.attended) line += " attended";
    if (lease.idle_at) line += fmt::format(" idle at {}", in_seconds(*lease.idle_at));
    if (lease.recalled_at) line += fmt::format(" recalled at {}", in_seconds(*lease.recalled_at));
    held.push_back(std::move(line));
  }
  std::ranges::sort(held);
  held.insert(held.end(), waiting.begin(), waiting.end());
  return held;
}

void Machine::collect(const std::vector<int>& tickets, const Model& model) {
  for (const int number : tickets) {
    const int agent = model.tickets()[static_cast<std::size_t>(number)].agent;
    text(manager_.poll(caller(agent, model), ticket(number)), agent);
  }
  take_told_last();
}

std::vector<int> Machine::take_woken() {
  std::vector<int> woken;
  for (auto& [ticket, bell] : bells_) woken.insert(woken.end(), take_rings(*bell), ticket);
  return woken;
}

std::string Machine::broken_promise() {
  if (!token_problem_.empty()) return token_problem_;
  const Board board = look();
  for (const BoardRow& a : board.rows) {
    if (a.lease.status != Status::active) continue;
    for (const BoardRow& b : board.rows) {
      if (b.lease.status == Status::active && conflict(a.lease, b.lease)) {
        return fmt::format("{} and {} both hold {}", a.lease.holder.owner.agent_id,
                           b.lease.holder.owner.agent_id, a.lease.path);
      }
    }
  }
  // History, folded, is the state.
  std::map<LeaseId, Status> folded;
  const auto history = manager_.history({});
  for (const Event& event : *history) {
    if (!event.lease_id.text.empty()) folded[event.lease_id] = *event.status_after;
  }
  std::erase_if(folded, [](const auto& entry) {
    return entry.second != Status::active && entry.second != Status::pending;
  });
  std::map<LeaseId, Status> stored;
  const auto all = manager_.board();
  for (const BoardRow& row : all->rows) stored[row.lease.id] = row.lease.status;
  return folded == stored ? "" : "the history does not add up to the state";
}

}  // namespace leasehold::property
