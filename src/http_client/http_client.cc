#include "http_client/http_client.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <iterator>
#include <set>
#include <utility>

#include "http_client/exchange.h"
#include "model/gate.h"
#include "model/may_pass.h"
#include "util/rfc3339.h"
#include "util/utf8.h"
#include "wire/read_answers.h"
#include "wire/request_json.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using http::encoded;
using http::Reply;

// A wait is cut into pieces, so that nobody in between takes a silent connection for a dead one.
constexpr Duration kLongPoll = 20s;
constexpr Duration kRetryPause = 200ms;
constexpr Duration kLookAgain = 1s;

// As many rows as a server gives at once.
constexpr std::size_t kPage = 10'000;

using SteadyTime = std::chrono::steady_clock::time_point;

std::string text_of(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(std::string_view(value->get_string())) : "";
}

// What a response says that is not a success.
Error error_of(const Reply& reply, const http::Server& server) {
  // The server speaks of HTTP. Whoever asks through us has a variable to set.
  if (reply.status == 401)
    return {Code::not_owner,
            fmt::format("The lease server at {} {}. Make one where it runs, with lease token create --agent "
                        "NAME, and set "
                        "LEASE_TOKEN to it.",
                        in_sentence(server.shown()),
                        server.has_token() ? "does not know this token (LEASE_TOKEN), or it is over"
                                           : "lets nobody in without a token")};
  const json::object* problem = reply.document.if_object();
  const std::string message = problem == nullptr ? "" : text_of(*problem, "detail");
  if (problem != nullptr) {
    if (const auto code = code_named(text_of(*problem, "code"))) return {*code, message};
  }
  const std::string said = message.empty() ? fmt::format("HTTP status {}", reply.status) : message;
  if (reply.status == 401 || reply.status == 403) return {Code::not_owner, said};
  if (reply.status == 408 || reply.status == 503) return {Code::unavailable, said};
  return {reply.status >= 500 ? Code::unavailable : Code::invalid_argument,
          fmt::format("The lease server at {} refused the request: {}", in_sentence(server.shown()), said)};
}

// A refusal comes as a problem; in an answer its message stands with its code.
json::value as_answer(json::object problem) {
  problem["error"] = {{"code", text_of(problem, "code")}, {"message", text_of(problem, "detail")}};
  return problem;
}

