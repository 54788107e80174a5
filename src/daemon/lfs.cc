// Git LFS's file locking API, version 2 (docs/api/locking.md of git-lfs): what `git lfs lock`, `locks`,
// `unlock` and the check before a push ask. A lock is a lease that lasts until it is released; every other
// lease is somebody's lock, too.
#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <functional>
#include <span>

#include "daemon/board_pages.h"
#include "daemon/routes.h"
#include "leasehold/until_released.h"
#include "model/key.h"
#include "model/scope.h"
#include "wire/answer_json.h"

namespace leasehold::daemon::handlers {
namespace {

namespace json = boost::json;

constexpr std::uint64_t kLocksShown = 1'000;

Response lfs_response(int status, const json::object& document) {
  Response response = json_response(status, document);
  response.content_type = "application/vnd.git-lfs+json";
  return response;
}

// The credential says who it is; without a name of its own it stands for itself.
Caller caller_of(const Exchange& exchange) {
  const Principal& principal = exchange.request.principal;
  return {
      .holder = {.owner = {principal.agent_id.empty() ? principal.name : principal.agent_id, kLfsSession}}};
}

json::object lock_json(const LeaseId& id, const std::string& key, const Holder& holder, Time since,
                       const Moment& at) {
  json::object lock = {{"id", id.text},
                       {"path", std::string_view(key).substr(1)},
                       {"owner", {{"name", holder.owner.agent_id}}}};
  add_time(lock, "locked_at", since, at);
  lock.erase("locked_at_ms");
  return lock;
}

json::object lock_json(const Lease& lease, const Moment& at) {
  return lock_json(lease.id, lease.path, lease.holder, lease.acquired_at, at);
}

// git-lfs names files from the top of the tree.
Result<std::string> key_of(std::string_view path) { return key_from_wire("/" + std::string(path)); }

// The same for what is to be locked. Error: invalid_path (it names no file).
Result<std::string> file_key_of(std::string_view path) {
  auto key = key_of(path);
  if (key && (*key == "/" || path.ends_with('/')))
    return fail(Code::invalid_path, "path has to name a file, from the top of the tree: art/logo.psd.");
  return key;
}

std::string text_in(const json::value& body, std::string_view name) {
  const json::value* value = body.is_object() ? body.get_object().if_contains(name) : nullptr;
  return value != nullptr && value->is_string() ? std::string(std::string_view(value->get_string())) : "";
}

std::uint64_t number_in(const json::value& body, std::string_view name, std::uint64_t otherwise) {
  const json::value* value = body.is_object() ? body.get_object().if_contains(name) : nullptr;
  return value != nullptr && value->is_int64() && value->get_int64() > 0
             ? static_cast<std::uint64_t>(value->get_int64())
             : otherwise;
}

struct Page {
  std::string cursor;
  std::uint64_t limit = kLocksShown;
};

// Calls `show` for each lock of the page; the next page's cursor, or null.
json::value each_lock(const Board& board, const Page& page, const std::function<void(const Lease&)>& show) {
  const BoardRow* last = nullptr;
  std::uint64_t left = page.limit;
  for (const BoardRow& row : std::span(board.rows).subspan(rows_before(board, page.cursor))) {
    if (!row.live || row.lease.status != Status::active || !is_path(row.lease.path)) continue;
    if (left-- == 0) return json::value(cursor_of(*last));
    show(row.lease);
    last = &row;
  }
  return nullptr;
}

// As ask(), but that the answer is put with the moment.
template <class Ask, class Render>
Work ask_lfs(Exchange& exchange, Ask question, Render render, bool only_reads) {
  auto answer = std::make_shared<std::optional<std::invoke_result_t<Ask, LeaseManager&>>>();
  return {.call = [answer, &manager = exchange.manager,
                   question = std::move(question)] { answer->emplace(question(manager)); },
          .only_reads = only_reads,
          .is_long = only_reads,
          .respond = [answer, &services = exchange.services, render = std::move(render)]() -> Response {
            return **answer ? render(***answer, services.moment()) : problem((*answer)->error());
          }};
}

struct LockAnswer {
  bool is_new = false;
  json::object lock;
};

}  // namespace

Response for_git_lfs(const Response& problem) {
  boost::system::error_code failed;
  const json::value document = json::parse(problem.body, failed);
  const json::value* detail =
      failed || !document.is_object() ? nullptr : document.get_object().if_contains("detail");
  // 409 says in this protocol that there is a lock, and that is no problem document.
  Response response = lfs_response(problem.status == 409 ? 503 : problem.status,
                                   {{"message", detail == nullptr ? json::value("") : *detail}});
  response.headers = problem.headers;
  return response;
}

Work lfs_lock(Exchange& exchange) {
  const auto body = body_of(exchange.request);
  if (!body) return refuse(body.error());
  const auto key = file_key_of(text_in(*body, "path"));
  if (!key) return refuse(key.error());
  AcquireRequest request = {.caller = caller_of(exchange),
                            .paths = {{.path = *key}},
                            .ttl = kUntilReleased,
                            .reason = "git lfs lock"};
  return ask_lfs(
      exchange,
      [request, &services = exchange.services](LeaseManager& manager) -> Result<LockAnswer> {
        const Owner& owner = request.caller.holder.owner;
        // Asking again is an error in this protocol.
        const auto own = manager.leases({.paths = {request.paths.front().path},
                                         .agent_id = owner.agent_id,
                                         .session_id = owner.session_id});
        if (!own) return fail(own.error());
        const auto same = std::ranges::find(*own, request.paths.front().path, &Lease::path);
        if (same != own->end()) return LockAnswer{false, lock_json(*same, services.moment())};
        const auto answer = manager.acquire(request);
        if (!answer) return fail(answer.error());
        if (const auto* granted = std::get_if<Granted>(&answer->decision))
          return LockAnswer{true, lock_json(granted->leases.front(), services.moment())};
        const auto* refused = std::get_if<Refused>(&answer->decision);
        if (refused == nullptr || refused->blocked.empty())
          return fail(Code::unavailable, refused == nullptr ? "It has to be waited for." : refused->message);
        const Blocked& blocked = refused->blocked.front();
        return LockAnswer{false, lock_json(blocked.lease_id, blocked.held_path, blocked.holder,
                                           blocked.acquired_at, services.moment())};
      },
      [](const LockAnswer& answer, const Moment&) {
        json::object document = {{"lock", answer.lock}};
        if (!answer.is_new) document["message"] = "already locked";
        return lfs_response(answer.is_new ? 201 : 409, document);
      },
      false);
}

Work lfs_list(Exchange& exchange) {
  const Request& request = exchange.request;
  Listing listing;
  const auto path = request.parameter("path");
  if (path) {
    auto key = key_of(*path);
    if (!key) return refuse(key.error());
    listing.paths = {*std::move(key)};
  }
  const auto limit = number_from(request, "limit");
  if (!limit) return refuse(limit.error());
  const Page page = {request.parameter("cursor").value_or(""),
                     limit->value_or(0) == 0 ? kLocksShown : std::min(**limit, kLocksShown)};
  return ask_lfs(
      exchange, [listing](LeaseManager& manager) { return manager.board(listing); },
      [page, paths = listing.paths, id = request.parameter("id").value_or("")](const Board& board,
                                                                               const Moment& at) {
        json::array locks;
        const json::value next = each_lock(board, page, [&](const Lease& lease) {
          const bool is_asked =
              (id.empty() || lease.id.text == id) && (paths.empty() || lease.path == paths.front());
          if (is_asked) locks.push_back(lock_json(lease, at));
        });
        json::object document = {{"locks", std::move(locks)}};
        if (!next.is_null()) document["next_cursor"] = next;
        return lfs_response(200, document);
      },
      true);
}

Work lfs_verify(Exchange& exchange) {
  const auto body = body_of(exchange.request);
  if (!body) return refuse(body.error());
  const Page page = {text_in(*body, "cursor"), std::min(number_in(*body, "limit", kLocksShown), kLocksShown)};
  return ask_lfs(
      exchange, [](LeaseManager& manager) { return manager.board(); },
      [page, owner = caller_of(exchange).holder.owner](const Board& board, const Moment& at) {
        json::array ours;
        json::array theirs;
        const json::value next = each_lock(board, page, [&](const Lease& lease) {
          (lease.holder.owner == owner ? ours : theirs).push_back(lock_json(lease, at));
        });
        json::object document = {{"ours", std::move(ours)}, {"theirs", std::move(theirs)}};
        if (!next.is_null()) document["next_cursor"] = next;
        return lfs_response(200, document);
      },
      true);
}

Work lfs_unlock(Exchange& exchange) {
  const auto body = body_of(exchange.request);
  if (!body) return refuse(body.error());
  const json::value* forced = body->is_object() ? body->get_object().if_contains("force") : nullptr;
  // Whoever is no operator forces what is its own: git-lfs means a file that was changed, too.
  const bool is_forced = forced != nullptr && *forced == true && exchange.may(Role::op);
  const Caller caller = caller_of(exchange);
  return ask_lfs(
      exchange,
      [id = LeaseId{exchange.captured.back()}, caller, is_forced](LeaseManager& manager) -> Result<Lease> {
        const auto lease = manager.lease(id);
        if (!lease) return lease;
        const auto done = is_forced ? manager.force_release({.actor = caller.holder.owner.agent_id,
                                                             .which = {.ids = {id}},
                                                             .reason = "git lfs unlock --force"})
                                    : manager.release({.caller = caller, .which = {.ids = {id}}});
        if (!done) return fail(done.error());
        if (const auto& error = done->outcomes.front().error) return fail(*error);
        return lease;
      },
      [](const Lease& lease, const Moment& at) {
        return lfs_response(200, {{"lock", lock_json(lease, at)}});
      },
      false);
}

}  // namespace leasehold::daemon::handlers
