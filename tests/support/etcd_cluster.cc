#include "support/etcd_cluster.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "support/redis_server.h"
#include "util/read_file.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "etcd: %s\n", why.c_str());
  std::abort();
}

}  // namespace

EtcdCluster::EtcdCluster(int members, std::vector<std::string> settings, const Networks* networks)
    : settings_(std::move(settings)), networks_(networks) {
  for (int i = 0; i < members; ++i) {
    members_.push_back({.client_port = RedisServer::free_port(),
                        .peer_port = RedisServer::free_port(),
                        .metrics_port = RedisServer::free_port()});
    if (networks_ != nullptr) members_.back().host = Networks::host(i);
  }
  for (int i = 0; i < members; ++i) start(i);
  for (int i = 0; i < members; ++i) wait_until_ready(i);
}

EtcdCluster::~EtcdCluster() {
  for (int i = 0; i < size(); ++i) {
    if (members_[static_cast<std::size_t>(i)].pid > 0) kill_hard(i);
  }
}

std::string EtcdCluster::endpoint(int member) const {
  const Member& one = members_[static_cast<std::size_t>(member)];
  return fmt::format("{}:{}", one.host, one.client_port);
}

std::string EtcdCluster::url(const std::string& prefix) const {
  std::string all;
  for (int i = 0; i < size(); ++i) all += (i > 0 ? "," : "") + endpoint(i);
  return fmt::format("etcd://{}/{}", all, prefix);
}

std::string EtcdCluster::url_of(int member, const std::string& prefix) const {
  return fmt::format("etcd://{}/{}", endpoint(member), prefix);
}

std::string EtcdCluster::log(int member) const { return fmt::format("{}/m{}.log", folder(), member); }