class Query {
 public:
  Query& add(std::string_view name, std::string_view value) {
    text_ += fmt::format("{}{}={}", text_.empty() ? "?" : "&", name, encoded(value));
    return *this;
  }
  Query& add_if(std::string_view name, const std::optional<std::string>& value) {
    return value ? add(name, *value) : *this;
  }
  Query& add_number(std::string_view name, std::uint64_t value) { return add(name, std::to_string(value)); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class RemoteClient final : public HttpClient {
 public:
  RemoteClient(std::unique_ptr<http::Server> server, HttpOptions options)
      : server_(std::move(server)), options_(std::move(options)) {}

  Result<AcquireAnswer> acquire(const AcquireRequest& request) override {
    return granting("/v1/leases", {}, request_json(completed(request)));
  }

  Result<AcquireAnswer> acquire_and_wait(const AcquireRequest& asked, int cancelled) override {
    AcquireRequest request = asked;
    if (const auto most = options_.wait_max) request.wait = std::min(request.wait.value_or(*most), *most);
    auto answer = queue(request);
    const auto* queued = answer ? std::get_if<Queued>(&answer->decision) : nullptr;
    if (queued == nullptr) return answer;
    return wait_for(request, std::move(*answer), cancelled);
  }

  Result<AcquireAnswer> poll(const Caller& caller, const GroupId& ticket) override {
    return poll_for(caller, ticket, Duration::zero(), -1, nullptr);
  }

  Result<void> cancel(const Caller& caller, const GroupId& ticket) override {
    return done(ask("POST", "/v1/tickets/" + encoded(ticket.text) + "/cancel", {}, request_json(caller)));
  }

  Result<AcquireAnswer> upgrade(const AcquireRequest& request) override {
    return granting("/v1/leases/upgrade", {}, request_json(completed(request)));
  }
  Result<Outcomes> downgrade(const ReleaseRequest& request) override {
    return outcomes("/v1/leases/downgrade", request_json(request));
  }
  Result<Outcomes> renew(const RenewRequest& request) override {
    return outcomes("/v1/leases/renew", request_json(request));
  }
  Result<Outcomes> release(const ReleaseRequest& request) override {
    return outcomes("/v1/leases/release", request_json(request));
  }
  Result<Outcomes> transfer(const TransferRequest& request) override {
    return outcomes("/v1/leases/transfer", request_json(request));
  }
  Result<Outcomes> force_release(const ForceReleaseRequest& request) override {
    return outcomes("/v1/leases/force-release", request_json(request));
  }

  Result<CheckAnswer> check(const Caller& caller, const std::string& path, Token token) override {
    return read<CheckAnswer>(ask("POST", "/v1/check", {}, request_json(CheckRequest{caller, path, token})),
                             check_answer_from);
  }

  Result<std::size_t> turn_started(const Holder& holder) override { return turn(holder, "started"); }
  Result<std::size_t> turn_stopped(const Holder& holder) override { return turn(holder, "stopped"); }

  Result<Outcomes> end_session(const Caller& caller) override {
    const std::string& id = caller.holder.owner.session_id;
    return outcomes("/v1/sessions/" + (id.empty() ? "-" : encoded(id)) + "/end", request_json(caller));
  }

  Result<SessionPaths> session_paths(const std::string& session_id) override {
    return read<SessionPaths>(ask("GET", "/v1/sessions/" + encoded(session_id)), session_paths_from);
  }

  Result<GateAnswer> gate(const GateRequest& request) override {
    GateRequest asked = request;
    asked.wanted = completed(std::move(asked.wanted));
    const auto reply = ask("POST", "/v1/gate", {}, request_json(asked));
    if (!reply) return fail(reply.error());
    const json::object* document = reply->document.if_object();
    if (document == nullptr || !document->contains("decision")) return fail(error_of(*reply, *server_));
    return gate_answer_from(reply->document);
  }

  Result<GateAnswer> gate_and_wait(const GateRequest& request, Duration at_most,
                                   const std::function<void(const GateAnswer&)>& denied,
                                   int cancelled) override {
    const SteadyTime deadline = std::chrono::steady_clock::now() + std::min<Duration>(at_most, 24h * 365);
    Code last = Code::busy;
    std::vector<Notice> told;  // By answers that nobody was shown.
    for (;;) {
      Result<GateAnswer> answer = gate(request);
      if (!answer) return answer;
      answer->notices.insert(answer->notices.begin(), told.begin(), told.end());
      const Denied* refusal = std::get_if<Denied>(&answer->decision);
      if (refusal == nullptr || is_final(*refusal)) return answer;
      if (denied && refusal->code != last) {
        denied(*answer);
        answer->notices.clear();
      }
      last = refusal->code;
      told = answer->notices;
      const SteadyTime now = std::chrono::steady_clock::now();
      if (now >= deadline) return answer;
      const auto pause = refusal->code == Code::retry_later
                             ? std::chrono::ceil<Duration>(refusal->retry_at - answer->at)
                             : kLookAgain;
      if (sleep(std::min<SteadyTime>(now + pause, deadline), cancelled)) return answer;
    }
  }

  Result<Blockers> blockers() override { return read<Blockers>(ask("GET", "/v1/blockers"), blockers_from); }
  Result<Contention> instruct(const InstructRequest& request) override {
    return read<Contention>(
        ask("POST", "/v1/blockers/" + encoded(request.id) + "/instruction", {}, request_json(request)),
        contention_from);
  }

  Result<Lease> lease(const LeaseId& id) override {
    return read<Lease>(ask("GET", "/v1/leases/" + encoded(id.text)), lease_from);
  }

  Result<Board> board(const Listing& listing) override {
    Query query;
    for (const std::string& path : listing.paths) query.add("path", path);
    query.add_if("agent_id", listing.agent_id);
    query.add_if("session_id", listing.session_id).add_if("pr_id", listing.pr_id);
    query.add_number("limit", kPage);
    Board board;
    // Where a page begins again with what the one before ended with, it is shown once.
    std::set<LeaseId> shown;
    std::string cursor;
    bool more = true;
    while (more) {
      Query asked = query;
      if (!cursor.empty()) asked.add("cursor", cursor);
      const auto reply = ask("GET", "/v1/leases", asked);
      auto page = read<Board>(reply, board_from);
      if (!page) return page;
      cursor = text_of(reply->document.get_object(), "next_cursor");
      if (cursor.empty() && shown.empty()) return page;
      board.now = page->now;
      board.wall = page->wall;
      const std::size_t before = board.rows.size();
      for (BoardRow& row : page->rows) {
        if (shown.insert(row.lease.id).second) board.rows.push_back(std::move(row));
      }
      more = !cursor.empty() && board.rows.size() > before;
    }
    return board;
  }

  Result<std::vector<Event>> history(const HistoryQuery& asked) override {
    HistoryQuery query = asked;
    query.limit = asked.limit == 0 ? kPage : std::min(asked.limit, kPage);
    // The newest of more than a page has are found by reading all.
    query.oldest = asked.oldest || asked.limit == 0 || asked.limit > kPage;
    std::vector<Event> all;
    const auto is_enough = [&] { return asked.oldest && asked.limit > 0 && all.size() >= asked.limit; };
    for (bool more = true; more && !is_enough();) {
      std::uint64_t next = 0;
      auto page = history_page(query, next);
      if (!page) return page;
      std::ranges::move(*page, std::back_inserter(all));
      more = next > query.after;
      query.after = next;
    }
    const std::size_t most = asked.limit == 0 ? all.size() : std::min(asked.limit, all.size());
    if (asked.oldest) {
      all.resize(most);
    } else {
      all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(most));
    }
    return all;
  }

  Result<std::vector<Event>> events(std::uint64_t after, Duration wait, int cancelled) override {
    const SteadyTime end = std::chrono::steady_clock::now() + std::min<Duration>(wait, 24h * 365);
    for (;;) {
      const auto left = std::chrono::ceil<Duration>(end - std::chrono::steady_clock::now());
      const Duration piece = std::clamp(left, Duration::zero(), kLongPoll);
      Query query;
      query.add_number("after", after).add_number("wait_ms", static_cast<std::uint64_t>(piece.count()));
      const auto reply = ask("GET", "/v1/events", query, {}, piece, cancelled);
      if (reply && reply->cancelled) return std::vector<Event>();
      auto found = read<std::vector<Event>>(reply, events_from);
      if (!found || !found->empty() || left <= kLongPoll) return found;
    }
  }

  Result<Swept> sweep(bool dead_owners) override {
    Query query;
    if (dead_owners) query.add("dead_owners", "true");
    return read<Swept>(ask("POST", "/v1/sweep", query), swept_from);
  }
  Result<Swept> cleanup() override { return read<Swept>(ask("POST", "/v1/cleanup"), swept_from); }

  Result<std::vector<Setting>> settings() override {
    const auto reply = ask("GET", "/v1/config");
    if (!reply) return fail(reply.error());
    const json::object* document = reply->document.if_object();
    const json::value* list = document == nullptr ? nullptr : document->if_contains("settings");
    if (reply->status != 200 || list == nullptr || !list->is_array()) return fail(error_of(*reply, *server_));
    std::vector<Setting> all;
    for (const json::value& one : list->get_array()) {
      auto setting = setting_from(one);
      if (!setting) return fail(setting.error());
      all.push_back(*std::move(setting));
    }
    return all;
  }
  Result<void> put_setting(const Setting& setting) override {
    return done(ask("PUT", "/v1/config/" + encoded(setting.stored_key()), {}, setting_json(setting)));
  }
  Result<void> erase_setting(const std::string& stored_key) override {
    return done(ask("DELETE", "/v1/config/" + encoded(stored_key)));
  }

  Result<std::vector<Defect>> examine(bool repair) override {
    Query query;
    if (repair) query.add("repair", "true");
    const auto reply = ask("POST", "/v1/examine", query, {}, 10min);
    if (!reply) return fail(reply.error());
    const json::object* document = reply->document.if_object();
    const json::value* list = document == nullptr ? nullptr : document->if_contains("defects");
    if (reply->status != 200 || list == nullptr || !list->is_array()) return fail(error_of(*reply, *server_));
    std::vector<Defect> defects;
    for (const json::value& one : list->get_array()) {
      if (!one.is_object()) continue;
      const json::value* repaired = one.get_object().if_contains("repaired");
      defects.push_back({text_of(one.get_object(), "where"), text_of(one.get_object(), "what"),
                         repaired != nullptr && *repaired == true});
    }
    return defects;
  }

  Result<void> set_room_busy(const std::string& room, bool busy) override {
    return done(ask(busy ? "PUT" : "DELETE", "/v1/rooms/" + encoded(room) + "/busy"));
  }

 private:
  // True: the caller gave up.
  static bool sleep(SteadyTime until, int cancelled) {
    pollfd gave_up = {cancelled, POLLIN, 0};
    const auto left = std::chrono::ceil<Duration>(until - std::chrono::steady_clock::now());
    ::poll(&gave_up, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000)));
    return gave_up.revents != 0;
  }

  // `next`: what the next page comes after; 0: there is none.
  Result<std::vector<Event>> history_page(const HistoryQuery& asked, std::uint64_t& next) {
    Query query;
    query.add_if("path", asked.path).add_if("agent_id", asked.agent_id).add_number("after", asked.after);
    if (asked.lease_id) query.add("lease_id", asked.lease_id->text);
    if (asked.since) query.add("since", to_rfc3339(*asked.since));
    query.add_number("limit", asked.limit);
    if (asked.oldest) query.add("oldest", "true");
    const auto reply = ask("GET", "/v1/history", query);
    auto events = read<std::vector<Event>>(reply, events_from);
    if (!events) return events;
    const json::value* const after = reply->document.get_object().if_contains("next_after");
    next = after != nullptr && after->is_int64() ? static_cast<std::uint64_t>(after->get_int64()) : 0;
    return events;
  }

  Result<Reply> ask(std::string_view method, const std::string& path, Query query = {},
                    const json::object& body = {}, Duration wait = {}, int cancelled = -1) {
    if (!options_.workspace.empty()) query.add("workspace", options_.workspace);
    if (!options_.profile.empty()) query.add("profile", options_.profile);
    return server_->ask({.method = method,
                         .target = path + query.text(),
                         .body = body.empty() ? "" : json::serialize(body),
                         .patience = wait + options_.patience,
                         .cancelled = cancelled});
  }

  template <class T>
  Result<T> read(const Result<Reply>& reply, Result<T> (*from)(const json::value&)) {
    if (!reply) return fail(reply.error());
    if (reply->status < 200 || reply->status > 299) return fail(error_of(*reply, *server_));
    auto value = from(reply->document);
    if (!value) return fail(Code::corrupt, "The server's answer cannot be read: " + value.error().message);
    return value;
  }

  Result<void> done(const Result<Reply>& reply) {
    if (!reply) return fail(reply.error());
    if (reply->status < 200 || reply->status > 299) return fail(error_of(*reply, *server_));
    return {};
  }

  Result<Outcomes> outcomes(const std::string& path, const json::object& body) {
    return read<Outcomes>(ask("POST", path, {}, body), outcomes_from);
  }

  Result<std::size_t> turn(const Holder& holder, std::string_view state) {
    json::object body = request_json(Caller{.holder = holder});
    body["state"] = state;
    const auto reply = ask("POST", "/v1/agents/" + encoded(holder.owner.agent_id) + "/turn", {}, body);
    if (!reply) return fail(reply.error());
    const json::object* document = reply->document.if_object();
    const json::value* count = document == nullptr ? nullptr : document->if_contains("count");
    if (reply->status != 200 || count == nullptr || !count->is_int64())
      return fail(error_of(*reply, *server_));
    return static_cast<std::size_t>(count->get_int64());
  }

  Result<AcquireAnswer> answer_of(const Result<Reply>& reply) {
    if (!reply) return fail(reply.error());
    if (reply->status < 300) return read<AcquireAnswer>(reply, acquire_answer_from);
    const json::object* problem = reply->document.if_object();
    if (problem == nullptr || !problem->contains("decision")) return fail(error_of(*reply, *server_));
    return acquire_answer_from(as_answer(*problem));
  }

  Result<AcquireAnswer> granting(const std::string& path, const Query& query, const json::object& body) {
    // Under some profiles the server tries several times before it answers.
    return answer_of(ask("POST", path, query, body));
  }

  Result<AcquireAnswer> poll_for(const Caller& caller, const GroupId& ticket, Duration wait, int cancelled,
                                 bool* gave_up) {
    Query query;
    if (wait > Duration::zero()) query.add_number("wait_ms", static_cast<std::uint64_t>(wait.count()));
    const auto reply = ask("POST", "/v1/tickets/" + encoded(ticket.text) + "/poll", query,
                           request_json(caller), wait, cancelled);
    if (gave_up != nullptr) *gave_up = reply && reply->cancelled;
    if (reply && reply->cancelled) return fail(Code::lost, "The caller gave up.");
    return answer_of(reply);
  }

  // A place in the queue is an answer.
  Result<AcquireAnswer> queue(const AcquireRequest& request) {
    Query until;
    until.add("until", "queued");
    return granting("/v1/leases", until, request_json(completed(request)));
  }

  AcquireRequest completed(AcquireRequest request) const {
    if (!request.ttl) request.ttl = options_.ttl;
    if (!request.max_renewals) request.max_renewals = options_.max_renewals;
    return request;
  }

  // Who waits and cannot be told any more may have been let go ahead all the same.
  static std::unexpected<Error> unheard(Error error) {
    if (error.code == Code::unavailable) {
      error.code = Code::outcome_unknown;
      error.message += " What you waited for may be yours since then; asking again is safe.";
    }
    return fail(std::move(error));
  }

  Result<AcquireAnswer> wait_for(AcquireRequest request, AcquireAnswer first, int cancelled) {
    const Caller& caller = request.caller;
    GroupId ticket;
    const SteadyTime began = std::chrono::steady_clock::now();
    Result<AcquireAnswer> answer = std::move(first);
    std::vector<Notice> told;  // By any of the answers on the way.
    bool replays = false;
    SteadyTime patience;
    for (;;) {
      bool gave_up = false;
      if (answer) {
        std::ranges::move(answer->notices, std::back_inserter(told));
        const auto* queued = std::get_if<Queued>(&answer->decision);
        if (queued == nullptr) {
          if (auto* granted = std::get_if<Granted>(&answer->decision)) granted->replayed |= replays;
          return AcquireAnswer{std::move(answer->decision), std::move(told)};
        }
        ticket = queued->ticket;
        replays |= queued->replayed;
        patience = std::chrono::steady_clock::now() + (queued->wait_until - queued->at);
      } else if (const auto left = std::chrono::floor<Duration>(patience - std::chrono::steady_clock::now());
                 answer.error().code == Code::not_found && left > Duration::zero()) {
        // The store lost its data: who waited before that wants it still, for the rest of its time.
        request.wait = left;
        answer = queue(request);
        continue;
      } else if (!may_pass(answer.error().code) || std::chrono::steady_clock::now() >= patience) {
        return unheard(std::move(answer).error());
      } else {
        gave_up = sleep(std::chrono::steady_clock::now() + kRetryPause, cancelled);
      }
      if (!gave_up) answer = poll_for(caller, ticket, kLongPoll, cancelled, &gave_up);
      if (!gave_up) continue;
      if (auto done = cancel(caller, ticket); !done) return unheard(std::move(done).error());
      const auto waited = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began);
      return AcquireAnswer{
          Refused{Code::lost, "The wait was cancelled. Nothing is held or queued.", {}, waited},
          std::move(told)};
    }
  }

  const std::unique_ptr<http::Server> server_;
  const HttpOptions options_;
};

}  // namespace

Result<std::shared_ptr<HttpClient>> open_http_client(const std::string& url, HttpOptions options) {
  auto server = http::Server::at(
      url,
      {.token = options.token, .settings = options.settings, .is_agent_guessed = options.is_agent_guessed});
  if (!server) return fail(server.error());
  return std::make_shared<RemoteClient>(*std::move(server), std::move(options));
}

}  // namespace leasehold
