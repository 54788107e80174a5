// Routes that get, keep and give back leases.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "daemon/preferences.h"
#include "daemon/rendering.h"
#include "daemon/routes.h"
#include "util/utf8.h"
#include "wire/answer_json.h"
#include "wire/request_json.h"

namespace leasehold::daemon::handlers {
namespace {

constexpr std::uint64_t kRowsShown = 1'000;

std::string unquoted(std::string_view text) {
  if (text.size() >= 2 && text.starts_with('"') && text.ends_with('"'))
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

// What the body and the headers ask for, bound to who asks.
Result<AcquireRequest> acquire_request(const Exchange& exchange) {
  const auto body = body_of(exchange.request);
  if (!body) return fail(body.error());
  auto request = acquire_request_from(*body);
  if (!request) return request;
  if (auto bound = bind(exchange, request->caller); !bound) return fail(bound.error());
  if (auto made = make_keys(request->paths); !made) return fail(made.error());
  forbid_endless(exchange, request->ttl);
  if (!exchange.request.principal.is_local) request->waiter.reset();
  if (const auto key = exchange.request.header("idempotency-key"); !key.empty())
    request->idempotency_key = unquoted(key);
  if (const auto trace = exchange.request.header("traceparent"); request->trace.empty() && !trace.empty())
    request->trace = trace;
  return request;
}

// As bind() does with who asks.
Result<void> bind_receiver(const Exchange& exchange, Holder& to) {
  if (to.owner.agent_id.empty())
    return fail(Code::invalid_argument, "to.agent_id is missing: the name of who gets it.");
  if (!exchange.request.principal.is_local) to.process.reset();
  return {};
}

template <class Request>
Result<Request> bound(const Exchange& exchange, Result<Request> (*read)(const boost::json::value&)) {
  const auto body = body_of(exchange.request);
  if (!body) return fail(body.error());
  auto request = read(*body);
  if (!request) return request;
  if (auto done = bind(exchange, request->caller); !done) return fail(done.error());
  if constexpr (requires { request->which; }) {
    if (auto made = make_keys(request->which.paths); !made) return fail(made.error());
  }
  if constexpr (requires { request->to; }) {
    if (auto done = bind_receiver(exchange, request->to); !done) return fail(done.error());
  }
  return request;
}

// Who asks about the lease of the path: from the body, or for a DELETE from the query.
template <class Request>
Result<Request> about_one(const Exchange& exchange, Result<Request> (*read)(const boost::json::value&)) {
  auto body = body_of(exchange.request);
  if (!body) return fail(body.error());
  if (!body->is_object()) return fail(Code::invalid_argument, "The body has to be one JSON object: {...}.");
  boost::json::object& object = body->as_object();
  for (const char* name : {"agent_id", "session_id"}) {
    if (const auto value = exchange.request.parameter(name)) object[name] = *value;
  }
  object["which"] = {{"ids", boost::json::array{boost::json::value(exchange.captured.front())}}};
  auto request = read(*body);
  if (!request) return request;
  if constexpr (requires { request->caller; }) {
    if (auto done = bind(exchange, request->caller); !done) return fail(done.error());
  }
  if constexpr (requires { request->to; }) {
    if (auto done = bind_receiver(exchange, request->to); !done) return fail(done.error());
  }
  if constexpr (requires { request->token; }) {
    const auto token = token_from_if_match(exchange.request);
    if (!token) return fail(token.error());
    if (*token) request->token = *token;
  }
  return request;
}

// Before `act` for calls whose requests carry no token. What changes in between is at most that the same
// owner upgrades the same lease, which draws a new one.
template <class Act>
auto if_it_matches(const Exchange& exchange, const Act& act) {
  return [id = exchange.captured.front(), token = token_from_if_match(exchange.request),
          act](LeaseManager& manager) -> decltype(act(manager)) {
    if (!token) return fail(token.error());
    if (!*token) return act(manager);
    const auto lease = manager.lease({id});
    if (!lease) return fail(lease.error());
    if (**token == lease->token) return act(manager);
    return fail(Code::stale_token,
                fmt::format("If-Match names token {}, and the lease on {} has {}. Nothing was changed.",
                            (*token)->value, in_sentence(lease->path), lease->token.value));
  };
}

auto outcomes(Exchange& exchange) {
  return
      [&services = exchange.services](const Outcomes& answer) { return render(answer, services.moment()); };
}
auto one_outcome(Exchange& exchange) {
  return [&services = exchange.services](const Outcomes& answer) {
    return render_one(answer, services.moment());
  };
}
auto grant(Exchange& exchange, int status) {
  return [&services = exchange.services, status](const AcquireAnswer& answer) {
    return render(answer, services.moment(), status);
  };
}

// The same for pages of the same listing only: no part can have a zero in it.
std::string name_of(const Exchange& exchange, const Listing& listing) {
  std::string name = exchange.workspace + '\0' + exchange.request.parameter("profile").value_or("");
  for (const auto& part : {listing.agent_id, listing.session_id, listing.pr_id})
    name += '\0' + (part ? "=" + *part : "");
  for (const std::string& path : listing.paths) name += '\0' + path;
  return name;
}

// The same where a request is asked for again under its idempotency key.
std::string name_of(const Exchange& exchange, const AcquireRequest& request) {
  if (request.idempotency_key.empty()) return {};
  const Owner& owner = request.caller.holder.owner;
  std::string name = exchange.workspace;
  for (const std::string& part : {owner.agent_id, owner.session_id, request.idempotency_key})
    name += '\0' + part;
  return name;
}

Result<void> check_giver(const Exchange& exchange, const TransferRequest& request) {
  if (exchange.may(Role::op)) return {};
  if (request.as_operator)
    return fail(Code::not_owner,
                "Only an operator moves other owners' leases. Use an operator's credential.");
  if (request.caller.holder.owner.session_id == kLfsSession) {
    return fail(
        Code::not_owner,
        "A lock of Git LFS has no end, and only an operator hands one over. Give it back with: git lfs "
        "unlock");
  }
  return {};
}

}  // namespace

Work acquire(Exchange& exchange) {
  auto request = acquire_request(exchange);
  if (!request) return refuse(request.error());
  const auto until = exchange.request.parameter("until");
  if (until && *until != "decided" && *until != "queued")
    return refuse({Code::invalid_argument, "until has to be decided or queued."});
  const auto preferred = preferred_wait(exchange.request.header("prefer"));
  // With a wait_ms, too, the shorter one counts.
  const bool applies = preferred && *preferred <= request->wait.value_or(*preferred);
  if (applies) request->wait = *preferred;
  const bool waits = preferred || until == "decided";
  const Holder holder = request->caller.holder;
  std::string name = name_of(exchange, *request);
  auto waiter = std::make_shared<Waiter>(exchange.manager, *std::move(request),
                                         waits               ? Waiter::Until::decided
                                         : until == "queued" ? Waiter::Until::queued_as_profile
                                                             : Waiter::Until::queued);
  return {
      .waiter = waiter,
      .same_as = std::move(name),
      .holder = holder,
      .respond = [waiter, preferred, applies, render = grant(exchange, 201)]() -> Response {
        const auto answer = waiter->take_answer();
        if (!answer) return problem(answer.error());
        Response response = render(*answer);
        if (applies)
          response.headers.emplace_back(
              "Preference-Applied",
              fmt::format("wait={}", std::chrono::duration_cast<std::chrono::seconds>(*preferred).count()));
        return response;
      }};
}

Work list(Exchange& exchange) {
  const Request& request = exchange.request;
  Listing listing = {.paths = request.parameters("path"),
                     .agent_id = request.parameter("agent_id"),
                     .session_id = request.parameter("session_id"),
                     .pr_id = request.parameter("pr_id")};
  if (auto made = make_keys(listing.paths); !made) return refuse(made.error());
  const auto limit = number_from(request, "limit");
  if (!limit) return refuse(limit.error());
  const BoardPages::Asked asked = {.what = name_of(exchange, listing),
                                   .cursor = request.parameter("cursor").value_or(""),
                                   .limit = page_size(*limit, kRowsShown)};
  return look_at_much(
      exchange,
      [asked, listing = std::move(listing),
       &pages = exchange.services.pages()](LeaseManager& manager) -> Result<boost::json::object> {
        if (auto page = pages.page_at_hand(asked)) return *std::move(page);
        auto board = manager.board(listing);
        if (!board) return fail(board.error());
        return pages.page(asked, *std::move(board));
      },
      [](const boost::json::object& page) { return json_response(200, page); });
}

Work get_lease(Exchange& exchange) {
  return look(
      exchange, [id = exchange.captured.front()](LeaseManager& manager) { return manager.lease({id}); },
      [&services = exchange.services](const Lease& lease) {
        Response response = json_response(200, lease_json(lease, services.moment()));
        response.headers.emplace_back("ETag", fmt::format("\"{}\"", lease.token.value));
        return response;
      });
}

Work renew(Exchange& exchange) {
  auto request = bound(exchange, renew_request_from);
  if (!request) return refuse(request.error());
  forbid_endless(exchange, request->ttl);
  return ask(
      exchange, [request = *request](LeaseManager& manager) { return manager.renew(request); },
      outcomes(exchange));
}

Work release(Exchange& exchange) {
  auto request = bound(exchange, release_request_from);
  if (!request) return refuse(request.error());
  return ask(
      exchange, [request = *request](LeaseManager& manager) { return manager.release(request); },
      outcomes(exchange));
}

Work downgrade(Exchange& exchange) {
  auto request = bound(exchange, release_request_from);
  if (!request) return refuse(request.error());
  return ask(
      exchange, [request = *request](LeaseManager& manager) { return manager.downgrade(request); },
      outcomes(exchange));
}

Work upgrade(Exchange& exchange) {
  auto request = acquire_request(exchange);
  if (!request) return refuse(request.error());
  return ask(
      exchange, [request = *request](LeaseManager& manager) { return manager.upgrade(request); },
      grant(exchange, 200));
}

Work transfer(Exchange& exchange) {
  auto request = bound(exchange, transfer_request_from);
  if (!request) return refuse(request.error());
  if (auto allowed = check_giver(exchange, *request); !allowed) return refuse(allowed.error());
  return ask(
      exchange, [request = *request](LeaseManager& manager) { return manager.transfer(request); },
      outcomes(exchange));
}

Work force_release(Exchange& exchange) {
  const auto body = body_of(exchange.request);
  if (!body) return refuse(body.error());
  auto request = force_release_request_from(*body);
  if (!request) return refuse(request.error());
  if (auto made = make_keys(request->which.paths); !made) return refuse(made.error());
  if (auto done = sign(exchange, request->actor); !done) return refuse(done.error());
  return ask(
      exchange, [request = *request](LeaseManager& manager) { return manager.force_release(request); },
      outcomes(exchange));
}

Work renew_one(Exchange& exchange) {
  auto request = about_one(exchange, renew_request_from);
  if (!request) return refuse(request.error());
  forbid_endless(exchange, request->ttl);
  return ask(
      exchange, [request = *request](LeaseManager& manager) { return manager.renew(request); },
      one_outcome(exchange));
}

Work release_one(Exchange& exchange) {
  auto request = about_one(exchange, release_request_from);
  if (!request) return refuse(request.error());
  return ask(
      exchange, [request = *request](LeaseManager& manager) { return manager.release(request); },
      one_outcome(exchange));
}

Work downgrade_one(Exchange& exchange) {
  auto request = about_one(exchange, release_request_from);
  if (!request) return refuse(request.error());
  return ask(
      exchange, [request = *request](LeaseManager& manager) { return manager.downgrade(request); },
      one_outcome(exchange));
}

Work upgrade_one(Exchange& exchange) {
  const auto request = about_one(exchange, release_request_from);
  if (!request) return refuse(request.error());
  return ask(
      exchange,
      [request = *request, id = LeaseId{exchange.captured.front()}](LeaseManager& manager) {
        return manager.upgrade_one(request.caller, id, request.token);
      },
      grant(exchange, 200));
}

Work transfer_one(Exchange& exchange) {
  auto request = about_one(exchange, transfer_request_from);
  if (!request) return refuse(request.error());
  if (auto allowed = check_giver(exchange, *request); !allowed) return refuse(allowed.error());
  return ask(exchange,
             if_it_matches(exchange,
                           [request = *request](LeaseManager& manager) { return manager.transfer(request); }),
             one_outcome(exchange));
}

Work force_release_one(Exchange& exchange) {
  auto request = about_one(exchange, force_release_request_from);
  if (!request) return refuse(request.error());
  if (auto done = sign(exchange, request->actor); !done) return refuse(done.error());
  return ask(exchange,
             if_it_matches(exchange, [request = *request](
                                         LeaseManager& manager) { return manager.force_release(request); }),
             one_outcome(exchange));
}

Work poll(Exchange& exchange) {
  const auto body = body_of(exchange.request);
  if (!body) return refuse(body.error());
  auto caller = caller_from(*body);
  if (!caller) return refuse(caller.error());
  if (auto done = bind(exchange, *caller); !done) return refuse(done.error());
  const auto wait = number_from(exchange.request, "wait_ms");
  if (!wait) return refuse(wait.error());
  constexpr std::uint64_t kLongest = 3'600'000;
  auto waiter =
      std::make_shared<Waiter>(exchange.manager, *std::move(caller), GroupId{exchange.captured.front()});
  return {.waiter = waiter,
          .keeps_place = true,
          .patience = Duration(std::min(wait->value_or(0), kLongest)),
          .respond = [waiter, render = grant(exchange, 200)]() -> Response {
            if (!waiter->answer()) return render(waiter->standing());
            const auto answer = waiter->take_answer();
            return answer ? render(*answer) : problem(answer.error());
          }};
}

Work cancel(Exchange& exchange) {
  const auto body = body_of(exchange.request);
  if (!body) return refuse(body.error());
  auto caller = caller_from(*body);
  if (!caller) return refuse(caller.error());
  if (auto done = bind(exchange, *caller); !done) return refuse(done.error());
  return ask(
      exchange,
      [caller = *caller, id = exchange.captured.front()](LeaseManager& manager) -> Result<bool> {
        const auto done = manager.cancel(caller, {id});
        if (!done) return fail(done.error());
        return true;
      },
      [](bool) { return Response{.status = 204, .body = {}, .headers = {}}; });
}

Work check(Exchange& exchange) {
  auto request = bound(exchange, check_request_from);
  if (!request) return refuse(request.error());
  // Handing over notices writes, so this is no pure look; and whoever may only look is not given others'.
  const bool only_looks = !exchange.may(Role::agent);
  return ask(
      exchange,
      [request = *request, only_looks](LeaseManager& manager) {
        return only_looks ? manager.peek(request.caller, request.path, request.token)
                          : manager.check(request.caller, request.path, request.token);
      },
      [&services = exchange.services](const CheckAnswer& answer) {
        return json_response(200, check_json(answer, services.moment()));
      });
}

}  // namespace leasehold::daemon::handlers
