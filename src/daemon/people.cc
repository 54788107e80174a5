// Routes about files, agents, sessions, rooms, and the gate.
#include <boost/json/object.hpp>

#include "daemon/rendering.h"
#include "daemon/routes.h"
#include "model/key.h"
#include "model/scope.h"
#include "wire/answer_json.h"
#include "wire/gate_json.h"
#include "wire/people_json.h"
#include "wire/request_json.h"

namespace leasehold::daemon::handlers {
namespace {

namespace json = boost::json;

Response no_content() { return {.status = 204, .body = {}, .headers = {}}; }

Result<Caller> caller_of(const Exchange& exchange) {
  const auto body = body_of(exchange.request);
  if (!body) return fail(body.error());
  auto caller = caller_from(*body);
  if (!caller) return caller;
  if (auto done = bind(exchange, *caller); !done) return fail(done.error());
  return caller;
}

Work set_room(Exchange& exchange, bool busy) {
  exchange.manager.rooms().set_busy(exchange.captured.front(), busy);
  return answer_with(no_content());
}

}  // namespace

Work file(Exchange& exchange) {
  const auto asked = exchange.request.parameter("path");
  if (!asked) return refuse({Code::invalid_argument, "Which file? Give path=/src/a.ts."});
  const auto path = key_from_wire(*asked);
  if (!path) return refuse(path.error());
  const auto limit = number_from(exchange.request, "limit");
  if (!limit) return refuse(limit.error());
  return look_at_much(
      exchange, [path = *path](LeaseManager& manager) { return manager.board({.paths = {path}}); },
      [path = *path, &pages = exchange.services.pages(),
       asked = BoardPages::Asked{.what = {},
                                 .cursor = exchange.request.parameter("cursor").value_or(""),
                                 .limit = page_size(*limit, kPageMost)}](Board& board) {
        bool locked = false;
        for (const BoardRow& row : board.rows)
          locked |= row.live && row.lease.status == Status::active && overlaps(row.lease, {path});
        json::object document = pages.page(asked, std::move(board));
        document["path"] = path;
        document["locked"] = locked;
        return json_response(200, document);
      });
}

Work agents(Exchange& exchange) {
  return look_at_much(
      exchange, [](LeaseManager& manager) { return manager.board(); },
      [](const Board& board) { return json_response(200, agents_json(board)); });
}

Work turn(Exchange& exchange) {
  auto body = body_of(exchange.request);
  if (!body) return refuse(body.error());
  if (!body->is_object())
    return refuse({Code::invalid_argument, "The body has to be one JSON object: {...}."});
  json::object& object = body->as_object();
  const json::value* state = object.if_contains("state");
  const bool starts = state != nullptr && *state == "started";
  if (!starts && (state == nullptr || *state != "stopped"))
    return refuse({Code::invalid_argument, "state has to be started or stopped."});
  object.erase("state");
  object["agent_id"] = exchange.captured.front();
  auto caller = caller_from(*body);
  if (!caller) return refuse(caller.error());
  if (auto done = bind(exchange, *caller); !done) return refuse(done.error());
  return ask(
      exchange,
      [holder = std::move(caller->holder), starts](LeaseManager& manager) {
        return starts ? manager.turn_started(holder) : manager.turn_stopped(holder);
      },
      [](std::size_t count) { return json_response(200, {{"count", count}}); });
}

Work session(Exchange& exchange) {
  const std::string& id = exchange.captured.front();
  return look(
      exchange, [id](LeaseManager& manager) { return manager.session_paths(id); },
      [id](const SessionPaths& found) { return json_response(200, session_json(id, found)); });
}

Work restore_session(Exchange& exchange) {
  const auto body = body_of(exchange.request);
  if (!body) return refuse(body.error());
  auto as = acquire_request_from(*body);
  if (!as) return refuse(as.error());
  if (auto done = bind(exchange, as->caller); !done) return refuse(done.error());
  forbid_endless(exchange, as->ttl);
  as->caller.holder.owner.session_id = exchange.captured.front();
  Work work = ask(
      exchange, [as = *as](LeaseManager& manager) { return manager.restore_session(as); },
      [&services = exchange.services, id = exchange.captured.front()](const RestoredSession& restored) {
        return json_response(200, restored_json(id, restored, services.moment()));
      });
  work.sleeps = true;  // Each path is tried as often as the profile says.
  return work;
}

Work end_session(Exchange& exchange) {
  auto caller = caller_of(exchange);
  if (!caller) return refuse(caller.error());
  caller->holder.owner.session_id = exchange.captured.front() == "-" ? "" : exchange.captured.front();
  // A session may have other agents, whose leases are not this one's to end.
  const bool alone = exchange.request.principal.is_one_agents();
  return ask(
      exchange,
      [caller = *caller, alone](LeaseManager& manager) {
        return alone ? manager.leave_session(caller) : manager.end_session(caller);
      },
      [&services = exchange.services](const Outcomes& answer) { return render(answer, services.moment()); });
}

Work room_busy(Exchange& exchange) { return set_room(exchange, true); }
Work room_free(Exchange& exchange) { return set_room(exchange, false); }

Work gate(Exchange& exchange) {
  const auto body = body_of(exchange.request);
  if (!body) return refuse(body.error());
  auto request = gate_request_from(*body);
  if (!request) return refuse(request.error());
  if (auto done = bind(exchange, request->wanted.caller); !done) return refuse(done.error());
  if (auto made = make_keys(request->wanted.paths); !made) return refuse(made.error());
  forbid_endless(exchange, request->wanted.ttl);
  if (const auto trace = exchange.request.header("traceparent");
      request->wanted.trace.empty() && !trace.empty())
    request->wanted.trace = trace;
  Work work = ask(
      exchange, [request = *request](LeaseManager& manager) { return manager.gate(request); },
      [](const GateAnswer& answer) { return render(answer); });
  work.holder = request->wanted.caller.holder;
  return work;
}

Work blockers(Exchange& exchange) {
  return look(
      exchange, [](LeaseManager& manager) { return manager.blockers(); },
      [](const Blockers& found) {
        json::object document = blockers_json(found, Detail::all);
        add_wall(document, "at", found.wall);
        return json_response(200, document);
      });
}

Work instruct(Exchange& exchange) {
  const auto body = body_of(exchange.request);
  if (!body) return refuse(body.error());
  auto request = instruct_request_from(*body);
  if (!request) return refuse(request.error());
  request->id = exchange.captured.front();
  if (auto done = sign(exchange, request->actor); !done) return refuse(done.error());
  return ask(
      exchange, [request = *request](LeaseManager& manager) { return manager.instruct(request); },
      [&services = exchange.services](const Contention& contention) {
        return json_response(200, contention_json(contention, services.moment(), Detail::all));
      });
}

}  // namespace leasehold::daemon::handlers
