// open_workspace(): which tree, which store, which settings.
#include "leasehold/open.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "leasehold/write_gate.h"
#include "support/temp_folder.h"
#include "util/duration_text.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;

class Opening : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = root() + "/" + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::string root() const { return folder_.path() + "/project"; }
  std::string home() const { return folder_.path() + "/home"; }

  Result<std::unique_ptr<OpenWorkspace>> open(OpenOptions options = {}) {
    std::filesystem::create_directories(root());
    if (options.place.empty()) options.place = root();
    options.environment = [this](const char* name) -> const char* {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    };
    return open_workspace(options);
  }

  static EffectiveSetting setting(const OpenWorkspace& workspace, const std::string& name) {
    const auto all = workspace.settings();
    EXPECT_TRUE(all);
    const auto found = std::ranges::find(*all, name, &EffectiveSetting::name);
    return found == all->end() ? EffectiveSetting{} : *found;
  }

  static AcquireRequest asking(const std::string& agent, const std::string& path) {
    AcquireRequest request;
    request.caller.holder.owner.agent_id = agent;
    request.paths = {WantedPath{.path = path}};
    return request;
  }
  static Selection at(const std::string& path) {
    Selection which;
    which.paths = {path};
    return which;
  }
  static const Granted* granted(const Result<AcquireAnswer>& answer) {
    return answer ? std::get_if<Granted>(&answer->decision) : nullptr;
  }

  std::map<std::string, std::string> variables;

 private:
  TempFolder folder_;
};

TEST_F(Opening, GivesTheEmbeddedStoreOfTheWorkspaceToAllWhoOpenIt) {
  write(".leasehold.toml", "");
  write("src/deep/a.ts", "");

  const auto one = open();
  ASSERT_TRUE(one) << one.error().message;
  const auto other = open({.place = root() + "/src/deep/a.ts"});
  ASSERT_TRUE(other) << other.error().message;

  EXPECT_EQ((*one)->id(), (*other)->id());
  EXPECT_EQ((*one)->store_url(), "sqlite:" + std::filesystem::canonical(root()).string() + "/.leasehold");
  EXPECT_TRUE((*one)->is_managed());
  ASSERT_NE(granted((*one)->client()->acquire(asking("ann", "/src/a"))), nullptr);
  EXPECT_TRUE(*(*other)->client()->is_locked("/src/a"));
}

TEST_F(Opening, MakesNoStoreForOneWhoOnlyLooks) {
  const auto looking = open({.create = false});

  ASSERT_FALSE(looking);
  EXPECT_EQ(looking.error().code, Code::not_found);
  EXPECT_FALSE(std::filesystem::exists(root() + "/.leasehold"));

  // Hooks that ask a store elsewhere keep what they saw of files there.
  std::filesystem::create_directories(root() + "/.leasehold/seen");
  const auto again = open({.create = false});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::not_found);
  EXPECT_FALSE(std::filesystem::exists(root() + "/.leasehold/leases.db"));
}

TEST_F(Opening, TurnsPathsIntoKeysAndAddsTheirTests) {
  write("src/foo.ts", "");
  write("tests/foo.test.ts", "");
  write(".leasehold.toml", "");
  const auto workspace = open();
  ASSERT_TRUE(workspace);

  const auto wanted =
      (*workspace)
          ->wanted({{.path = "foo.ts"}, {.path = "../docs", .subtree = true}}, {.cwd = root() + "/src"});
  ASSERT_TRUE(wanted) << wanted.error().message;
  ASSERT_EQ(wanted->size(), 3U);
  EXPECT_EQ(wanted->at(0), (WantedPath{.path = "/src/foo.ts"}));
  EXPECT_EQ(wanted->at(1), (WantedPath{.path = "/docs", .subtree = true}));
  EXPECT_EQ(wanted->at(2).path, "/tests/foo.test.ts");
  EXPECT_FALSE(wanted->at(2).requested);
  EXPECT_EQ(wanted->at(2).paired_with, (std::vector<std::string>{"/src/foo.ts"}));
  EXPECT_FALSE(wanted->at(2).rule.empty());

  EXPECT_EQ((*workspace)->wanted({{.path = "src/foo.ts"}}, {.pairs = false})->size(), 1U);
  EXPECT_EQ((*workspace)->key("../elsewhere").error().code, Code::invalid_path);
  EXPECT_EQ(*(*workspace)->key_if_inside("../elsewhere"), std::nullopt);
}

