// Stands between a client and a server on Unix sockets: sees every byte, and can cut the wire at any of them.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "support/temp_folder.h"

namespace leasehold {

class Proxy {
 public:
  // What to do with bytes on their way.
  enum class Fate { forward, cut, halve };  // halve: forward half of them, and cut.
  // `to_server`: the direction. Called by threads of the proxy, one at a time.
  using Judge = std::function<Fate(bool to_server, std::string_view bytes)>;

  explicit Proxy(std::string server_socket);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  std::string url() const { return "redis+unix://" + socket() + "?db=0"; }
  std::string socket() const { return temp_.path() + "/proxy"; }
  void judge_by(Judge judge);

 private:
  void accept_all();
  void serve(int client);

  const std::string server_socket_;
  TempFolder temp_;
  int listener_ = -1;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;  // Guards what follows.
  Judge judge_;
  std::list<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace leasehold
