// Connections to servers that are busy.
#include "net/wire.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <thread>

#include "net/endpoint.h"
#include "support/temp_folder.h"

namespace leasehold::net {
namespace {

using namespace std::chrono_literals;

// Listens, lets one wait to be let in, and has one who does.
class FullSocket : public testing::Test {
 protected:
  FullSocket() {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, path.size());
    EXPECT_EQ(::bind(server.number(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
    EXPECT_EQ(::listen(server.number(), 0), 0);
    first = connect({.socket = path}, "it", std::chrono::steady_clock::now() + 5s);
    EXPECT_TRUE(first);
  }

  TempFolder folder;
  std::string path = folder.path() + "/socket";
  Descriptor server{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  Result<std::unique_ptr<Wire>> first;
};

TEST_F(FullSocket, IsWaitedForUntilThereIsRoom) {
  std::thread host([this] {
    std::this_thread::sleep_for(50ms);
    const Descriptor guest(::accept(server.number(), nullptr, nullptr));
    EXPECT_TRUE(guest.is_open());
  });

  const auto second = connect({.socket = path}, "it", std::chrono::steady_clock::now() + 10s);

  host.join();
  EXPECT_TRUE(second) << second.error().message;
}

TEST_F(FullSocket, IsNotWaitedForBeyondTheDeadline) {
  const auto second = connect({.socket = path}, "it", std::chrono::steady_clock::now() + 20ms);

  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::unavailable);
}

}  // namespace
}  // namespace leasehold::net