TEST_F(Opening, KnowsItsOwnProcess) {
  const auto workspace = open();
  ASSERT_TRUE(workspace);

  ASSERT_TRUE((*workspace)->own_process());
  EXPECT_EQ((*workspace)->own_process()->pid, ::getpid());
}

TEST_F(Opening, AnswersOneStoreUrlAtATime) {
  const auto embedded = open();
  ASSERT_TRUE(embedded);
  const auto second = open({.settings = {{"store", "memory:"}}});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::config_error);

  const std::shared_ptr<Client> kept = (*embedded)->client();
}

TEST_F(Opening, MayUseAnotherUrlAfterTheFirstIsClosed) {
  std::shared_ptr<Client> kept;
  {
    const auto first = open();
    ASSERT_TRUE(first);
    kept = (*first)->client();
  }
  EXPECT_FALSE(open({.settings = {{"store", "memory:"}}})) << "its client is still in use";
  kept.reset();

  const auto second = open({.settings = {{"store", "memory:"}}});
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ((*second)->store_url(), "memory:");
}

TEST_F(Opening, RefusesAStoreThatDoesNotExistAndHidesItsPassword) {
  for (const char* url : {"mysql://me:secret@host/", "sqlite:", "sqlite:relative/secret", "nothing"}) {
    const auto opened = open({.settings = {{"store", url}}});
    ASSERT_FALSE(opened) << url;
    EXPECT_EQ(opened.error().code, Code::config_error) << url;
    EXPECT_EQ(opened.error().message.find("me:secret"), std::string::npos) << opened.error().message;
  }
}

TEST_F(Opening, WithoutAPlaceNeedsAStore) {
  EXPECT_EQ(open_workspace({}).error().code, Code::config_error);

  const auto opened = open_workspace({.settings = {{"store", "memory:"}}});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ((*opened)->root(), "/");
  EXPECT_EQ(*(*opened)->key("/no/such/important.txt"), "/no/such/important.txt");
}

TEST_F(Opening, TakesEachSettingFromTheFirstPlaceThatSaysSomething) {
  const auto ttl = [&](OpenOptions options = {}) {
    const auto workspace = open(std::move(options));
    EXPECT_TRUE(workspace) << workspace.error().message;
    if (!workspace) return EffectiveSetting{};
    const auto answer = (*workspace)->client()->acquire(asking("ann", "/a"));
    EXPECT_NE(granted(answer), nullptr);
    const EffectiveSetting shown = setting(**workspace, "ttl");
    EXPECT_EQ(duration_text(granted(answer)->leases.at(0).ttl), shown.value) << "it is used, too";
    ReleaseRequest back = {.caller = asking("ann", "/a").caller};
    back.which.all = true;
    EXPECT_TRUE((*workspace)->client()->release(back));
    return shown;
  };
  write(".leasehold.toml", "");

  EXPECT_EQ(ttl().value, "5m");
  EXPECT_EQ(ttl().source, "built-in, profile agent");
  {
    const auto workspace = open();
    const auto row = (*workspace)->setting("ttl", "10m");
    ASSERT_TRUE(row);
    EXPECT_EQ(row->stored_key(), "default_ttl_seconds");
    EXPECT_EQ(row->value, "600");
    ASSERT_TRUE((*workspace)->client()->put_setting(*row));
    EXPECT_EQ(setting(**workspace, "ttl").value, "10m");
  }
  EXPECT_EQ(ttl().source, "store default_ttl_seconds");
  EXPECT_EQ(ttl().value, "10m");

  variables["HOME"] = home();
  std::filesystem::create_directories(home() + "/.config/leasehold");
  std::ofstream(home() + "/.config/leasehold/config.toml") << "ttl = \"11m\"\n";
  EXPECT_EQ(ttl().value, "11m");
  EXPECT_NE(ttl().source.find("config.toml:1"), std::string::npos);

  write(".leasehold.toml", "ttl = \"12m\"\n");
  EXPECT_EQ(ttl().value, "12m");

  variables["LEASE_TTL"] = "13m";
  EXPECT_EQ(ttl().value, "13m");
  EXPECT_EQ(ttl().source, "environment LEASE_TTL");

  EXPECT_EQ(ttl({.settings = {{"ttl", "14m"}}}).value, "14m");
  EXPECT_EQ(ttl({.settings = {{"ttl", "14m"}}}).source, "flag");
}

