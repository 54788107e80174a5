// Every status that the API's description promises of a route can be had from it.
#include <gtest/gtest.h>

#include <set>

#include "daemon_scene.h"

namespace leasehold {
namespace {

class Statuses : public DaemonScene {
 protected:
  // What the description says, as "operation status".
  std::set<std::string> promised() const {
    std::set<std::string> all;
    const auto document = ask("GET", "/openapi.json").json();
    for (const auto& path : document.at("paths").as_object()) {
      for (const auto& method : path.value().as_object()) {
        const auto& operation = method.value().as_object();
        if (!operation.contains("operationId")) continue;
        for (const auto& response : operation.at("responses").as_object()) {
          if (response.key() == "default") continue;  // Any other.
          all.insert(std::string(operation.at("operationId").as_string()) + " " +
                     std::string(response.key()));
        }
      }
    }
    return all;
  }

  // Asks, and notes what came of it.
  Reply have(const std::string& operation, int status, const std::string& method, const std::string& target,
             const std::string& body = {}, const std::string& headers = {}) {
    const Reply reply = ask(method, target, body, headers);
    EXPECT_EQ(reply.status, status) << operation << ": " << method << " " << target << " " << body << "\n"
                                    << reply;
    had_.insert(operation + " " + std::to_string(reply.status));
    return reply;
  }
  Reply post(const std::string& operation, int status, const std::string& target, const std::string& body,
             const std::string& headers = {}) {
    return have(operation, status, "POST", "/v1/" + target, body, headers);
  }

