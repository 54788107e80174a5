#include "daemon/rendering.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "wire/answer_json.h"
#include "wire/gate_json.h"

namespace leasehold::daemon {
namespace {

namespace json = boost::json;

void add_retry_after(Response& response, Duration wait) {
  const auto seconds = std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(wait).count());
  response.headers.emplace_back("Retry-After", std::to_string(seconds));
}

}  // namespace

Response render(const AcquireAnswer& answer, const Moment& at, int granted_status) {
  json::object document = acquire_json(answer, at);
  if (const auto* refused = std::get_if<Refused>(&answer.decision)) {
    Response response = problem({refused->code, refused->message}, std::move(document));
    if (refused->retry_after) add_retry_after(response, *refused->retry_after);
    return response;
  }
  if (const auto* granted = std::get_if<Granted>(&answer.decision)) {
    Response response = json_response(granted->replayed ? 200 : granted_status, document);
    if (granted->leases.size() == 1) {
      response.headers.emplace_back("ETag", fmt::format("\"{}\"", granted->leases.front().token.value));
      response.headers.emplace_back("Location", "/v1/leases/" + granted->leases.front().id.text);
    }
    return response;
  }
  return json_response(202, document);
}

Response render(const Outcomes& outcomes, const Moment& at) {
  return json_response(200, outcomes_json(outcomes, at));
}

Response render_one(const Outcomes& outcomes, const Moment& at) {
  json::object document = outcomes_json(outcomes, at);
  if (outcomes.outcomes.empty()) return problem({Code::not_found, "There is no such lease."});
  const Outcome& outcome = outcomes.outcomes.front();
  if (outcome.error) return problem(*outcome.error, {{"notices", document["notices"]}});
  json::object one = document["outcomes"].as_array().front().as_object();
  one["notices"] = document["notices"];
  Response response = json_response(200, one);
  if (outcome.lease) response.headers.emplace_back("ETag", fmt::format("\"{}\"", outcome.lease->token.value));
  return response;
}

Response render(const GateAnswer& answer) {
  json::object document = gate_json(answer, Detail::all);
  add_wall(document, "at", answer.wall);
  const auto* denied = std::get_if<Denied>(&answer.decision);
  if (denied == nullptr) return json_response(200, document);
  Response response = problem({denied->code, denied->message}, std::move(document));
  if (denied->code == Code::retry_later)
    add_retry_after(response, std::chrono::ceil<Duration>(denied->retry_at - answer.at));
  return response;
}

}  // namespace leasehold::daemon
