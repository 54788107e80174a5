#include "postgres.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <initializer_list>
#include <thread>
#include <vector>

namespace leasehold::bench {
namespace {

constexpr const char* kUser = "postgres";

std::string program(const char* name) {
  for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql")) {
    const auto path = version.path() / "bin" / name;
    if (std::filesystem::exists(path)) return path.string();
  }
  give_up(std::string("PostgreSQL is not installed: no ") + name);
}

// PostgreSQL refuses to run as root.
void drop_root() {
  if (geteuid() != 0) return;
  const passwd* user = getpwnam(kUser);
  if (user == nullptr || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0) _exit(126);
}

pid_t start(std::initializer_list<std::string> command) {
  std::vector<std::string> words(command);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  drop_root();
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) dup2(nowhere, fd);
  execv(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

Postgres::Postgres() {
  if (geteuid() == 0) {
    const passwd* user = getpwnam(kUser);
    if (user == nullptr || chown(folder_.path().c_str(), user->pw_uid, user->pw_gid) != 0)
      give_up("no user postgres");
  }
  const std::string data = folder_.path() + "/data";
  int status = 0;
  waitpid(start({program("initdb"), "-D", data, "-A", "trust", "-U", kUser}), &status, 0);
  if (status != 0) give_up("initdb failed");
  server_ = start({program("postgres"), "-D", data, "-k", folder_.path(), "-c", "listen_addresses=", "-c",
                   "max_connections=200"});
  for (int i = 0; i < 300; ++i) {
    PGconn* connection = PQconnectdb(this->connection().c_str());
    const bool up = PQstatus(connection) == CONNECTION_OK;
    PQfinish(connection);
    if (up) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  give_up("PostgreSQL did not come up");
}

Postgres::~Postgres() {
  kill(server_, SIGINT);  // Fast shutdown.
  waitpid(server_, nullptr, 0);
}

std::string Postgres::connection() const {
  return "host=" + folder_.path() + " user=" + kUser + " dbname=postgres";
}

}  // namespace leasehold::bench