  static std::string who(const std::string& agent, const std::string& more = {}) {
    return R"({"agent_id":")" + agent + R"(","session_id":"s")" + (more.empty() ? "" : "," + more) + "}";
  }
  static std::string wants(const std::string& agent, const std::string& path, const std::string& more = {}) {
    return who(agent, R"("paths":[")" + path + "\"]" + (more.empty() ? "" : "," + more));
  }
  std::string held(const std::string& agent, const std::string& path, const std::string& more = {}) {
    return id_of(post("acquire", 201, "leases", wants(agent, path, more)));
  }
  std::string ticket(const std::string& agent, const std::string& path, const std::string& more) {
    const Reply queued = post("acquire", 202, "leases", wants(agent, path, more));
    return std::string(queued.json().at("ticket").as_string());
  }
  static std::string too_many() {
    std::string paths;
    for (int i = 0; i < 1'001; ++i) paths += (i == 0 ? "\"/" : ",\"/") + std::to_string(i) + "\"";
    return R"("paths":[)" + paths + "]";
  }

  std::set<std::string> had_;
};

TEST_F(Statuses, WhatIsPromisedCanBeHad) {
  auto variables = environment("operator");
  variables.push_back("LEASE_TOKENS=" + root() + "/tokens.json");
  const Ran made = run_lease({"token", "create", "--role", "operator"},
                             {.environment = variables, .out = {}, .cwd = root(), .in = {}});
  const std::string token = "Authorization: Bearer " + made.out.substr(0, made.out.find('\n')) + "\r\n";
  serve({"--set", "gate_retry=50ms"}, true);

  // What every route can say.
  const auto document = ask("GET", "/openapi.json").json();
  for (const auto& path : document.at("paths").as_object()) {
    for (const auto& method : path.value().as_object()) {
      const auto& described = method.value().as_object();
      if (!described.contains("operationId")) continue;
      const std::string operation(described.at("operationId").as_string());
      std::string name = method.key();
      for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      std::string target = path.key();
      for (auto at = target.find('{'); at != std::string::npos; at = target.find('{'))
        target.replace(at, target.find('}') - at + 1, "none");
      // Git LFS's have the workspace elsewhere.
      if (!target.starts_with("/lfs/"))
        have(operation, 400, name, target + "?workspace=" + std::string(300, 'x'));
      have(operation, 503, name, target, {}, "Lease-Settings: others\r\n");
      EXPECT_EQ(Line(port()).ask(name, target).status, 401) << operation;
      EXPECT_EQ(Line(port()).ask(name, target, {}, token + "Origin: http://elsewhere\r\n").status, 403)
          << operation;
      had_.insert({operation + " 401", operation + " 403"});
    }
  }

  // Getting.
  const std::string key = "Idempotency-Key: \"k\"\r\n";
  post("acquire", 201, "leases", wants("ann", "/keyed"), key);
  post("acquire", 200, "leases", wants("ann", "/keyed"), key);
  post("release_leases", 200, "leases/release", who("ann", R"("which":{"paths":["/keyed"]})"));
  post("acquire", 410, "leases", wants("ann", "/keyed"), key);
  const std::string lease = held("ann", "/a");
  post("acquire", 409, "leases", wants("bob", "/a"));
  post("acquire", 408, "leases", wants("bob", "/a"), "Prefer: wait=1\r\n");
  post("acquire", 422, "leases", who("ann", too_many()));
  have("put_setting", 204, "PUT", "/v1/config/rate_limit_calls",
       R"({"value":"1","type":"int","scope":"profile","resource":"session"})");
  have("erase_setting", 204, "DELETE", "/v1/config/rate_limit_calls@profile:session");
  for (int i = 0; i <= 60; ++i) {
    const Reply reply = ask("POST", "/v1/leases?profile=session", wants("eve", "/often"));
    if (reply.status == 429) had_.insert("acquire 429");
  }
  std::string paths;
  for (int i = 0; i < 1'001; ++i) paths += "&path=/" + std::to_string(i);
  have("list_leases", 422, "GET", "/v1/leases?limit=1" + paths);
  have("list_leases", 200, "GET", "/v1/leases");

  // One lease.
  have("get_lease", 200, "GET", "/v1/leases/" + lease);
  have("get_lease", 404, "GET", "/v1/leases/none");
  const std::string old_token = "If-Match: \"1\"\r\n";
  for (const auto& [operation, verb, body] :
       {std::tuple("renew_lease", "renew", ""), std::tuple("release_lease", "release", ""),
        std::tuple("downgrade_lease", "downgrade", ""),
        std::tuple("transfer_lease", "transfer", R"("to":{"agent_id":"cyd"})")}) {
    const std::string target = "leases/" + lease + "/" + verb;
    post(operation, 403, target, who("bob", body));
    post(operation, 404, std::string("leases/none/") + verb, who("ann", body));
    post(operation, 412, target, who("ann", body), old_token);
  }
  post("upgrade_lease", 412, "leases/" + lease + "/upgrade", who("ann"), old_token);
  post("force_release_lease", 412, "leases/" + lease + "/force-release", R"({"reason":"r"})", old_token);
  have("delete_lease", 403, "DELETE", "/v1/leases/" + lease + "?agent_id=bob&session_id=s");
  have("delete_lease", 404, "DELETE", "/v1/leases/none?agent_id=ann&session_id=s");
  have("delete_lease", 412, "DELETE", "/v1/leases/" + lease + "?agent_id=ann&session_id=s", {}, old_token);
  post("renew_lease", 200, "leases/" + lease + "/renew", who("ann"));
  const std::string counted = held("ann", "/counted", R"("max_renewals":0)");
  post("renew_lease", 409, "leases/" + counted + "/renew", who("ann"));
  post("downgrade_lease", 200, "leases/" + lease + "/downgrade", who("ann"));
  post("upgrade_lease", 200, "leases/" + lease + "/upgrade", who("ann"));
  post("upgrade_lease", 404, "leases/none/upgrade", who("ann"));
  post("upgrade_leases", 404, "leases/upgrade", wants("ann", "/none"));
  post("downgrade_lease", 200, "leases/" + lease + "/downgrade", who("ann"));
  held("bob", "/a", R"("mode":"shared")");
  post("upgrade_lease", 409, "leases/" + lease + "/upgrade", who("ann"));
  post("upgrade_leases", 409, "leases/upgrade", wants("ann", "/a"));
  post("upgrade_leases", 202, "leases/upgrade", wants("ann", "/a", R"("wait_ms":60000)"));
  post("upgrade_leases", 422, "leases/upgrade", who("ann", too_many()));
  post("release_leases", 200, "leases/release", who("bob", R"("which":{"all":true})"));
  post("upgrade_leases", 200, "leases/upgrade", wants("ann", "/a"));
  post("renew_leases", 200, "leases/renew", who("ann", R"("which":{"all":true})"));
  post("downgrade_leases", 200, "leases/downgrade", who("ann", R"("which":{"all":true})"));
  post("transfer_lease", 200, "leases/" + counted + "/transfer", who("ann", R"("to":{"agent_id":"cyd"})"));
  for (const char* verb : {"renew", "downgrade", "transfer", "upgrade"}) {
    const std::string body = std::string_view(verb) == "transfer" ? R"("to":{"agent_id":"dan"})" : "";
    post(std::string(verb) + "_lease", 410, "leases/" + counted + "/" + verb, who("ann", body));
  }
  post("transfer_leases", 200, "leases/transfer",
       who("ann", R"("which":{"all":true},"to":{"agent_id":"cyd"})"));
  std::string ids;
  for (int i = 0; i < 1'001; ++i) ids += (i == 0 ? "\"/" : ",\"/") + std::to_string(i) + "\"";
  post("transfer_leases", 422, "leases/transfer",
       who("ann", R"("which":{"paths":[)" + ids + R"(]},"to":{"agent_id":"cyd"})"));
  post("force_release_lease", 404, "leases/none/force-release", R"({"reason":"r"})");
  post("force_release_lease", 200, "leases/" + lease + "/force-release", R"({"reason":"r"})");
  post("force_release_leases", 200, "leases/force-release", R"({"which":{"all":true},"reason":"r"})");
  const std::string last = held("ann", "/last");
  post("release_lease", 200, "leases/" + last + "/release", who("ann"));
  have("delete_lease", 200, "DELETE", "/v1/leases/" + last + "?agent_id=ann&session_id=s");

  // Waiting.
  held("ann", "/w");
  const std::string waiting = ticket("bob", "/w", R"("wait_ms":60000)");
  post("poll_ticket", 202, "tickets/" + waiting + "/poll", who("bob"));
  post("poll_ticket", 403, "tickets/" + waiting + "/poll", who("eve"));
  post("cancel_ticket", 403, "tickets/" + waiting + "/cancel", who("eve"));
  post("poll_ticket", 404, "tickets/none/poll", who("bob"));
  post("cancel_ticket", 404, "tickets/none/cancel", who("bob"));
  post("cancel_ticket", 204, "tickets/" + waiting + "/cancel", who("bob"));
  const std::string brief = ticket("bob", "/w", R"("wait_ms":1)");
  post("poll_ticket", 408, "tickets/" + brief + "/poll?wait_ms=1000", who("bob"));
  const std::string lucky = ticket("bob", "/w", R"("wait_ms":60000)");
  post("release_leases", 200, "leases/release", who("ann", R"("which":{"paths":["/w"]})"));
  post("poll_ticket", 200, "tickets/" + lucky + "/poll", who("bob"));
  post("release_leases", 200, "leases/release", who("bob", R"("which":{"paths":["/w"]})"));
  post("poll_ticket", 410, "tickets/" + lucky + "/poll", who("bob"));

  held("cyd", "/c");
  held("dan", "/d");
  const std::string closed = ticket("ann", "/c", R"("wait_ms":60000)");
  ticket("cyd", "/d", R"("wait_ms":60000)");
  post("transfer_leases", 200, "leases/transfer",
       who("dan", R"("which":{"paths":["/d"]},"to":{"agent_id":"ann","session_id":"s"})"));
  post("poll_ticket", 409, "tickets/" + closed + "/poll", who("ann"));
  held("ann", "/u", R"("mode":"shared")");
  const std::string other_key = "Idempotency-Key: \"u\"\r\n";
  post("upgrade_leases", 200, "leases/upgrade", wants("ann", "/u"), other_key);
  post("release_leases", 200, "leases/release", who("ann", R"("which":{"paths":["/u"]})"));
  post("upgrade_leases", 410, "leases/upgrade", wants("ann", "/u"), other_key);

  // At the gate.
  held("ann", "/g");
  post("gate", 200, "gate", wants("ann", "/g"));
  post("gate", 409, "gate", wants("bob", "/g"));
  post("gate", 422, "gate", who("bob", too_many()));
  EXPECT_TRUE(eventually([&] { return ask("POST", "/v1/gate", wants("bob", "/g")).status == 423; }));
  post("gate", 423, "gate", wants("bob", "/g"));
  const auto blockers = have("list_blockers", 200, "GET", "/v1/blockers").json();
  const std::string id(blockers.at("blockers").at(0).at("id").as_string());
  post("instruct", 404, "blockers/none/instruction", R"({"instruction":"retry","reason":"r"})");
  post("instruct", 200, "blockers/" + id + "/instruction", R"({"instruction":"force","reason":"r"})");
  post("gate", 410, "gate", wants("ann", "/g"));

  // The rest.
  post("check_token", 200, "check", who("ann", R"("path":"/g","token":1)"));
  have("get_file", 200, "GET", "/v1/files?path=/g");
  have("list_agents", 200, "GET", "/v1/agents");
  post("report_turn", 200, "agents/ann/turn", R"({"session_id":"s","state":"stopped"})");
  have("get_session", 200, "GET", "/v1/sessions/s");
  post("restore_session", 200, "sessions/s/restore", who("ann"));
  post("end_session", 200, "sessions/s/end", who("ann"));
  have("set_room_busy", 204, "PUT", "/v1/rooms/r/busy");
  have("set_room_free", 204, "DELETE", "/v1/rooms/r/busy");
  have("history", 200, "GET", "/v1/history");
  have("events", 200, "GET", "/v1/events?after=0");
  have("list_settings", 200, "GET", "/v1/config");
  have("pairs", 200, "GET", "/v1/pairs?path=/src/a.ts");
  post("sweep", 200, "sweep", {});
  post("cleanup", 200, "cleanup", {});
  post("examine", 200, "examine", {});

  // For git-lfs.
  have("lfs_lock", 201, "POST", "/lfs/w/locks", R"({"path":"a"})");
  have("lfs_lock", 409, "POST", "/lfs/w/locks", R"({"path":"a"})");
  have("lfs_lock", 400, "POST", "/lfs/w/locks", R"({"path":"../a"})");
  const auto locks = have("lfs_list", 200, "GET", "/lfs/w/locks").json();
  const std::string lock = "/lfs/w/locks/" + std::string(locks.at("locks").at(0).at("id").as_string());
  have("lfs_list", 400, "GET", "/lfs/w/locks?path=..");
  have("lfs_verify", 200, "POST", "/lfs/w/locks/verify", "{}");
  have("lfs_verify", 400, "POST", "/lfs/w/locks/verify", "{");
  const std::string anothers = id_of(ask("POST", "/v1/leases?workspace=w", wants("zoe", "/z")));
  have("lfs_unlock", 400, "POST", lock + "/unlock", "{");
  have("lfs_unlock", 403, "POST", "/lfs/w/locks/" + anothers + "/unlock", "{}");
  have("lfs_unlock", 404, "POST", "/lfs/w/locks/none/unlock", "{}");
  have("lfs_unlock", 200, "POST", lock + "/unlock", "{}");

  // When the store has lost something.
  ASSERT_TRUE(eventually([&] { return contains(ask("GET", "/v1/config").body, "served_highest_token"); }));
  stop();
  std::filesystem::rename(root() + "/.leasehold", root() + "/.lost");
  serve();
  post("transfer_lease", 409, "leases/none/transfer", who("ann", R"("to":{"agent_id":"cyd"})"));
  post("transfer_leases", 409, "leases/transfer",
       who("ann", R"("which":{"all":true},"to":{"agent_id":"cyd"})"));
  post("restore_session", 409, "sessions/s/restore", who("ann"));
  const Reply withheld = have("lfs_lock", 503, "POST", "/lfs/w/locks", R"({"path":"a"})");
  EXPECT_TRUE(contains(withheld.body, "\"message\":\"The store has lost leases")) << withheld;
  post("instruct", 409, "blockers/none/instruction", R"({"instruction":"retry","reason":"r"})");

  for (const std::string& one : promised()) EXPECT_TRUE(had_.contains(one)) << one << " is promised";
}

}  // namespace
}  // namespace leasehold