void EtcdCluster::start(int member) {
  Member& one = members_[static_cast<std::size_t>(member)];
  std::string all;
  for (int i = 0; i < size(); ++i) {
    const Member& other = members_[static_cast<std::size_t>(i)];
    all += fmt::format("{}m{}=http://{}:{}", i > 0 ? "," : "", i, other.host, other.peer_port);
  }
  const bool has_tls = std::ranges::find(settings_, "--cert-file") != settings_.end();
  const std::string client = fmt::format("{}://{}:{}", has_tls ? "https" : "http", one.host, one.client_port);
  const std::string peer = fmt::format("http://{}:{}", one.host, one.peer_port);
  std::vector<std::string> words = {"etcd",
                                    "--name",
                                    fmt::format("m{}", member),
                                    "--data-dir",
                                    fmt::format("{}/m{}", folder(), member),
                                    "--listen-client-urls",
                                    client,
                                    "--advertise-client-urls",
                                    client,
                                    "--listen-peer-urls",
                                    peer,
                                    "--initial-advertise-peer-urls",
                                    peer,
                                    "--listen-metrics-urls",
                                    fmt::format("http://{}:{}", one.host, one.metrics_port),
                                    "--initial-cluster",
                                    all,
                                    "--logger",
                                    "zap",
                                    "--log-level",
                                    "warn"};
  words.insert(words.end(), settings_.begin(), settings_.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string log_file = log(member);
  const pid_t parent = getpid();
  one.pid = fork();
  if (one.pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // Whatever happens to the test.
    if (getppid() != parent) _exit(1);
    if (networks_ != nullptr) networks_->enter(member);
    const int fd = open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(fd, 1);
    dup2(fd, 2);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  if (one.pid < 0) give_up("cannot fork");
}

void EtcdCluster::wait_until_ready(int member) const {
  for (const auto end = std::chrono::steady_clock::now() + kPatience;
       std::chrono::steady_clock::now() < end;) {
    if (get(member, "/health").find("\"true\"") != std::string::npos) return;
    int status = 0;
    if (waitpid(members_[static_cast<std::size_t>(member)].pid, &status, WNOHANG) > 0)
      give_up("ended at once: " + read_file(log(member), 1 << 20).value_or("no log"));
    std::this_thread::sleep_for(10ms);
  }
  give_up("did not get ready: " + read_file(log(member), 1 << 20).value_or("no log"));
}

void EtcdCluster::kill_hard(int member) {
  pid_t& pid = members_[static_cast<std::size_t>(member)].pid;
  ::kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  pid = -1;
}

void EtcdCluster::stop(int member) {
  pid_t& pid = members_[static_cast<std::size_t>(member)].pid;
  ::kill(pid, SIGTERM);
  waitpid(pid, nullptr, 0);
  pid = -1;
}

void EtcdCluster::pause(int member) { ::kill(members_[static_cast<std::size_t>(member)].pid, SIGSTOP); }
void EtcdCluster::go_on(int member) { ::kill(members_[static_cast<std::size_t>(member)].pid, SIGCONT); }

std::optional<int> EtcdCluster::leader() const {
  for (int i = 0; i < size(); ++i) {
    if (members_[static_cast<std::size_t>(i)].pid > 0 &&
        get(i, "/metrics").find("\netcd_server_is_leader 1") != std::string::npos)
      return i;
  }
  return std::nullopt;
}

int EtcdCluster::wait_for_leader() const {
  for (const auto end = std::chrono::steady_clock::now() + kPatience;
       std::chrono::steady_clock::now() < end;) {
    if (const auto found = leader()) return *found;
    std::this_thread::sleep_for(20ms);
  }
  give_up("nobody became the leader");
}

double EtcdCluster::calls() const {
  double all = 0;
  for (int i = 0; i < size(); ++i) {
    const std::string metrics = get(i, "/metrics");
    const std::string_view name = "\ngrpc_server_started_total{";
    for (std::size_t at = 0; (at = metrics.find(name, at)) != std::string::npos; at += name.size())
      all += std::atof(metrics.c_str() + metrics.find("} ", at) + 2);
  }
  return all;
}

double EtcdCluster::cpu_seconds() const {
  double all = 0;
  for (const Member& one : members_) {
    const std::string stat = read_file(fmt::format("/proc/{}/stat", one.pid), 4096).value_or("");
    unsigned long user = 0;
    unsigned long system = 0;
    // Behind the name: the 14th and 15th field.
    if (std::sscanf(stat.c_str() + stat.rfind(')') + 1, "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu %lu",
                    &user, &system) == 2)
      all += static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  return all;
}

std::string EtcdCluster::get(int member, const std::string& path) const {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  const Member& one = members_[static_cast<std::size_t>(member)];
  inet_pton(AF_INET, one.host.c_str(), &name.sin_addr);
  name.sin_port = htons(static_cast<std::uint16_t>(one.metrics_port));
  std::string answer;
  const std::string request = fmt::format("GET {} HTTP/1.0\r\n\r\n", path);
  if (connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0 &&
      send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
    char buffer[65536];
    for (ssize_t size = 0; (size = recv(fd, buffer, sizeof buffer, 0)) > 0;)
      answer.append(buffer, static_cast<std::size_t>(size));
  }
  close(fd);
  return answer;
}

std::string EtcdCluster::etcdctl(const std::string& arguments) const {
  std::string all;
  for (int i = 0; i < size(); ++i) all += (i > 0 ? "," : "") + endpoint(i);
  const std::string command = fmt::format("ETCDCTL_API=3 etcdctl --endpoints={} {} 2>&1", all, arguments);
  FILE* const pipe = popen(command.c_str(), "re");
  if (pipe == nullptr) give_up("cannot run etcdctl");
  std::string output;
  char buffer[4096];
  for (std::size_t size = 0; (size = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, size);
  if (pclose(pipe) != 0) give_up(command + ": " + output);
  return output;
}

EtcdCluster& shared_etcd() {
  const char* const members = std::getenv("LEASEHOLD_ETCD_MEMBERS");  // NOLINT(concurrency-mt-unsafe)
  static EtcdCluster cluster(members == nullptr ? 1 : std::atoi(members));
  return cluster;
}

std::string fresh_etcd_url() {
  static std::atomic<int> last = 0;
  return shared_etcd().url(fmt::format("test{}", ++last));
}

}  // namespace leasehold