TEST_F(Opening, ReallyUsesTheSettings) {
  const auto workspace = open({.settings = {{"ttl", "7m"}, {"waiting", "false"}}});
  ASSERT_TRUE(workspace);

  const auto answer = (*workspace)->client()->acquire(asking("ann", "/a"));
  ASSERT_NE(granted(answer), nullptr);
  EXPECT_EQ(granted(answer)->leases.at(0).ttl, 7min);
  AcquireRequest waits = asking("bob", "/a");
  waits.wait = 1s;
  EXPECT_EQ((*workspace)->client()->acquire(waits).error().code, Code::invalid_argument);
}

TEST_F(Opening, SeesARuntimeChangeThatAnotherProcessMade) {
  write(".leasehold.toml", "");
  const auto one = open({.settings = {{"profile", "job"}}});
  const auto other = open({.settings = {{"profile", "job"}}});
  ASSERT_TRUE(one && other);
  EXPECT_EQ(setting(**one, "ttl").value, "1h") << "the store's default rows are for the profile job";
  EXPECT_EQ(setting(**one, "ttl").source, "store default_ttl_seconds@profile:job");

  ASSERT_TRUE((*other)->client()->put_setting(*(*other)->setting("default_ttl_seconds", "120", "job")));

  EXPECT_EQ(setting(**one, "ttl").value, "2m");
  const auto next = open({.settings = {{"profile", "job"}}});
  const auto answer = (*next)->client()->acquire(asking("ann", "/a"));
  ASSERT_NE(granted(answer), nullptr);
  EXPECT_EQ(granted(answer)->leases.at(0).ttl, 2min);

  ASSERT_TRUE((*other)->client()->erase_setting("default_ttl_seconds@profile:job"));
  EXPECT_EQ(setting(**one, "ttl").source, "built-in, profile job");
}

TEST_F(Opening, ASettingThatRequiresARestartWaitsForIt) {
  write(".leasehold.toml", "");
  const auto running = open();
  ASSERT_TRUE(running);
  ASSERT_TRUE((*running)->client()->put_setting(*(*running)->setting("ttl", "7m")));
  EXPECT_EQ(setting(**running, "ttl").value, "7m");

  Setting row = *(*running)->setting("ttl", "10m");
  row.requires_restart = true;
  ASSERT_TRUE((*running)->client()->put_setting(row));

  EXPECT_EQ(setting(**running, "ttl").value, "7m");
  const auto later = open();
  EXPECT_EQ(setting(**later, "ttl").value, "10m");
  EXPECT_TRUE(setting(**later, "ttl").requires_restart);
}

TEST_F(Opening, LogsWhatHappensWithItsTrace) {
  std::vector<LogRecord> log;
  const auto workspace = open({.log = [&](const LogRecord& record) { log.push_back(record); }});
  ASSERT_TRUE(workspace);
  AcquireRequest request = asking("ann", "/a");
  request.caller.holder.owner.session_id = "s1";
  request.trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  const auto answer = (*workspace)->client()->acquire(request);
  ASSERT_NE(granted(answer), nullptr);
  EXPECT_TRUE((*workspace)->client()->acquire(asking("bob", "/a")));
  EXPECT_TRUE((*workspace)->client()->release({.caller = request.caller, .which = at("/a")}));

  ASSERT_EQ(log.size(), 3U);
  EXPECT_EQ(log[0].event, "acquired");
  EXPECT_EQ(log[0].path, "/a");
  EXPECT_EQ(log[0].owner, (Owner{"ann", "s1"}));
  EXPECT_EQ(log[0].trace, request.trace);
  EXPECT_EQ(log[0].token, granted(answer)->leases.at(0).token);
  EXPECT_EQ(log[1].event, "refused");
  EXPECT_EQ(log[1].level, LogLevel::warning);
  EXPECT_EQ(log[2].event, "released");
  EXPECT_EQ(log[2].trace, request.trace);
  EXPECT_NE(log_line(log[0]).find("event=acquired path=\"/a\" agent=\"ann\" session=\"s1\" trace=\"00-4bf"),
            std::string::npos)
      << log_line(log[0]);
}

