// What Prometheus sees.
#include <gtest/gtest.h>

#include "daemon_scene.h"

namespace leasehold {
namespace {

using Figures = DaemonScene;

Ran promtool(const std::vector<std::string>& arguments, const std::string& in = {}) {
  std::vector<std::string> command = {
      "/bin/sh", "-c", in.empty() ? "exec promtool \"$@\"" : "exec promtool \"$@\" < " + in, "promtool"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  StartedProgram program(command, {"PATH=/usr/bin:/bin"});
  return program.wait();
}

TEST_F(Figures, AreWhatHappened) {
  serve();
  const Reply held = acquire("ann", "/a");
  acquire("bob", "/a");
  ask("DELETE", "/v1/leases/" + id_of(held) + "?agent_id=ann&session_id=s");
  acquire("cyd", "/c");
  // What happened and what stands now are counted at two moments, both after the fact.
  ASSERT_TRUE(eventually([&] {
    const std::string body = ask("GET", "/metrics").body;
    return contains(body, "lease_endings_total{cause=\"released\"} 1") &&
           contains(body, "lease_active_leases 1");
  })) << ask("GET", "/metrics");

  const Reply figures = ask("GET", "/metrics");

  EXPECT_EQ(figures.headers.at("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  for (const char* line :
       {"lease_active_leases 1", "lease_waiters 0", "lease_active_agents 1",
        "lease_acquires_total{outcome=\"granted\"} 2", "lease_acquires_total{outcome=\"refused\"} 1",
        "lease_http_requests_total{operation=\"acquire\",status=\"409\"} 1"})
    EXPECT_TRUE(contains(figures.body, line)) << line << "\n" << figures.body;
  std::ofstream(root() + "/metrics") << figures.body;
  const Ran checked = promtool({"check", "metrics"}, root() + "/metrics");
  EXPECT_EQ(checked.exit, 0) << checked.out << checked.err;
}

TEST_F(Figures, HaveAlertRulesThatPrometheusTakes) {
  const Ran checked = promtool({"check", "rules", LEASEHOLD_ALERTS});

  EXPECT_EQ(checked.exit, 0) << checked.out << checked.err;
}

}  // namespace
}  // namespace leasehold
