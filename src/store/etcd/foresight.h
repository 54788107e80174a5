// What a process has read and borrowed before it needed it: who was woken for a path that others wait for
// holds it a while, and then has to know whom to let go.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "store/etcd/transaction.h"
#include "store/json/rings.h"

namespace leasehold::etcd {

// A transaction that has read what giving back takes, and has not been run.
struct Foreseen {
  Foreseen(Shared& shared, const std::string& workspace)
      : keys(shared.prefix(), workspace), transaction(shared, keys, true, leftover) {}

  const Keys keys;
  Leftover leftover = {.may_be_old = true};
  EtcdTransaction transaction;
};

// Thread-safe. One thread reads, from the first ring on that is worth it.
class Foresight {
 public:
  explicit Foresight(Shared& shared) : shared_(shared) {}
  ~Foresight();
  Foresight(const Foresight&) = delete;
  Foresight& operator=(const Foresight&) = delete;

  // Somebody of this process was granted what others wait for.
  void look_ahead(const Ring& ring);

  // What was read for this owner, once; nothing: nothing was. Whatever an owner does makes it old.
  std::unique_ptr<Foreseen> take(const std::string& owner_area);

  void stop();

 private:
  // A turn that somebody has, and for which he will need what is read.
  struct Turn {
    std::string workspace;
    std::string path;
    Owner owner;
  };

  bool is_started();
  void serve();
  void read(const Turn& turn);

  Shared& shared_;
  std::thread thread_;
  int timer_ = -1;  // Runs out when there is something to read: nobody has to be woken until then.

  std::mutex mutex_;  // Guards what follows.
  bool stopping_ = false;
  std::vector<Turn> turns_;
  std::unordered_map<std::string, std::unique_ptr<Foreseen>> foreseen_;  // By the area of the owner.
};

}  // namespace leasehold::etcd
