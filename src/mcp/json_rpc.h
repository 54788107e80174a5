// JSON-RPC 2.0: one message as it comes from a client, and what goes back.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <expected>
#include <string>
#include <string_view>

namespace leasehold::mcp {

namespace json = boost::json;

// Codes of JSON-RPC and of the Model Context Protocol. On the wire; never renumber.
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
inline constexpr int kResourceNotFound = -32002;  // Up to 2025-11-25.
inline constexpr int kHeaderMismatch = -32020;
inline constexpr int kUnsupportedVersion = -32022;

// A request that could not be understood or served. What a tool refuses is no fault: it is the tool's result.
struct Fault {
  int code = 0;
  std::string message;
  json::value data = nullptr;  // Null: none.
};

struct Message {
  json::value id = nullptr;  // A text or a whole number. Null: a notification, which is not answered.
  std::string method;        // Empty: an answer of the client to something we never asked, or nobody waits
                             // to hear what is wrong with it.
  json::object params;

  bool is_request() const { return !id.is_null() && !method.empty(); }
};

struct Malformed {
  json::value id = nullptr;  // As far as it could be told.
  Fault fault;
};

// Total: any bytes give a message, or what to complain about.
std::expected<Message, Malformed> read_message(std::string_view text);

json::object reply(const json::value& id, json::object result);
json::object fault_reply(const json::value& id, const Fault& fault);
json::object notification(std::string_view method, json::object params);

// A member of the kind that is wanted; null: there is none, or it is of another kind.
const json::object* object_at(const json::object& object, std::string_view name);
const json::string* text_at(const json::object& object, std::string_view name);

}  // namespace leasehold::mcp
