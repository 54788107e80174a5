// The C++ library's way to a server, for programs without a tree of files.
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "daemon_scene.h"
#include "leasehold/open.h"

namespace leasehold {
namespace {

using Connect = DaemonScene;

TEST_F(Connect, GivesTheCallsOfAServer) {
  serve();
  const auto client = connect("http+unix:" + socket(), {.workspace = "elsewhere"});
  ASSERT_TRUE(client) << client.error().message;
  const Caller ann = {.holder = {.owner = {"ann", "s"}}};
  const Caller bob = {.holder = {.owner = {"bob", "s"}}};

  const auto granted = (*client)->acquire({.caller = ann, .paths = {{.path = "/src/a.ts"}}});
  const auto refused = (*client)->acquire({.caller = bob, .paths = {{.path = "/src/a.ts"}}});

  ASSERT_TRUE(granted) << granted.error().message;
  const auto* grant = std::get_if<Granted>(&granted->decision);
  ASSERT_NE(grant, nullptr);
  EXPECT_EQ(grant->leases.front().workspace, "elsewhere");
  EXPECT_TRUE((*client)->check(ann, "/src/a.ts", grant->leases.front().token)->current);
  ASSERT_TRUE(refused) << refused.error().message;
  ASSERT_TRUE(std::holds_alternative<Refused>(refused->decision));
  EXPECT_EQ(std::get<Refused>(refused->decision).blocked.front().holder.owner.agent_id, "ann");
  EXPECT_TRUE((*client)->release({.caller = ann, .which = {.all = true}}));
  EXPECT_TRUE((*client)->leases()->empty());
}

TEST_F(Connect, ConnectsAgainAndSaysWhoIsNotThere) {
  serve();
  const auto client = connect("http+unix:" + socket());
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_TRUE((*client)->leases());
  stop();
  EXPECT_EQ((*client)->leases().error().code, Code::unavailable);

  serve();

  EXPECT_TRUE((*client)->leases());
}

// Says the same to everybody, as a proxy does whose server is being restarted.
class Parrot {
 public:
  Parrot(const std::string& path, std::string text) : text_(std::move(text)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    thread_ = std::thread([this] { speak(); });
  }
  Parrot(const Parrot&) = delete;
  Parrot& operator=(const Parrot&) = delete;
  ~Parrot() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }

 private:
  void speak() const {
    for (int client = 0; (client = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(client)) {
      char heard[4096];
      if (::recv(client, heard, sizeof heard, 0) > 0)
        ::send(client, text_.data(), text_.size(), MSG_NOSIGNAL);
    }
  }

  const std::string text_;
  int listener_ = -1;
  std::thread thread_;
};

TEST_F(Connect, AProxyThatDoesNotReachTheServerIsNoDamagedAnswer) {
  for (const char* body : {"<html>Bad Gateway</html>", R"({"message": "Bad Gateway"})", ""}) {
    ::unlink(socket().c_str());
    const Parrot proxy(socket(), "HTTP/1.1 502 Bad Gateway\r\nContent-Length: " +
                                     std::to_string(std::string_view(body).size()) +
                                     "\r\nConnection: close\r\n\r\n" + body);
    const auto client = connect("http+unix:" + socket());
    ASSERT_TRUE(client) << client.error().message;

    EXPECT_EQ((*client)->leases().error().code, Code::unavailable) << body;
    const Caller ann = {.holder = {.owner = {"ann", "s"}}};
    const auto unknown = (*client)->acquire({.caller = ann, .paths = {{.path = "/a"}}});
    EXPECT_EQ(unknown.error().code, Code::outcome_unknown) << body;
  }
}

// A page has ten thousand rows at most.
TEST_F(Connect, ReadsOnUntilThereIsAllThatWasAskedFor) {
  constexpr std::size_t kAll = 11'000;
  serve();
  const auto client = connect("http+unix:" + socket());
  ASSERT_TRUE(client) << client.error().message;
  for (std::size_t i = 0; i < kAll;) {
    AcquireRequest request = {.caller = {.holder = {.owner = {"agent" + std::to_string(i), "s"}}}};
    for (int of = 0; of < 1'000; ++of, ++i) request.paths.push_back({.path = "/f" + std::to_string(i)});
    ASSERT_TRUE((*client)->acquire(request));
  }

  const auto board = ask("GET", "/v1/leases?limit=1000000").json();
  EXPECT_EQ(board.at("leases").as_array().size(), 10'000u);
  EXPECT_TRUE(board.at("next_cursor").is_string());
  const auto page = ask("GET", "/v1/history?limit=0").json();
  EXPECT_EQ(page.at("events").as_array().size(), 10'000u);
  EXPECT_EQ(page.at("next_after"), page.at("events").as_array().back().at("sequence"));
  EXPECT_TRUE(ask("GET", "/v1/history?limit=5").json().at("next_after").is_null());
  const auto files = ask("GET", "/v1/files?path=/").json();
  EXPECT_EQ(files.at("leases").as_array().size(), 10'000u);
  EXPECT_TRUE(files.at("next_cursor").is_string());

  const auto leases = (*client)->leases();
  ASSERT_TRUE(leases) << leases.error().message;
  std::set<std::string> paths;
  for (const Lease& lease : *leases) paths.insert(lease.path);
  EXPECT_EQ(leases->size(), kAll);
  EXPECT_EQ(paths.size(), kAll);

  const auto all = (*client)->history({});
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), kAll);
  const auto newest = (*client)->history({.limit = 10'500});
  ASSERT_EQ(newest->size(), 10'500u);
  EXPECT_EQ(newest->back().sequence, all->back().sequence);
  EXPECT_EQ(newest->front().sequence, all->at(500).sequence);
  const auto oldest = (*client)->history({.limit = 10'500, .oldest = true});
  ASSERT_EQ(oldest->size(), 10'500u);
  EXPECT_EQ(oldest->front().sequence, all->front().sequence);
  EXPECT_EQ((*client)->history({.limit = 3})->front().sequence, all->at(kAll - 3).sequence);
}

TEST_F(Connect, TakesTheUrlOfAServerOnly) {
  for (const char* url : {"", "sqlite:/tmp/x", "redis://h", "http+unix:relative", "ftp://h", "http://",
                          "http:x", "http:/h:7420", "https:host:7420", "https:/host", "http://h?ca=%"}) {
    const auto connected = connect(url);
    ASSERT_FALSE(connected) << url;
    EXPECT_EQ(connected.error().code, Code::config_error) << url;
  }
}

TEST_F(Connect, ShowsNothingOfAWrongUrlThatMayBeSecret) {
  for (const char* url : {"http://h?token=hidden", "https:hidden@h:7420", "http://me:hidden@h:7420"}) {
    const auto connected = connect(url);
    ASSERT_FALSE(connected) << url;
    EXPECT_FALSE(connected.error().message.contains("hidden")) << connected.error().message;
  }
}

}  // namespace
}  // namespace leasehold
