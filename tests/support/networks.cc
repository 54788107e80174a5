#include "support/networks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace leasehold {
namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "networks: %s: %s\n", why.c_str(), std::strerror(errno));
  std::abort();
}

void run(const std::string& command) {
  if (std::system(command.c_str()) != 0) give_up(command);  // NOLINT(concurrency-mt-unsafe)
}

int this_network() {
  const int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  if (fd < 0) give_up("cannot open a network namespace");
  return fd;
}

void go_to(int fd) {
  if (setns(fd, CLONE_NEWNET) != 0) give_up("cannot enter a network namespace");
}

// Who is not root becomes so in a namespace of users first.
void leave() {
  if (geteuid() == 0) {
    if (unshare(CLONE_NEWNET) != 0) give_up("cannot make a network namespace");
    return;
  }
  const uid_t user = geteuid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) give_up("cannot make namespaces");
  std::ofstream("/proc/self/uid_map") << "0 " << user << " 1\n";
}

}  // namespace

Networks::Networks(int count) {
  leave();
  run("ip link set lo up");
  std::ofstream("/proc/sys/net/ipv4/ip_forward") << "1\n";
  const int here = this_network();
  for (int i = 0; i < count; ++i) {
    if (unshare(CLONE_NEWNET) != 0) give_up("cannot make a network namespace");
    namespaces_.push_back(this_network());
    go_to(here);
    run(
        fmt::format("ip link add to{0} type veth peer name eth0 netns /proc/{1}/fd/{2} && "
                    "ip addr add 10.77.{0}.1/24 dev to{0} && ip link set to{0} up",
                    i, getpid(), namespaces_.back()));
    go_to(namespaces_.back());
    run(
        fmt::format("ip link set lo up && ip addr add 10.77.{0}.2/24 dev eth0 && ip link set eth0 up && "
                    "ip route add default via 10.77.{0}.1",
                    i));
    go_to(here);
  }
  close(here);
}

Networks::~Networks() {
  for (const int fd : namespaces_) close(fd);
}

std::string Networks::host(int network) { return fmt::format("10.77.{}.2", network); }

void Networks::enter(int network) const { go_to(namespaces_[static_cast<std::size_t>(network)]); }

// What is for this host itself was found in an earlier table; the rest of what comes from there is dropped.
void Networks::cut_off(int network) {
  run(fmt::format("ip rule add iif to{} priority {} blackhole", network, 100 + network));
}

void Networks::join_again(int network) { run(fmt::format("ip rule del priority {}", 100 + network)); }

}  // namespace leasehold
