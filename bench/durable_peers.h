// What a team would run instead of lease serve, each with what it answered on disk: one lease taken and given
// back.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace leasehold::bench {

// Takes and gives back one lease, on a connection of its own.
struct PeerClient {
  std::function<void()> take;
  std::function<void()> give_back;
};

struct Peer {
  std::string name;
  std::function<PeerClient(int number)> connect;
};

// Redis 7 with appendfsync always: SET NX PX, compare and delete. PostgreSQL 15: a row with its end.
// etcd 3.4, one member: a key that is created with a lease, and deleted. Their servers run until the process
// ends.
std::vector<Peer> durable_peers();

}  // namespace leasehold::bench
