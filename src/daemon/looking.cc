// Routes about what happened, what is configured, and upkeep.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "daemon/preferences.h"
#include "daemon/routes.h"
#include "util/number.h"
#include "util/rfc3339.h"
#include "wire/answer_json.h"
#include "wire/request_json.h"

namespace leasehold::daemon::handlers {
namespace {

namespace json = boost::json;

constexpr std::uint64_t kEventsShown = 1'000;

Response swept_response(const Swept& swept) {
  return json_response(200,
                       {{"ended", swept.ended}, {"dropped", swept.dropped}, {"forgotten", swept.forgotten}});
}

Response no_content(bool) { return {.status = 204, .body = {}, .headers = {}}; }

json::object events_json(const std::vector<Event>& events) {
  json::array all;
  for (const Event& event : events) all.push_back(event_json(event));
  return {{"events", std::move(all)}};
}

bool is_set(const Request& request, const std::string& name) {
  const auto value = request.parameter(name);
  return value && (*value == "true" || *value == "1" || value->empty());
}

}  // namespace

Work history(Exchange& exchange) {
  const Request& request = exchange.request;
  HistoryQuery query = {.path = request.parameter("path"), .agent_id = request.parameter("agent_id")};
  if (const auto id = request.parameter("lease_id")) query.lease_id = LeaseId{*id};
  const auto after = number_from(request, "after");
  if (!after) return refuse(after.error());
  const auto limit = number_from(request, "limit");
  if (!limit) return refuse(limit.error());
  query.after = after->value_or(0);
  // All of it is read on page by page.
  query.oldest = is_set(request, "oldest") || *limit == 0u;
  const std::uint64_t most = page_size(*limit, kEventsShown);
  query.limit = most + (query.oldest ? 1 : 0);  // One more tells whether there are more.
  if (const auto since = request.parameter("since")) {
    query.since = parse_rfc3339(*since);
    if (!query.since)
      return refuse({Code::invalid_argument, "since has to be a moment, such as 2026-11-15T08:47:11Z."});
  }
  return look_at_much(
      exchange, [query](LeaseManager& manager) { return manager.history(query); },
      [most](std::vector<Event>& events) {
        const bool has_more = events.size() > most;
        if (has_more) events.resize(most);
        json::object document = events_json(events);
        document["next_after"] = has_more ? json::value(events.back().sequence) : json::value(nullptr);
        return json_response(200, document);
      });
}

Work events(Exchange& exchange) {
  const Request& request = exchange.request;
  auto after = number_from(request, "after");
  if (!after) return refuse(after.error());
  if (accepts(request.header("accept"), "text/event-stream")) {
    EventStream stream = {.after = after->value_or(0), .is_resumed = after->has_value()};
    if (const auto last = request.header("last-event-id"); !last.empty()) {
      const auto number = parse_number<std::uint64_t>(last);
      if (!number) return refuse({Code::invalid_argument, "Last-Event-ID has to be a number."});
      stream = {.after = *number, .is_resumed = true};
    }
    return {.events = stream};
  }
  const auto wait = number_from(request, "wait_ms");
  if (!wait) return refuse(wait.error());
  auto found = std::make_shared<Result<std::vector<Event>>>();
  constexpr std::uint64_t kLongest = 3'600'000;
  return {
      .call = [found, &manager = exchange.manager,
               from = after->value_or(0)] { *found = manager.events(from); },
      .only_reads = true,
      .is_empty = [found] { return *found && (*found)->empty(); },
      .patience = Duration(std::min(wait->value_or(0), kLongest)),
      .respond =
          [found] { return *found ? json_response(200, events_json(**found)) : problem(found->error()); }};
}

Work config(Exchange& exchange) {
  return look(
      exchange, [](LeaseManager& manager) { return manager.settings(); },
      [](const std::vector<Setting>& settings) {
        json::array all;
        for (const Setting& setting : settings) all.push_back(setting_json(setting));
        return json_response(200, {{"settings", std::move(all)}});
      });
}

Work put_setting(Exchange& exchange) {
  auto body = body_of(exchange.request);
  if (!body) return refuse(body.error());
  if (body->is_object() && !body->as_object().contains("key"))
    body->as_object()["key"] = exchange.captured.front();
  auto setting = setting_from(*body);
  if (!setting) return refuse(setting.error());
  if (setting->stored_key() != exchange.captured.front() && setting->key != exchange.captured.front())
    return refuse({Code::invalid_argument, "The body is about another setting than the address."});
  return ask(
      exchange,
      [setting = *setting](LeaseManager& manager) -> Result<bool> {
        const auto done = manager.put_setting(setting);
        if (!done) return fail(done.error());
        return true;
      },
      no_content);
}

Work erase_setting(Exchange& exchange) {
  return ask(
      exchange,
      [key = exchange.captured.front()](LeaseManager& manager) -> Result<bool> {
        const auto done = manager.erase_setting(key);
        if (!done) return fail(done.error());
        return true;
      },
      no_content);
}

// By the rules alone: which of these exist, only the machine with the files can tell.
Work pairs(Exchange& exchange) {
  std::vector<std::string> paths = exchange.request.parameters("path");
  if (paths.empty()) return refuse({Code::invalid_argument, "Which file? Give path=/src/a.ts."});
  if (auto made = make_keys(paths); !made) return refuse(made.error());
  json::array all;
  for (const PairedPath& pair :
       exchange.services.pairs().expand(paths, [](const std::string&) { return true; })) {
    all.push_back(json::object{{"path", pair.path},
                               {"rule", pair.rule},
                               {"paired_with", json::array(pair.sources.begin(), pair.sources.end())}});
  }
  return answer_with(json_response(200, {{"pairs", std::move(all)}}));
}

// Each step of these commits by itself, so that others get their turn.
Work in_steps(Work work) {
  work.sleeps = true;
  return work;
}

Work sweep(Exchange& exchange) {
  return in_steps(ask(
      exchange,
      [dead = is_set(exchange.request, "dead_owners")](LeaseManager& manager) { return manager.sweep(dead); },
      swept_response));
}

Work cleanup(Exchange& exchange) {
  return in_steps(ask(exchange, [](LeaseManager& manager) { return manager.cleanup(); }, swept_response));
}

Work examine(Exchange& exchange) {
  return look_at_much(
      exchange,
      [&store = exchange.services.store(), workspace = exchange.workspace,
       repair = is_set(exchange.request, "repair")](LeaseManager&) {
        return store.examine(workspace, repair);
      },
      [](const std::vector<Defect>& defects) {
        json::array all;
        for (const Defect& defect : defects)
          all.push_back(
              json::object{{"where", defect.where}, {"what", defect.what}, {"repaired", defect.repaired}});
        return json_response(200, {{"defects", std::move(all)}});
      });
}

}  // namespace leasehold::daemon::handlers
