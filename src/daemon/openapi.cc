#include "daemon/openapi.h"

#include <algorithm>
#include <boost/json.hpp>
#include <string_view>
#include <vector>

#include "daemon/routes.h"
#include "daemon/schemas.h"
#include "util/lower_case.h"
#include "util/word_list.h"

namespace leasehold::daemon {
namespace {

namespace json = boost::json;

constexpr std::string_view kLfsType = "application/vnd.git-lfs+json";

json::object schema(std::string_view name) {
  return {{"schema", {{"$ref", "#/components/schemas/" + std::string(name)}}}};
}

// Those whose name does not say it.
struct Meaning {
  std::string_view name;
  std::string_view text;
};
constexpr Meaning kMeanings[] = {
    {"until",
     "decided: answer when the request is granted or refused, as with Prefer, for as long as wait_ms says. "
     "queued: answer at once, after the tries of a profile that tries several times."},
    {"wait_ms", "Answer when there is something new, after so long at most."},
    {"cursor", "next_cursor of the page before."},
    {"oldest", "true: the oldest events first, page by page."},
    {"dead_owners", "true: look at every owner's process, and end what the dead had."},
};

json::object parameter(std::string_view name, std::string_view place, bool required) {
  json::object described = {
      {"name", name}, {"in", place}, {"required", required}, {"schema", {{"type", "string"}}}};
  const auto* const meaning = std::ranges::find(kMeanings, name, &Meaning::name);
  if (meaning != std::end(kMeanings)) described["description"] = meaning->text;
  return described;
}

// What any route may answer: too large, a mistake in the server's settings, a commit whose answer was lost,
// ...
constexpr const char* kOtherStatus = "default";

json::object response(const Route& route, std::string_view status) {
  const bool succeeds = status < "300";
  json::object described = {{"description", succeeds                 ? "Done"
                                            : status == kOtherStatus ? "Anything else went wrong"
                                                                     : "Refused, or not possible"}};
  const bool is_lfs = route.pattern.starts_with("/lfs/");
  if (succeeds && status != "204" && !route.answer.empty()) {
    described["content"] = {{is_lfs ? kLfsType : "application/json", schema(route.answer)}};
    if (route.name == "events") {
      described["content"].as_object()["text/event-stream"] = {{"schema", {{"type", "string"}}}};
    }
  } else if (!succeeds) {
    described["content"] = is_lfs ? json::object{{kLfsType, schema("LfsProblem")}}
                                  : json::object{{kProblemType, schema("Problem")}};
  }
  return described;
}

struct Header {
  std::string_view name;
  std::string_view description;
  bool (*is_of)(const Route& route);
};
constexpr Header kHeaders[] = {
    {"If-Match", "The lease's token in quotes, as its ETag: 412 if the lease has another.", heeds_if_match},
    {"Prefer",
     "wait=SECONDS (RFC 7240): is answered when it is decided, after so long at most. With wait_ms in the "
     "body, "
     "the shorter one counts. Preference-Applied says that it was this one.",
     [](const Route& route) { return route.name == "acquire"; }},
    {"Idempotency-Key", "Asking again with the same key and request gives the same grant.",
     [](const Route& route) { return route.name == "acquire" || route.name == "upgrade_leases"; }},
    {"Last-Event-ID", "Of a stream: go on behind this event.",
     [](const Route& route) { return route.name == "events"; }},
};

json::object operation(const Route& route) {
  json::array parameters = {parameter("profile", "query", false)};
  // git-lfs names it in the path.
  if (!route.pattern.starts_with("/lfs/")) parameters.push_back(parameter("workspace", "query", false));
  for (std::size_t at = route.pattern.find('{'); at != std::string_view::npos;
       at = route.pattern.find('{', at + 1)) {
    const auto end = route.pattern.find('}', at);
    parameters.push_back(parameter(route.pattern.substr(at + 1, end - at - 1), "path", true));
  }
  for (const std::string_view name : words_of(route.parameters))
    parameters.push_back(parameter(name, "query", false));
  for (const Header& header : kHeaders) {
    if (!header.is_of(route)) continue;
    json::object described = parameter(header.name, "header", false);
    described["description"] = header.description;
    parameters.push_back(std::move(described));
  }
  json::object responses;
  for (const std::string_view status : words_of(route.statuses)) responses[status] = response(route, status);
  for (const char* status : {"400", "401", "403", "503", kOtherStatus}) {
    if (!responses.contains(status)) responses[status] = response(route, status);
  }
  // While grants are withheld.
  if (route.grants && !responses.contains("409")) responses["409"] = response(route, "409");
  json::object result = {{"operationId", route.name},
                         {"summary", route.summary},
                         {"description", "Needs the role " + std::string(word(route.needs)) + "."},
                         {"parameters", std::move(parameters)},
                         {"responses", std::move(responses)}};
  if (!route.request.empty())
    result["requestBody"] = {{"content", {{"application/json", schema(route.request)}}}};
  return result;
}

json::object plain(std::string_view summary, std::string_view type) {
  return {
      {"get",
       {{"summary", summary},
        {"security", json::array{json::object()}},
        {"responses",
         {{"200", {{"description", "Done"}, {"content", {{type, {{"schema", json::object()}}}}}}},
          {"503",
           {{"description", "Not now"}, {"content", {{"application/problem+json", schema("Problem")}}}}}}}}}};
}

}  // namespace

const std::string& openapi_document() {
  static const std::string kDocument = [] {
    json::object paths;
    for (const Route& route : routes()) {
      json::value& path = paths[route.pattern];
      if (!path.is_object()) path = json::object();
      path.as_object()[lower_case(route.method)] = operation(route);
    }
    paths["/healthz"] = plain("Whether the server runs", "application/json");
    paths["/readyz"] = plain("Whether its store answers and takes writes", "application/json");
    paths["/metrics"] = plain("Figures for Prometheus", "text/plain");
    json::object& metrics = paths["/metrics"].at("get").as_object();
    metrics.erase("security");  // As for the rest: a credential.
    metrics["responses"].as_object()["401"] = {{"description", "No credential"},
                                               {"content", {{kProblemType, schema("Problem")}}}};
    const json::object all = {
        {"openapi", "3.1.0"},
        {"info",
         {{"title", "Leasehold"},
          {"version", "1"},
          {"summary", "File leases for fleets of coding agents"},
          {"description",
           "HEAD works wherever GET does. What changes something refuses If-Match (400) where it is not a "
           "parameter."},
          {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
        {"paths", std::move(paths)},
        {"security", json::array{json::object{{"bearer", json::array()}}, json::object()}},
        {"components",
         {{"schemas", json::parse(kSchemas)},
          {"securitySchemes", {{"bearer", {{"type", "http"}, {"scheme", "bearer"}}}}}}}};
    return json::serialize(all) + "\n";
  }();
  return kDocument;
}

}  // namespace leasehold::daemon
