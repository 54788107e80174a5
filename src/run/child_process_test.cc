// Each test supervises in a process of its own: signals and children belong to the whole process.
#include "run/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

#include "env/child.h"
#include "support/temp_folder.h"
#include "util/read_file.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

std::string summary(const ChildEnd& end) {
  return fmt::format("{}{}{}", end.exit_status, end.is_lost ? " lost" : "",
                     end.not_started.empty() ? "" : " " + end.not_started);
}

std::string supervised(const ChildProcess& child) {
  return Child([&] { return summary(supervise(child)); }).answer();
}

std::vector<std::string> shell(const std::string& script) { return {"sh", "-c", script}; }

// A folder for what commands say, since their output is the test's own.
class Scene {
 public:
  std::string file(const std::string& name) const { return temp_.path() + "/" + name; }
  std::string text(const std::string& name) const { return read_file(file(name), 4096).value_or(""); }

  // Waits until the command has written that file.
  bool appears(const std::string& name) const {
    return eventually([&] { return !text(name).empty(); });
  }
  static bool eventually(const std::function<bool()>& condition) {
    for (int i = 0; i < 10'000 && !condition(); ++i) usleep(1'000);
    return condition();
  }
  bool is_gone(const std::string& name) const {
    const pid_t pid = std::atoi(text(name).c_str());
    return pid > 0 && eventually([&] { return kill(pid, 0) != 0 && errno == ESRCH; });
  }

 private:
  TempFolder temp_;
};

TEST(ChildProcess, ReturnsTheCommandsStatus) {
  EXPECT_EQ(supervised({.command = {"true"}}), "0");
  EXPECT_EQ(supervised({.command = shell("exit 7")}), "7");
  EXPECT_EQ(supervised({.command = shell("kill -9 $$")}), "137");
  EXPECT_EQ(supervised({.command = shell("kill -TERM $$")}), "143");
}

TEST(ChildProcess, SaysWhyItCannotRun) {
  EXPECT_EQ(supervised({.command = {"no-such-program"}}),
            "127 Cannot run no-such-program: No such file or directory.");
  EXPECT_EQ(supervised({.command = {"/"}}), "126 Cannot run /: Permission denied.");
  EXPECT_EQ(supervised({.command = {""}}), "127 Cannot run \"\": No such file or directory.");
}

TEST(ChildProcess, SetsVariables) {
  EXPECT_EQ(supervised({.command = shell("test \"$HOME,$NEW\" = 'x,a b'"),
                        .variables = {{"HOME", "x"}, {"NEW", "a b"}}}),
            "0");
  EXPECT_EQ(
      supervised({.command = shell("test \"$(env | grep -c ^HOME=)\" = 1"), .variables = {{"HOME", "x"}}}),
      "0");
}

TEST(ChildProcess, PassesSignalsOn) {
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2}) {
    const Scene scene;
    const Child supervisor([&] {
      return summary(supervise(
          {.command = shell(fmt::format("trap 'exit 42' {}; echo $$ > {}; while :; do sleep 0.01; done",
                                        signal, scene.file("ready")))}));
    });
    ASSERT_TRUE(scene.appears("ready"));

    kill(supervisor.pid(), signal);

    EXPECT_EQ(supervisor.answer(), "42") << signal;
  }
}

