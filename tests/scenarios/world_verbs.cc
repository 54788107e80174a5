#include <fmt/format.h>

#include "scenarios/verbs.h"

namespace leasehold::scenario {
namespace {

std::optional<Answer> owner(World& world, const Arguments& arguments) {
  Caller& caller = world.caller(arguments.first);
  if (arguments.has("no-process")) caller.holder.process.reset();
  if (arguments.has("remote")) world.move_elsewhere(arguments.first);
  if (arguments.has("whole-session")) caller.whole_session = true;
  if (arguments.options.contains("pr")) caller.holder.pr_id = arguments.text("pr");
  if (arguments.options.contains("host")) caller.holder.host = arguments.text("host");
  return std::nullopt;
}

std::optional<Answer> advance(World& world, const Arguments& arguments) {
  const Duration by = parse_time("advance by", arguments.first);
  if (by < Duration::zero()) throw BadStep("time does not go back; 'wall-step' sets the wall clock");
  world.clock.advance(by);
  return std::nullopt;
}

std::optional<Answer> wall_step(World& world, const Arguments& arguments) {
  world.step_wall(parse_time("wall-step by", arguments.first));
  return std::nullopt;
}

std::optional<Answer> kill(World& world, const Arguments& arguments) {
  world.kill(arguments.first);
  return std::nullopt;
}

std::optional<Answer> restart(World& world, const Arguments& arguments) {
  world.restart(arguments.first);
  return std::nullopt;
}

std::optional<Answer> stop(World& world, const Arguments& arguments) {
  world.stop(arguments.first);
  return std::nullopt;
}

std::optional<Answer> hide(World& world, const Arguments& arguments) {
  world.hide(arguments.first);
  return std::nullopt;
}

std::optional<Answer> show(World& world, const Arguments& arguments) {
  world.show(arguments.first);
  return std::nullopt;
}

std::optional<Answer> reboot(World& world, const Arguments&) {
  world.reboot();
  return std::nullopt;
}

std::optional<Answer> room(World& world, const Arguments& arguments) {
  if (arguments.has("busy") == arguments.has("free")) throw BadStep("a room is busy or free");
  world.set_room(arguments.first, arguments.has("busy"));
  return std::nullopt;
}

std::optional<Answer> profile(World& world, const Arguments& arguments) {
  const auto found = profile_named(arguments.first);
  if (!found) throw BadStep(found.error().message);
  world.change_policy(found->policy);
  return std::nullopt;
}

std::optional<Answer> limit(World& world, const Arguments& arguments) {
  Policy policy = world.policy();
  const auto set_time = [&](const char* name, Duration& field) {
    field = arguments.time(name).value_or(field);
  };
  const auto set_count = [&](const char* name, std::size_t& field) {
    if (const auto value = arguments.number(name)) field = static_cast<std::size_t>(*value);
  };
  set_time("ttl", policy.ttl);
  set_time("ttl-max", policy.ttl_max);
  set_time("silence-max", policy.silence_max);
  set_time("idle-grace", policy.idle_grace);
  set_time("waiter-silence", policy.waiter_silence);
  if (const auto wait_max = arguments.time("wait-max")) policy.wait_max = wait_max;
  policy.max_renewals = arguments.number("max-renewals").value_or(policy.max_renewals);
  set_count("rate", policy.rate_limit);
  set_time("rate-window", policy.rate_window);
  set_count("paths", policy.paths_max);
  set_count("leases-per-owner", policy.leases_per_owner_max);
  set_count("waiters-per-path", policy.waiters_per_path_max);
  if (arguments.has("no-waiting")) policy.waiting_allowed = false;
  world.change_policy(policy);
  return std::nullopt;
}

}  // namespace

std::vector<Verb> world_verbs() {
  return {
      {"owner", "OWNER [no-process] [remote] [whole-session] [pr=ID] [host=NAME]", owner},
      {"advance", "TIME", advance},
      {"wall-step", "TIME", wall_step},
      {"kill", "OWNER", kill},
      {"restart", "OWNER", restart},
      {"hide", "OWNER", hide},
      {"stop", "OWNER", stop},
      {"show", "OWNER", show},
      {"reboot", "", reboot},
      {"room", "NAME [busy] [free]", room},
      {"profile", "NAME", profile},
      {"limit",
       "[ttl=TIME] [ttl-max=TIME] [silence-max=TIME] [idle-grace=TIME] [waiter-silence=TIME] [wait-max=TIME] "
       "[max-renewals=N] [rate=N] [rate-window=TIME] [paths=N] [leases-per-owner=N] [waiters-per-path=N] "
       "[no-waiting]",
       limit},
  };
}

}  // namespace leasehold::scenario
