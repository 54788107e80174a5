// What a body changed, as commands of one MULTI/EXEC.
//
// EXEC runs every command, also behind one that fails. So nothing goes in that could fail: keys that were
// read are of the right type, and those that are only written are looked at, the first time, by the guard in
// front of MULTI.
#include <fmt/format.h>

#include <algorithm>

#include "model/scope.h"
#include "store/redis/commands.h"
#include "store/redis/scripts.h"
#include "store/redis/transaction.h"

namespace leasehold::redis {
namespace {

// Few enough new ids are cheaper to look at one by one.
constexpr std::size_t kCopiesMax = 4;

}  // namespace

void RedisTransaction::want_protected(Round& round, const LeaseId& id) {
  const Known<Lease>& known = known_leases_[id.text];
  if (known.stored && !known.is_protected) want_lease(round, id);
}

// A path is written with all who hold it. Redis dropped the document of some that nobody recorded as ended
// yet; no watch of that document tells when somebody does.
void RedisTransaction::want_path_for_write(Round& round, const std::string& path) {
  want_path(round, path);
  for (const Lease& lease : tables_.leases_at({path, false})) {
    if (lease.path == path) want_protected(round, lease.id);
  }
}

// What has to be known to write the changes.
void RedisTransaction::want_for_write(Round& round) {
  for (const LeaseId& id : changed_leases_) {
    const Known<Lease>& known = known_leases_[id.text];
    want_protected(round, id);
    if (is_active(known.stored)) {
      want_path_for_write(round, known.stored->path);
      // Whether it was its owner's last one.
      if (!known.stored->holder.owner.session_id.empty())
        want_leases_of(round, known.stored->holder.owner, 0);
    }
    if (const Lease* after = tables_.find_lease(id); is_active(after))
      want_path_for_write(round, after->path);
  }
  for (const GroupId& id : changed_tickets_) {
    const Known<Ticket>& known = known_tickets_[id.text];
    if (known.stored && !known.is_protected) want_ticket(round, id);
    if (!is_pending(known.stored)) continue;
    for (const WantedPath& wanted : known.stored->request->paths) want_path(round, wanted.path);
  }
}

// Somebody wants a directory and was disturbed again and again by what goes on below it.
void RedisTransaction::respect_intent() const {
  if (foreign_intent_.empty() || foreign_intent_ == leftover_.intent) return;
  const Scope wanted = {foreign_intent_.substr(foreign_intent_.find(' ') + 1), true};
  const auto is_below = [&](const std::string& path) { return overlaps(wanted, {path, false}); };
  for (const LeaseId& id : changed_leases_) {
    if (const Lease* lease = tables_.find_lease(id); lease != nullptr && is_below(lease->path))
      throw Conflict{.held_back = true};
  }
  for (const GroupId& id : changed_tickets_) {
    const auto ticket = tables_.ticket(id);
    if (!ticket) continue;
    for (const WantedPath& path : ticket->request->paths) {
      if (is_below(path.path)) throw Conflict{.held_back = true};
    }
  }
}

bool RedisTransaction::commit() {
  const bool nothing = changed_leases_.empty() && changed_tickets_.empty() && changed_notices_.empty() &&
                       changed_answers_.empty() && changed_contentions_.empty() &&
                       changed_settings_.empty() && changed_windows_.empty() &&
                       changed_session_paths_.empty() && events_.empty() && bells_.empty() &&
                       stale_.empty() && trimmed_.empty();
  if (nothing) return true;
  // What is found at a path may have to be protected, too.
  for (Round round;; round = {}) {
    want_for_write(round);
    if (round.empty()) break;
    load(round);
  }
  respect_intent();

  Commands commands(shared_, connection_.scratch);
  std::set<std::string> paths;
  for (const LeaseId& id : changed_leases_) {
    write_lease(commands, id);
    const std::optional<Lease>& before = known_leases_[id.text].stored;
    const Lease* after = tables_.find_lease(id);
    write_indexes(commands, before, after);
    if (is_active(before)) paths.insert(before->path);
    if (is_active(after)) paths.insert(after->path);
  }
  write_owners(commands);
  for (const std::string& path : paths) write_path(commands, path);
  for (const GroupId& id : changed_tickets_) write_ticket(commands, id);
  write_kept(commands);
  write_contentions(commands);
  write_sessions(commands);
  write_settings(commands);
  write_events(commands);
  // For those who watch too much to watch it key by key: they watch the history, and this.
  if (events_.empty()) commands.add({"SET", keys_.changes(), "1"});
  if (makes_format_) commands.add({"SET", keys_.format(), kFormat});
  if (!leftover_.intent.empty()) commands.add({"DEL", keys_.intent()});
  commands.finish();
  if (!execute(commands)) return false;
  commands.prove();
  leave_hints(shared_.hints);
  return true;
}

bool RedisTransaction::execute(Commands& commands) {
  const std::string guard = keys_.guard();
  const bool by_script = !commands.unproven.empty() || commands.new_keys.size() > kCopiesMax;
  const bool late_watch = !watches_guard_ && (by_script || !commands.new_keys.empty());
  if (late_watch) connection_.add({"WATCH", guard});
  if (by_script) {
    const std::string count = std::to_string(commands.new_keys.size());
    // By its text: a server that forgot the script would say so and go on to EXEC.
    std::vector<std::string_view> words = {"EVAL", kGuardScript, "1", guard, count};
    words.insert(words.end(), commands.new_keys.begin(), commands.new_keys.end());
    for (const auto& [key, type] : commands.unproven) words.insert(words.end(), {key, type});
    connection_.add(words);
  } else {
    // Touches the guard if such a key exists.
    for (const std::string& key : commands.new_keys) connection_.add({"COPY", key, guard, "REPLACE"});
  }
  const std::size_t guards = connection_.pending();
  connection_.add({"MULTI"});
  connection_.add_formatted(commands.bytes, commands.count);
  connection_.add({"EXEC"});

  const std::vector<Reply> replies = exchange_commit();

  // The right to it was there when the connection was made, and is gone: what followed was done at once.
  if (replies[guards].view().is_error()) {
    Failure failure = failure_of(replies[guards].view().text(), connection_.address(), "Writing the leases");
    failure.error.code = Code::outcome_unknown;
    throw failure;
  }
  const ReplyView executed = replies.back().view();
  if (executed.is_error()) {
    const auto refused =
        std::ranges::find_if(replies, [](const Reply& reply) { return reply.view().is_error(); });
    throw failure_of(refused->view().text(), connection_.address(), "Writing the leases");
  }
  if (executed.is_array()) {
    must_have_succeeded(executed);
    return true;
  }
  learn_from_guards(std::span(replies).first(guards).subspan(late_watch ? 1 : 0));
  return false;
}

std::vector<Reply> RedisTransaction::exchange_commit() {
  bool sent = false;
  try {
    std::vector<Reply> replies = connection_.exchange(&sent);
    connection_.watches = false;
    return replies;
  } catch (Failure& failure) {
    if (!sent) throw;
    failure.error.code = Code::outcome_unknown;
    failure.error.message = fmt::format(
        "The answer to a change was lost: {} Whether it was made is not known; asking again is safe.",
        failure.error.message);
    throw;
  }
}

// A key that was taken for new exists, or one is not what it has to be; or neither, and others changed what
// was read.
void RedisTransaction::learn_from_guards(std::span<const Reply> guards) {
  bool exists = false;
  for (const Reply& guard : guards) {
    const ReplyView found = guard.view();
    if (found.is_text() && found.text() != "EXISTS") {
      bad_.emplace(std::string(found.text()), "it is of another type, or takes no more events");
      must_be_whole(std::string(found.text()));
    }
    exists |= found.integer() != 0 || found.text() == "EXISTS";
  }
  if (!exists) return;
  connection_.add({"DEL", keys_.guard()});
  connection_.exchange();
  leave_new(leftover_);
}

// Somebody put a key of another type in the place of one of ours, after it was looked at. The server goes on
// behind what fails, so the rest is written.
void RedisTransaction::must_have_succeeded(ReplyView executed) {
  for (std::size_t i = 0; i < executed.size(); ++i) {
    if (!executed[i].is_error()) continue;
    {
      const std::lock_guard lock(shared_.mutex);
      shared_.proven.clear();
    }
    throw Failure{
        {Code::corrupt,
         fmt::format("A change was made only in part: Redis at {} says \"{}\". Somebody else wrote in "
                     "the place of one of Leasehold's keys. Run: lease doctor --repair",
                     connection_.address().shown(), executed[i].text())}};
  }
}

}  // namespace leasehold::redis
