// What a request leaves behind in the server that answers it.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/served_world.h"

namespace leasehold::daemon {
namespace {

struct Responding : testing::Test, RunningWorld {
  Responding() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0); }
  ~Responding() override {
    for (const int end : ends) ::close(end);
  }

  Response ask(const std::string& method, const std::string& target, const std::string& body) {
    Request request;
    request.method = method;
    EXPECT_TRUE(read_target(target, request));
    request.body = body;
    Response response;
    std::unique_ptr<Teller> stream;
    run(respond(server, request, ends[0], response, stream));
    return response;
  }
  Response acquire(const std::string& path) {
    return ask("POST", "/v1/leases", R"({"agent_id":"ann","session_id":"s","paths":[")" + path + "\"]}");
  }
  // What somebody hears first who comes back with this Last-Event-ID.
  std::string first_told(const std::string& last) {
    Request request;
    request.method = "GET";
    EXPECT_TRUE(read_target("/v1/events", request));
    request.headers = {{"accept", "text/event-stream"}, {"last-event-id", last}};
    Response response;
    std::unique_ptr<Teller> stream;
    run(respond(server, request, ends[0], response, stream));
    std::string text;
    run(listen(*stream, text));
    return text;
  }
  asio::awaitable<void> listen(Teller& stream, std::string& text) {
    for (bool more = true; more && text.empty();) more = co_await stream.next(ends[0], text);
  }

  int ends[2] = {-1, -1};
};

TEST_F(Responding, MadeUpWorkspacesKeepNobodyOutWhateverIsAskedOfThem) {
  constexpr int kManagersMax = 10'000;
  const std::string wanted = R"({"agent_id":"ann","session_id":"s","paths":["/a"]})";
  ASSERT_EQ(ask("POST", "/v1/leases?workspace=held", wanted).status, 201);
  const LeaseManager* const held = services.manager("held", "")->get();
  for (int i = 0; i < kManagersMax; ++i)
    ASSERT_EQ(ask("POST", "/v1/leases?workspace=made-up-" + std::to_string(i), "x").status, 400);

  EXPECT_EQ(ask("POST", "/v1/leases?workspace=real", wanted).status, 201);
  EXPECT_EQ(services.manager("held", "")->get(), held);
}

TEST_F(Responding, WhoCameBeforeAnythingHappenedGetsASnapshotOfWhatIsForgotten) {
  ASSERT_EQ(acquire("/a").status, 201);
  EXPECT_NE(first_told("0").find("event: acquired\n"), std::string::npos);

  world.clock.advance(std::chrono::seconds(2));
  Swept swept;
  ASSERT_TRUE((*services.manager("", ""))->forget_some(std::chrono::seconds(1), swept));
  ASSERT_EQ(acquire("/b").status, 201);

  EXPECT_NE(first_told("0").find("event: snapshot\n"), std::string::npos);
}

}  // namespace
}  // namespace leasehold::daemon
