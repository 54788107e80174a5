// For tests.
#pragma once

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <memory>
#include <string>

#include "mcp/server.h"

namespace leasehold::mcp {

inline constexpr std::string_view kModernMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientInfo":{"name":"ann","version":"1"},)"
    R"("io.modelcontextprotocol/clientCapabilities":{}})";

// A server with its desk, as one agent's host would start it.
class Agent {
 public:
  // `session`: as its host tells it; empty: it does not, and the server's own one counts.
  explicit Agent(const std::string& place, const std::string& session = "s1",
                 const std::string& own_session = "mcp-1")
      : desk_({.open = [this, place](bool create,
                                     bool only_managed) { return open(place, create, only_managed); },
               .place = place,
               .owner = {"", session},
               .user = "nobody",
               .session = own_session}),
        server_(desk_, {.version = "1.2.3"}) {}
  ~Agent() { server_.hang_up(); }

  Desk& desk() { return desk_; }
  Server& server() { return server_; }

  json::object ask(const std::string& text, int cancelled = -1, Notify notify = {}) {
    const auto message = read_message(text);
    EXPECT_TRUE(message) << text;
    const auto answer = server_.answer(*message, {.cancelled = cancelled, .notify = std::move(notify)});
    EXPECT_TRUE(answer) << text;
    return answer.value_or(json::object());
  }

  // In the modern era, where a request stands for itself.
  json::object ask_modern(const std::string& method, const std::string& params = "", int id = 1) {
    return ask(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method +
               R"(","params":{)" + params + (params.empty() ? "" : ",") + std::string(kModernMeta) + "}}");
  }
  json::object call(const std::string& tool, const std::string& arguments = "{}", int id = 1) {
    const json::object answer =
        ask_modern("tools/call", R"("name":")" + tool + R"(","arguments":)" + arguments, id);
    EXPECT_TRUE(answer.contains("result")) << json::serialize(answer);
    return answer.contains("result") ? answer.at("result").as_object() : json::object();
  }

 private:
  Result<OpenWorkspace*> open(const std::string& place, bool create, bool only_managed) {
    auto opened = open_workspace({.place = place, .create = create, .only_managed = only_managed});
    if (!opened) return fail(opened.error());
    workspace_ = std::move(*opened);
    return workspace_.get();
  }

  std::unique_ptr<OpenWorkspace> workspace_;
  Desk desk_;
  Server server_;
};

inline int code_of(const json::object& answer) {
  const json::object* const error = object_at(answer, "error");
  return error == nullptr ? 0 : static_cast<int>(error->at("code").as_int64());
}

inline const json::object& document(const json::object& result) {
  return result.at("structuredContent").as_object();
}

inline std::string refusal(const json::object& result) {
  if (!result.at("isError").as_bool()) return "";
  return std::string(document(result).at("error").at("code").as_string());
}

}  // namespace leasehold::mcp