TEST(ChildProcess, LeavesIgnoredSignalsIgnored) {
  const Child supervisor([&] {
    signal(SIGHUP, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    return summary(supervise({.command = shell("kill -HUP $$; exit 3")}));
  });
  EXPECT_EQ(supervisor.answer(), "3");
}

TEST(ChildProcess, GivesTheCommandTheSignalsAsTheyWere) {
  EXPECT_EQ(supervised({.command = shell("kill -PIPE $$; exit 3")}), "141");
  // A mask of ours would be the command's.
  EXPECT_EQ(supervised({.command = shell("grep -q '^SigBlk:.*0000000000000000$' /proc/self/status")}), "0");
}

TEST(ChildProcess, EndsTheCommandWhenItsProtectionIsLost) {
  const Scene scene;
  const Child supervisor([&] {
    return summary(supervise({.command = shell(fmt::format("trap 'exit 42' TERM; echo $$ > {}; "
                                                           "while :; do sleep 0.01; done",
                                                           scene.file("ready"))),
                              .is_lost = [&] { return !scene.text("ready").empty(); },
                              .look_every = 1ms,
                              .grace = 1h}));
  });

  EXPECT_EQ(supervisor.answer(), "42 lost");
}

TEST(ChildProcess, KillsWhoeverDoesNotEnd) {
  const Scene scene;
  const Child supervisor([&] {
    return summary(
        supervise({.command = shell(fmt::format("trap '' TERM; echo $$ > {}; while :; do sleep 0.01; done",
                                                scene.file("ready"))),
                   .is_lost = [&] { return !scene.text("ready").empty(); },
                   .look_every = 1ms,
                   .grace = 50ms}));
  });

  EXPECT_EQ(supervisor.answer(), "137 lost");
}

TEST(ChildProcess, EndsAStoppedCommandToo) {
  const Scene scene;
  const Child supervisor([&] {
    return summary(
        supervise({.command = shell(fmt::format("echo $$ > {}; kill -STOP $$; exit 3", scene.file("ready"))),
                   .is_lost = [&] { return !scene.text("ready").empty(); },
                   .look_every = 50ms,
                   .grace = 1h}));
  });

  EXPECT_EQ(supervisor.answer(), "143 lost");
}

TEST(ChildProcess, EndsAllThatTheCommandStarted) {
  const Scene scene;
  // One that outlived its parent and left the group and the session, and that does not want to end.
  const std::string stubborn =
      fmt::format("setsid sh -c 'trap \"\" TERM HUP; echo $$ > {}; while :; do sleep 0.01; done' & exit 0",
                  scene.file("orphan"));
  const Child supervisor([&] {
    return summary(
        supervise({.command = shell(fmt::format(
                       "sh -c '{}'; sleep 1000 & echo $! > {}; wait",
                       [&] {
                         std::string quoted;
                         for (const char c : stubborn) quoted += c == '\'' ? "'\\''" : std::string(1, c);
                         return quoted;
                       }(),
                       scene.file("child"))),
                   .is_lost = [&] { return !scene.text("orphan").empty() && !scene.text("child").empty(); },
                   .look_every = 1ms,
                   .grace = 100ms}));
  });

  EXPECT_EQ(supervisor.answer(), "143 lost");
  EXPECT_TRUE(scene.is_gone("child"));
  EXPECT_TRUE(scene.is_gone("orphan"));
}

TEST(ChildProcess, LeavesWhatRunsInTheBackgroundAfterAGoodEnd) {
  const Scene scene;
  ASSERT_EQ(
      supervised({.command = shell(fmt::format("sleep 1000 & echo $! > {}", scene.file("background")))}),
      "0");

  const pid_t background = std::atoi(scene.text("background").c_str());
  ASSERT_GT(background, 0);
  EXPECT_EQ(kill(background, SIGKILL), 0);
}

TEST(ChildProcess, IsWokenByADescriptor) {
  const Scene scene;
  const Child supervisor([&] {
    int ends[2];
    if (pipe(ends) != 0) return std::string("no pipe");
    std::atomic<int> asked = 0;
    std::thread waker([&] {
      scene.appears("ready");
      [[maybe_unused]] const ssize_t written = write(ends[1], "x", 1);
    });
    const ChildEnd end =
        supervise({.command = shell(fmt::format("echo $$ > {}; exec sleep 1000", scene.file("ready"))),
                   .is_lost = [&] { return ++asked > 1; },
                   .wake = ends[0],
                   .look_every = 1h});
    waker.join();
    return summary(end);
  });

  EXPECT_EQ(supervisor.answer(), "143 lost");
}

TEST(ChildProcess, GetsASignalWhicheverThreadItComesTo) {
  const Scene scene;
  const Child supervisor([&] {
    std::thread other([] { Child::rest(); });
    other.detach();
    return summary(
        supervise({.command = shell(fmt::format("echo $$ > {}; exec sleep 1000", scene.file("ready")))}));
  });
  ASSERT_TRUE(scene.appears("ready"));

  kill(supervisor.pid(), SIGTERM);

  EXPECT_EQ(supervisor.answer(), "143");
}

TEST(ChildProcess, EndsWithAKilledSupervisor) {
  const Scene scene;
  Child supervisor([&] {
    return summary(supervise({.command = shell(fmt::format("trap 'echo x > {}; exit' TERM; echo $$ > {}; "
                                                           "while :; do sleep 0.01; done",
                                                           scene.file("told"), scene.file("ready")))}));
  });
  ASSERT_TRUE(scene.appears("ready"));

  supervisor.kill();
  supervisor.reap();

  EXPECT_TRUE(scene.appears("told"));
}

// A terminal of our own, whose keys reach the command and its supervisor.
class Terminal {
 public:
  Terminal() : master_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    grantpt(master_);
    unlockpt(master_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() { close(master_); }

  // Makes it the terminal of this process's new session.
  void take() const {
    setsid();
    const int terminal = open(ptsname(master_), O_RDWR | O_CLOEXEC);
    ioctl(terminal, TIOCSCTTY, 0);
  }
  void type(char key) const { EXPECT_EQ(write(master_, &key, 1), 1); }

 private:
  int master_;
};

TEST(ChildProcess, LetsTheTerminalInterruptOnce) {
  const Scene scene;
  const Terminal terminal;
  const Child supervisor([&] {
    terminal.take();
    return summary(
        supervise({.command = shell(fmt::format("trap 'echo x >> {}' INT; trap 'exit 5' USR1; echo $$ > {}; "
                                                "while :; do sleep 0.01; done",
                                                scene.file("interrupts"), scene.file("ready")))}));
  });
  ASSERT_TRUE(scene.appears("ready"));

  terminal.type('\x03');
  ASSERT_TRUE(scene.appears("interrupts"));
  // Passed on after whatever came before.
  kill(supervisor.pid(), SIGUSR1);

  EXPECT_EQ(supervisor.answer(), "5");
  EXPECT_EQ(scene.text("interrupts"), "x\n");
}

TEST(ChildProcess, StopsAndGoesOnWithItsJob) {
  const Scene scene;
  const Terminal terminal;
  // As a shell with job control: the job is a process group of its own, in the foreground.
  const Child job_shell([&] {
    terminal.take();
    const Child job([&] {
      setpgid(0, 0);
      signal(SIGTTOU, SIG_IGN);
      const int own = open("/dev/tty", O_RDWR | O_CLOEXEC);
      tcsetpgrp(own, getpid());
      signal(SIGTTOU, SIG_DFL);
      return summary(supervise({.command = shell(fmt::format("trap 'exit 5' USR1; echo $$ > {}; "
                                                             "while :; do sleep 0.01; done",
                                                             scene.file("ready")))}));
    });
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(job.pid()), &info, WSTOPPED | WNOWAIT);
    std::string text = info.si_code == CLD_STOPPED ? "stopped, " : "ended, ";
    kill(-job.pid(), SIGCONT);
    kill(job.pid(), SIGUSR1);
    return text + job.answer();
  });
  ASSERT_TRUE(scene.appears("ready"));

  terminal.type('\x1a');

  EXPECT_EQ(job_shell.answer(), "stopped, 5");
}

}  // namespace
}  // namespace leasehold
