#include "support/redis_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

#include "util/read_file.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

constexpr int kDatabases = 1024;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "redis-server: %s\n", why.c_str());
  std::abort();
}

std::string text_of(const redisReply* reply) {
  if (reply == nullptr) return "(no answer)";
  if (reply->type == REDIS_REPLY_INTEGER) return std::to_string(reply->integer);
  if (reply->type == REDIS_REPLY_NIL) return "(nil)";
  if (reply->type != REDIS_REPLY_ARRAY) return {reply->str, static_cast<std::size_t>(reply->len)};
  std::string all;
  for (std::size_t i = 0; i < reply->elements; ++i) all += (i > 0 ? "\n" : "") + text_of(reply->element[i]);
  return all;
}

int unused_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof name;
  auto* generic = reinterpret_cast<sockaddr*>(&name);
  if (fd < 0 || bind(fd, generic, size) != 0 || getsockname(fd, generic, &size) != 0)
    give_up("no port is free");
  close(fd);
  return ntohs(name.sin_port);
}

}  // namespace

RedisServer::RedisServer(std::vector<std::string> settings)
    : settings_(std::move(settings)), port_(free_port()) {
  start();
}

// Not one that was given before: the kernel may offer it again before anybody listens there.
int RedisServer::free_port() {
  static std::mutex mutex;
  static std::set<int> given;
  const std::lock_guard lock(mutex);
  for (;;) {
    if (const int port = unused_port(); given.insert(port).second) return port;
  }
}

RedisServer::~RedisServer() {
  if (pid_ > 0) kill_hard();
}

std::string RedisServer::url(int database) const {
  return "redis+unix://" + socket() + "?db=" + std::to_string(database);
}

std::string RedisServer::tcp_url(int database) const {
  return "redis://127.0.0.1:" + std::to_string(port_) + "/" + std::to_string(database);
}

void RedisServer::start() {
  std::vector<std::string> words = {"redis-server",
                                    "--port",
                                    std::to_string(port_),
                                    "--bind",
                                    "127.0.0.1",
                                    "--unixsocket",
                                    socket(),
                                    "--dir",
                                    folder(),
                                    "--appendonly",
                                    "yes",
                                    "--appendfsync",
                                    "everysec",
                                    "--save",
                                    "",
                                    "--databases",
                                    std::to_string(kDatabases),
                                    "--daemonize",
                                    "no",
                                    "--loglevel",
                                    "warning"};
  words.insert(words.end(), settings_.begin(), settings_.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string log = folder() + "/log";
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // Whatever happens to the test.
    if (getppid() != parent) _exit(1);
    const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(fd, 1);
    dup2(fd, 2);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  if (pid_ < 0) give_up("cannot fork");
  wait_until_ready();
}

void RedisServer::wait_until_ready() {
  for (const auto end = std::chrono::steady_clock::now() + 30s; std::chrono::steady_clock::now() < end;) {
    if (call({"PING"}) == "PONG") return;
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_)
      give_up("ended at once: " + read_file(folder() + "/log", 1 << 20).value_or("no log"));
    std::this_thread::sleep_for(2ms);
  }
  give_up("did not get ready");
}

void RedisServer::stop() {
  call({"SHUTDOWN", "SAVE"});
  ::kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void RedisServer::kill_hard() {
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void RedisServer::pause() { ::kill(pid_, SIGSTOP); }
void RedisServer::go_on() { ::kill(pid_, SIGCONT); }

std::string RedisServer::call(const std::vector<std::string>& words, int database) const {
  redisContext* context = redisConnectUnixWithTimeout(socket().c_str(), {5, 0});
  if (context == nullptr) return "(no answer)";
  std::string answer = "(no answer)";
  if (context->err == 0) {
    redisSetTimeout(context, {10, 0});
    if (database != 0) freeReplyObject(redisCommand(context, "SELECT %d", database));
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const std::string& word : words) {
      texts.push_back(word.data());
      sizes.push_back(word.size());
    }
    auto* reply = static_cast<redisReply*>(
        redisCommandArgv(context, static_cast<int>(words.size()), texts.data(), sizes.data()));
    answer = text_of(reply);
    if (reply != nullptr) freeReplyObject(reply);
  }
  redisFree(context);
  return answer;
}

std::int64_t RedisServer::number(const std::string& section, const std::string& name) const {
  const std::string info = call({"INFO", section});
  const std::size_t at = info.find(name);
  return at == std::string::npos ? 0 : std::stoll(info.substr(at + name.size()));
}

RedisServer& shared_redis_server() {
  static RedisServer server;
  return server;
}

RedisDatabase::RedisDatabase()
    : number_([] {
        static std::atomic<int> last = 0;
        return last++ % (kDatabases - 1) + 1;
      }()) {
  call({"FLUSHDB"});
}

RedisDatabase::~RedisDatabase() { call({"FLUSHDB"}); }

}  // namespace leasehold
