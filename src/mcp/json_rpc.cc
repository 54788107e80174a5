#include "mcp/json_rpc.h"

#include <algorithm>
#include <boost/json/parse.hpp>

namespace leasehold::mcp {
namespace {

std::unexpected<Malformed> malformed(int code, std::string what, json::value id = nullptr) {
  return std::unexpected(Malformed{std::move(id), {code, std::move(what)}});
}

bool is_id(const json::value& value) { return value.is_string() || value.is_int64() || value.is_uint64(); }

// The end of the text, with its quotes, that begins at `at`.
std::size_t end_of_text(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

bool is_between(char c) { return c == ':' || c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// The id in what is not JSON, or not of a kind that is taken: a client waits for the answer to that.
json::value id_in(std::string_view text) {
  int depth = 0;
  bool is_id_next = false;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    std::size_t end = at + 1;
    if (c == '"') {
      end = end_of_text(text, at);
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      end = std::min(text.find_first_of(",}] \t\r\n", at), text.size());
    }
    const std::string_view part = text.substr(at, end - at);
    at = end;
    if (part.size() == 1 && is_between(c)) continue;
    if (is_id_next) {
      json::error_code error;
      json::value id = json::parse(part, error);
      return !error && is_id(id) ? id : nullptr;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    const std::size_t next = text.find_first_not_of(" \t\r\n", at);
    is_id_next = depth == 1 && part == "\"id\"" && next < text.size() && text[next] == ':';
  }
  return nullptr;
}

// Nobody waits for an answer to these, however wrong they are.
bool is_answered(const json::object& object) {
  if (object.contains("method")) return object.contains("id");
  return !object.contains("result") && !object.contains("error");
}

std::expected<Message, Malformed> read_object(json::object& object) {
  Message message;
  if (json::value* const id = object.if_contains("id")) {
    if (!is_id(*id)) return malformed(kInvalidRequest, "id has to be a text or a whole number.");
    message.id = *id;
  }
  const json::string* const version = text_at(object, "jsonrpc");
  if (version == nullptr || *version != "2.0") {
    return malformed(kInvalidRequest, "jsonrpc has to be \"2.0\".", message.id);
  }
  const json::value* const method = object.if_contains("method");
  if (method == nullptr && (object.contains("result") || object.contains("error"))) return message;
  if (method == nullptr || !method->is_string() || method->get_string().empty()) {
    return malformed(kInvalidRequest, "method has to be a text.", message.id);
  }
  message.method = std::string_view(method->get_string());
  if (json::value* const params = object.if_contains("params")) {
    if (!params->is_object()) return malformed(kInvalidParams, "params has to be an object.", message.id);
    message.params = std::move(params->get_object());
  }
  return message;
}

}  // namespace

std::expected<Message, Malformed> read_message(std::string_view text) {
  json::error_code error;
  json::value document = json::parse(text, error);
  if (error) return malformed(kParseError, "The message is not JSON: " + error.message() + ".", id_in(text));
  json::object* const object = document.if_object();
  if (object == nullptr) {
    return malformed(kInvalidRequest,
                     "A message has to be one JSON object: {...}. Lists of messages are not taken.");
  }

  auto message = read_object(*object);
  if (!message && !is_answered(*object)) return Message();
  return message;
}

json::object reply(const json::value& id, json::object result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

json::object fault_reply(const json::value& id, const Fault& fault) {
  json::object error = {{"code", fault.code}, {"message", fault.message}};
  if (!fault.data.is_null()) error["data"] = fault.data;
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}};
}

json::object notification(std::string_view method, json::object params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

const json::object* object_at(const json::object& object, std::string_view name) {
  const json::value* const found = object.if_contains(name);
  return found == nullptr ? nullptr : found->if_object();
}

const json::string* text_at(const json::object& object, std::string_view name) {
  const json::value* const found = object.if_contains(name);
  return found == nullptr ? nullptr : found->if_string();
}

}  // namespace leasehold::mcp