TEST_F(Opening, ABusyRoomRefusesInThisProcess) {
  const auto workspace = open();
  ASSERT_TRUE(workspace);
  AcquireRequest request = asking("ann", "/a");
  request.room = "kitchen";

  (*workspace)->set_room_busy("kitchen", true);
  const auto refused = (*workspace)->client()->acquire(request);
  EXPECT_EQ(std::get<Refused>(refused->decision).code, Code::busy);
  (*workspace)->set_room_busy("kitchen", false);
  EXPECT_NE(granted((*workspace)->client()->acquire(request)), nullptr);
}

// The first acquire when it is time cleans up for all, whichever process makes it.
TEST_F(Opening, AcquiresCleanUpByTheWay) {
  write(".leasehold.toml", "");
  LeaseId ended;
  {
    const auto first = open();
    ASSERT_TRUE(first);
    AcquireRequest brief = asking("ann", "/brief");
    brief.ttl = 1ms;
    const auto answer = (*first)->client()->acquire(brief);
    ASSERT_NE(granted(answer), nullptr);
    ended = granted(answer)->leases.at(0).id;
    ASSERT_TRUE((*first)->client()->erase_setting("last_cleanup_at"));
    while (*(*first)->client()->is_locked("/brief")) ::usleep(1'000);
  }

  const auto second = open();
  ASSERT_TRUE(second);
  EXPECT_NE(granted((*second)->client()->acquire(asking("bob", "/other"))), nullptr);
  EXPECT_EQ((*second)->client()->lease(ended)->status, Status::expired);

  // Done just now: the next is not before the interval is over.
  AcquireRequest brief = asking("ann", "/brief");
  brief.ttl = 1ms;
  const auto answer = (*second)->client()->acquire(brief);
  while (*(*second)->client()->is_locked("/brief")) ::usleep(1'000);
  const auto third = open();
  EXPECT_NE(granted((*third)->client()->acquire(asking("bob", "/third"))), nullptr);
  EXPECT_EQ((*third)->client()->lease(granted(answer)->leases.at(0).id)->status, Status::active);
}

TEST_F(Opening, DoesNotCleanUpByTheWayIfToldNotTo) {
  const auto workspace = open({.settings = {{"auto_expire", "false"}}});
  ASSERT_TRUE(workspace);
  AcquireRequest brief = asking("ann", "/brief");
  brief.ttl = 1ms;
  const auto answer = (*workspace)->client()->acquire(brief);
  while (*(*workspace)->client()->is_locked("/brief")) ::usleep(1'000);

  EXPECT_NE(granted((*workspace)->client()->acquire(asking("bob", "/other"))), nullptr);

  EXPECT_EQ((*workspace)->client()->lease(granted(answer)->leases.at(0).id)->status, Status::active);
  EXPECT_NE(granted((*workspace)->client()->acquire(asking("bob", "/brief"))), nullptr)
      << "what is over is in nobody's way";
}

TEST_F(Opening, AWriteGateAsksByPathsOfTheOperatingSystem) {
  write(".leasehold.toml", "gate_retry = \"1h\"\n");
  write("src/a.ts", "");
  write("tests/a.test.ts", "");
  const auto workspace = open();
  ASSERT_TRUE(workspace);
  WriteGate ann(**workspace, asking("ann", "/x").caller, "greet");
  WriteGate bob(**workspace, asking("bob", "/x").caller, {}, root() + "/src");

  const auto allowed = ann.write({"src/a.ts"});
  ASSERT_TRUE(allowed && std::holds_alternative<Allowed>(allowed->decision));
  EXPECT_EQ(std::get<Allowed>(allowed->decision).leases.size(), 2u) << "with its test";
  const auto denied = bob.write({"a.ts"});
  ASSERT_TRUE(denied && std::holds_alternative<Denied>(denied->decision));
  EXPECT_EQ(std::get<Denied>(denied->decision).code, Code::retry_later);
  const auto unread = bob.read({"a.ts"});
  ASSERT_TRUE(unread && std::holds_alternative<Denied>(unread->decision));
  const auto outside = bob.write({"/etc/passwd"});
  EXPECT_TRUE(outside && std::holds_alternative<Allowed>(outside->decision));
  EXPECT_FALSE(bob.write({""}));
}

}  // namespace
}  // namespace leasehold
