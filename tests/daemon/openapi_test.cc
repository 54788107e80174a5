// The description of the API against the API.
#include <gtest/gtest.h>

#include <map>

#include "daemon_scene.h"
#include "support/raw_sqlite.h"

namespace leasehold {
namespace {

class Description : public DaemonScene {
 protected:
  std::string token(const std::string& role) const {
    auto variables = environment("operator");
    variables.push_back("LEASE_TOKENS=" + root() + "/tokens.json");
    const Ran ran = run_lease({"token", "create", "--role", role},
                              {.environment = variables, .out = {}, .cwd = root(), .in = {}});
    return "Authorization: Bearer " + ran.out.substr(0, ran.out.find('\n')) + "\r\n";
  }

  struct Operation {
    std::string method;
    std::string target;
    boost::json::object description;
  };
  std::vector<Operation> operations() const {
    std::vector<Operation> all;
    const auto document = ask("GET", "/openapi.json").json();
    for (const auto& path : document.at("paths").as_object()) {
      std::string target = path.key();
      if (!target.starts_with("/v1/")) continue;
      if (const auto at = target.find('{'); at != std::string::npos)
        target.replace(at, target.find('}') - at + 1, "none");
      for (const auto& method : path.value().as_object()) {
        std::string name = method.key();
        for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        all.push_back({name, target, method.value().as_object()});
      }
    }
    return all;
  }
};

void collect_refs(const boost::json::value& value, std::vector<std::string>& refs) {
  if (value.is_object()) {
    for (const auto& member : value.get_object()) {
      if (member.key() == "$ref") refs.emplace_back(member.value().as_string());
      collect_refs(member.value(), refs);
    }
  } else if (value.is_array()) {
    for (const auto& one : value.get_array()) collect_refs(one, refs);
  }
}

TEST_F(Description, LeadsNowhereThatIsNot) {
  serve();
  const auto document = ask("GET", "/openapi.json").json();
  ASSERT_EQ(document.at("openapi"), "3.1.0");
  std::vector<std::string> refs;
  collect_refs(document, refs);
  ASSERT_FALSE(refs.empty());
  const auto& schemas = document.at("components").at("schemas").as_object();
  for (const std::string& ref : refs) {
    const std::string prefix = "#/components/schemas/";
    ASSERT_TRUE(ref.starts_with(prefix)) << ref;
    EXPECT_TRUE(schemas.contains(ref.substr(prefix.size()))) << ref;
  }
}

TEST_F(Description, HasWhatIsEasilyForgotten) {
  serve();
  const auto paths = ask("GET", "/openapi.json").json().at("paths").as_object();
  const auto parameters_of = [&](const char* path, const char* method) {
    std::map<std::string, bool> described;
    for (const auto& one : paths.at(path).at(method).at("parameters").as_array())
      described[std::string(one.at("name").as_string())] = one.as_object().contains("description");
    return described;
  };

  EXPECT_TRUE(parameters_of("/v1/events", "get").contains("wait_ms"));
  EXPECT_TRUE(parameters_of("/v1/leases", "post").at("until"));
  EXPECT_TRUE(paths.at("/metrics").at("get").at("responses").as_object().contains("401"));
  for (const auto& one : paths.at("/lfs/{workspace}/locks").at("get").at("parameters").as_array())
    EXPECT_FALSE(one.at("name") == "workspace" && one.at("in") == "query") << "the path's counts";
}

TEST_F(Description, SaysOfEveryRouteWhatAnyMayAnswer) {
  serve();
  acquire("ann", "/a");
  ASSERT_EQ(run_sql(root() + "/.leasehold/leases.db", "UPDATE leases SET mode = 'none'"), "");

  const Reply damaged = ask("GET", "/v1/leases");

  EXPECT_EQ(damaged.status, 500) << damaged;
  EXPECT_EQ(damaged.code(), "corrupt") << damaged;
  for (const Operation& one : operations()) {
    const auto& other = one.description.at("responses").at("default").at("content").as_object();
    EXPECT_TRUE(other.contains("application/problem+json")) << one.method << " " << one.target;
  }
}

TEST_F(Description, EveryRouteIsThereAndItsDoorIsShut) {
  const std::string eye = token("read-only");
  serve({}, true);
  const auto all = operations();
  ASSERT_GT(all.size(), 30u);
  for (const Operation& one : all) {
    const std::string name = one.method + " " + one.target;
    const bool only_looks = contains(std::string(one.description.at("description").as_string()), "read-only");
    EXPECT_EQ(Line(port()).ask(one.method, one.target).status, 401) << name;
    const Reply seen = Line(port()).ask(one.method, one.target, {}, eye);
    EXPECT_EQ(seen.status == 403 && seen.code() == "forbidden", !only_looks) << name << " " << seen;
    EXPECT_NE(ask(one.method, one.target).code(), "no_such_route") << name;
    EXPECT_EQ(ask(one.method, one.target + "?workspace=" + std::string(300, 'x')).status, 400) << name;
    if (one.description.contains("requestBody")) {
      EXPECT_EQ(ask(one.method, one.target, "{").status, 400) << name;
      EXPECT_EQ(ask(one.method, one.target, R"({"nonsense":1})").status, 400) << name;
    }
  }
}

TEST_F(Description, WhateverIsAnsweredIsDescribed) {
  serve();
  for (const Operation& one : operations()) {
    for (const char* body : {"", "{}", R"({"agent_id":"ann","session_id":"s","paths":["/a"]})",
                             R"({"agent_id":"ann","which":{"all":true},"reason":"r"})"}) {
      const Reply reply = ask(one.method, one.target, one.method == "GET" ? "" : body);
      EXPECT_TRUE(one.description.at("responses").as_object().contains(std::to_string(reply.status)))
          << one.method << " " << one.target << " " << body << ": " << reply;
      if (reply.status >= 400) {
        const bool is_lfs = one.target.starts_with("/lfs/");
        const std::string type = is_lfs ? "application/vnd.git-lfs+json" : "application/problem+json";
        EXPECT_EQ(reply.headers.at("content-type"), type);
        EXPECT_EQ(reply.json().contains(is_lfs ? "message" : "detail"), true) << reply;
        EXPECT_TRUE(one.description.at("responses")
                        .at(std::to_string(reply.status))
                        .at("content")
                        .as_object()
                        .contains(type));
      }
    }
  }
}

}  // namespace
}  // namespace leasehold
