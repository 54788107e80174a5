#include "mcp/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "util/utf8.h"

namespace leasehold::mcp {
namespace {

constexpr std::string_view kModern = "2026-07-28";
constexpr std::array<std::string_view, 2> kLegacy = {"2025-11-25", "2025-06-18"};  // Newest first.

constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kClientKey = "io.modelcontextprotocol/clientInfo";
constexpr std::string_view kServerKey = "io.modelcontextprotocol/serverInfo";
constexpr std::string_view kSubscriptionKey = "io.modelcontextprotocol/subscriptionId";

constexpr std::string_view kInstructions =
    "Other agents work on these files too. Before you change files, lease them with lease_acquire; give them "
    "back with lease_release when you are done. If you are refused, do something else, or call again with "
    "wait_seconds. Never write what another agent holds.";

// What does not change while the program runs. A board changes any moment.
constexpr int kConstantForMs = 3'600'000;

std::unexpected<Fault> fault(int code, std::string message, json::value data = nullptr) {
  return std::unexpected(Fault{code, std::move(message), std::move(data)});
}

json::array versions() {
  json::array all = {kModern};
  for (const std::string_view version : kLegacy) all.push_back(json::value(version));
  return all;
}

// Those that differ while the texts are made by the same function.
void add_caching(json::object& result, int ttl_ms, std::string_view scope) {
  result["ttlMs"] = ttl_ms;
  result["cacheScope"] = scope;
}

const json::object& meta_of(const Message& message) {
  static const json::object kNothing;
  const json::object* const told = object_at(message.params, "_meta");
  return told == nullptr ? kNothing : *told;
}

json::object capabilities() { return {{"tools", json::object()}, {"resources", {{"subscribe", true}}}}; }

// Why there can be nothing at such a path; nothing: there can.
std::optional<std::string> names_nothing(const std::string& path, Desk& desk) {
  const auto listing = listing_of(path, desk);
  if (listing || listing.error().code != Code::invalid_path) return std::nullopt;
  return listing.error().message;
}

std::optional<std::string> uri_of(const json::object& params) {
  const json::string* const uri = text_at(params, "uri");
  if (uri == nullptr) return std::nullopt;
  return std::string(std::string_view(*uri));
}

}  // namespace

bool is_modern(const Message& message) {
  const json::object& meta = meta_of(message);
  return message.method == "server/discover" || meta.contains(kVersionKey) ||
         meta.contains(kCapabilitiesKey) || meta.contains(kClientKey);
}

std::string_view version_of(const Message& message) {
  const json::string* const version = text_at(meta_of(message), kVersionKey);
  return version == nullptr ? std::string_view() : std::string_view(*version);
}

std::optional<Fault> missing_in(const Message& message) {
  const json::object& meta = meta_of(message);
  const json::string* const version = text_at(meta, kVersionKey);
  if (version == nullptr) return Fault{kInvalidParams, fmt::format("_meta has to have {}.", kVersionKey)};
  if (!is_modern_version(*version)) {
    return Fault{kUnsupportedVersion,
                 fmt::format("The version {} is not served this way.", in_quotes(std::string_view(*version))),
                 json::object{{"supported", versions()}, {"requested", *version}}};
  }
  if (object_at(meta, kCapabilitiesKey) == nullptr) {
    return Fault{kInvalidParams, fmt::format("_meta has to have {}.", kCapabilitiesKey)};
  }
  return std::nullopt;
}

bool is_modern_version(std::string_view version) { return version == kModern; }

bool is_legacy_version(std::string_view version) {
  return std::ranges::find(kLegacy, version) != kLegacy.end();
}

json::object progress_notification(const json::value& token, double waited, double total) {
  return notification("notifications/progress", {{"progressToken", token},
                                                 {"progress", waited},
                                                 {"total", total},
                                                 {"message", fmt::format("Waiting for {:.0f} s.", waited)}});
}

json::object updated(const std::string& uri, const json::value& subscription) {
  json::object params = {{"uri", uri}};
  if (!subscription.is_null()) params["_meta"] = json::object{{kSubscriptionKey, subscription}};
  return notification("notifications/resources/updated", std::move(params));
}

struct Server::Request {
  const Message& message;
  const json::object& params;
  const json::object& meta;
  const Exchange& exchange;
  bool is_modern = false;
  std::string agent;  // Of the client.
};

Server::Server(Desk& desk, ServerOptions options)
    : desk_(desk), options_(std::move(options)), subscriptions_(desk) {}

bool Server::may_wait(const Message& message) {
  if (message.method == "subscriptions/listen") return true;
  if (message.method != "tools/call") return false;
  const json::object* const arguments = object_at(message.params, "arguments");
  return arguments != nullptr && waits(*arguments);
}

std::optional<json::object> Server::answer(const Message& message, const Exchange& exchange) {
  if (!message.is_request()) return std::nullopt;
  auto answered = serve(message, exchange);
  if (!answered) return fault_reply(message.id, answered.error());
  return reply(message.id, *std::move(answered));
}

Server::Answer Server::serve(const Message& message, const Exchange& exchange) {
  if (message.method == "initialize" && !mcp::is_modern(message)) return initialize(message.params);
  const json::object& meta = meta_of(message);
  Request request = {message, message.params, meta, exchange};
  request.is_modern = mcp::is_modern(message);
  if (request.is_modern) {
    if (auto missing = missing_in(message)) return std::unexpected(*std::move(missing));
    if (const json::object* client = object_at(meta, kClientKey)) request.agent = agent_of(*client);
  } else {
    const std::lock_guard lock(mutex_);
    if (options_.keeps_client && !client_ && message.method != "ping") {
      return fault(kInvalidParams, fmt::format("Begin with initialize, or say {} in _meta.", kVersionKey));
    }
    request.agent = client_.value_or("");
  }

  Answer result = dispatch(request);
  if (result && request.is_modern) {
    (*result)["resultType"] = "complete";
    json::value& about = (*result)["_meta"];
    if (!about.is_object()) about = json::object();
    about.get_object()[kServerKey] = server_info();
  }
  return result;
}

Server::Answer Server::dispatch(const Request& request) {
  const std::string& method = request.message.method;
  const auto constant = [&](json::object result) -> Answer {
    if (request.is_modern) add_caching(result, kConstantForMs, "public");
    return result;
  };
  if (method == "tools/list") {
    json::array all;
    for (const Tool& tool : tools()) all.push_back(json::parse(tool.definition));
    return constant({{"tools", std::move(all)}});
  }
  if (method == "tools/call") return call(request);
  if (method == "resources/list") return constant({{"resources", resource_list()}});
  if (method == "resources/templates/list") return constant({{"resourceTemplates", resource_templates()}});
  if (method == "resources/read") return read(request);
  if (request.is_modern) {
    if (method == "server/discover") return discover();
    if (method == "subscriptions/listen") return listen(request);
  } else {
    if (method == "ping") return json::object();
    if (method == "resources/subscribe") return subscribe(request, true);
    if (method == "resources/unsubscribe") return subscribe(request, false);
  }
  return fault(kMethodNotFound, fmt::format("There is no method {} here.", in_quotes(method)));
}

json::object Server::server_info() const {
  return {{"name", "lease"}, {"title", "Leasehold"}, {"version", options_.version}};
}

Server::Answer Server::initialize(const json::object& params) {
  const json::string* const asked = text_at(params, "protocolVersion");
  if (asked == nullptr) return fault(kInvalidParams, "protocolVersion has to be a text.");
  const auto* const known = std::ranges::find(kLegacy, std::string_view(*asked));
  const json::object* const client = object_at(params, "clientInfo");
  {
    const std::lock_guard lock(mutex_);
    client_ = client == nullptr ? "" : agent_of(*client);
  }
  return json::object{{"protocolVersion", known == kLegacy.end() ? kLegacy.front() : *known},
                      {"capabilities", capabilities()},
                      {"serverInfo", server_info()},
                      {"instructions", kInstructions}};
}

Server::Answer Server::discover() const {
  json::object result = {
      {"supportedVersions", versions()}, {"capabilities", capabilities()}, {"instructions", kInstructions}};
  add_caching(result, kConstantForMs, "public");
  return result;
}

Server::Answer Server::call(const Request& request) {
  const json::string* const name = text_at(request.params, "name");
  if (name == nullptr) return fault(kInvalidParams, "name has to be a text: which tool?");
  const Tool* const tool = find_tool(*name);
  if (tool == nullptr) {
    return fault(kInvalidParams, fmt::format("There is no tool {}.", in_quotes(std::string_view(*name))));
  }
  static const json::value kNone = json::object();
  const json::value* const arguments = request.params.if_contains("arguments");
  ToolCall call = {.arguments = arguments == nullptr ? kNone : *arguments,
                   .desk = desk_,
                   .peer = peer_of(request.agent, request.meta),
                   .cancelled = request.exchange.cancelled};
  const json::value* const token = request.meta.if_contains("progressToken");
  if (token != nullptr && request.exchange.notify) {
    call.progress = [&, token](double waited, double total) {
      request.exchange.notify(progress_notification(*token, waited, total));
    };
  }
  Told told;
  json::object result = call_tool(*tool, call, told);
  desk_.forget(told.over);
  if (request.exchange.remember) {
    request.exchange.remember(std::move(told));
  } else {
    const std::lock_guard lock(mutex_);
    grants_.note(request.message.id, told);
  }
  return result;
}

Server::Answer Server::read(const Request& request) {
  const auto uri = uri_of(request.params);
  if (!uri) return fault(kInvalidParams, "uri has to be a text.");
  const auto path = path_of(*uri);
  const auto none = [&](std::string message) {
    return fault(request.is_modern ? kInvalidParams : kResourceNotFound, std::move(message),
                 json::object{{"uri", *uri}});
  };
  if (!path) return none(fmt::format("There is no resource {}.", in_quotes(*uri)));
  const auto document = read_resource(*path, desk_);
  if (!document && document.error().code == Code::invalid_path) return none(document.error().message);
  if (!document) {
    return fault(kInternalError, document.error().message,
                 json::object{{"code", info(document.error().code).name}});
  }
  json::array contents = {
      {{"uri", *uri}, {"mimeType", "application/json"}, {"text", json::serialize(*document)}}};
  json::object result = {{"contents", std::move(contents)}};
  if (request.is_modern) add_caching(result, 0, "private");
  return result;
}

Server::Answer Server::subscribe(const Request& request, bool on) {
  const auto uri = uri_of(request.params);
  const auto path = uri ? path_of(*uri) : std::nullopt;
  if (!path) return fault(kResourceNotFound, "uri has to name a resource of this server.");
  if (const auto why = names_nothing(*path, desk_))
    return fault(kResourceNotFound, *why, json::object{{"uri", *uri}});
  if (request.exchange.follow) {
    request.exchange.follow(*uri, on);
  } else if (on) {
    subscriptions_.add(*uri, request.exchange.notify);
  } else {
    subscriptions_.remove(*uri);
  }
  return json::object();
}

Server::Answer Server::listen(const Request& request) {
  const json::object* const filter = object_at(request.params, "notifications");
  std::vector<std::string> uris;
  const json::value* const asked = filter == nullptr ? nullptr : filter->if_contains("resourceSubscriptions");
  if (asked != nullptr && asked->is_array()) {
    for (const json::value& uri : asked->get_array()) {
      const auto path = uri.is_string() ? path_of(uri.get_string()) : std::nullopt;
      if (!path || names_nothing(*path, desk_)) continue;
      uris.emplace_back(std::string_view(uri.get_string()));
    }
  }
  // What was agreed to: lists never change here.
  json::object agreed;
  if (!uris.empty()) agreed["resourceSubscriptions"] = json::array(uris.begin(), uris.end());
  const json::object tag = {{kSubscriptionKey, request.message.id}};
  json::object acknowledged = notification("notifications/subscriptions/acknowledged",
                                           {{"_meta", tag}, {"notifications", std::move(agreed)}});
  if (request.exchange.follow) {
    request.exchange.notify(std::move(acknowledged));
    for (const std::string& uri : uris) request.exchange.follow(uri, true);
    return json::object{{"_meta", tag}};
  }
  Changes changes(desk_);
  request.exchange.notify(std::move(acknowledged));
  follow(
      changes, [&] { return uris; },
      [&](const std::string& uri) { request.exchange.notify(updated(uri, request.message.id)); },
      request.exchange.cancelled);
  return json::object{{"_meta", tag}};
}

void Server::give_back(const json::value& request_id) {
  std::vector<LeaseId> ids;
  {
    const std::lock_guard lock(mutex_);
    ids = grants_.give_up(request_id);
  }
  desk_.give_back(ids);
}

}  // namespace leasehold::mcp
