// What lease doctor finds in the files of each host.
#include "init/host_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temp_folder.h"

namespace leasehold {
namespace {

namespace fs = std::filesystem;

class HostCheck : public testing::Test {
 protected:
  HostCheck() { write(root() + "/.leasehold.toml", ""); }

  static void write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << text;
  }
  static std::string text(const std::string& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::string root() const { return project.path(); }

  InitRequest request(std::vector<HookHost> hosts = {}) const {
    const auto workspace = find_workspace(root());
    EXPECT_TRUE(workspace);
    return {.workspace = *workspace, .hosts = std::move(hosts), .wishes = wishes_of(*workspace)};
  }

  // Wired, and allowed by a user who has done everything.
  void install(HookHost host) const {
    const auto plan = plan_install(request({host}));
    ASSERT_TRUE(plan) << plan.error().message;
    ASSERT_TRUE(carry_out(*plan, root()));
    write(home.path() + "/.codex/config.toml",
          fmt::format("[hooks.state.\"{}/.codex/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"x\"\n",
                      root()));
    write(home.path() + "/.copilot/config.json", fmt::format(R"({{"trustedFolders":["{}"]}})", root()));
  }

  std::string problems(HookHost host) const {
    const Variables variables = [this](const char* name) -> const char* {
      return std::string_view(name) == "HOME" ? home.path().c_str() : nullptr;
    };
    return fmt::format("{}", fmt::join(host_problems(request(), host, variables), "\n"));
  }

  const TempFolder project;
  const TempFolder home;
};

std::string to_wire(HookHost host) { return fmt::format("Run: lease init --agents {}", word(host)); }

TEST_F(HostCheck, WhatIsInPlaceIsNoProblem) {
  for (const HookHost host : all_hosts()) {
    install(host);
    EXPECT_EQ(problems(host), "") << word(host);
  }
}

TEST_F(HostCheck, AHookThatCannotBeRunIsNamedWithWhatMendsIt) {
  install(HookHost::cline);
  const std::string hook = root() + "/.clinerules/hooks/PreToolUse";
  fs::permissions(hook, fs::perms(0644));
  const std::string told = problems(HookHost::cline);
  EXPECT_TRUE(told.contains(hook + " cannot be run") && told.contains(to_wire(HookHost::cline))) << told;

  install(HookHost::cline);
  EXPECT_EQ(problems(HookHost::cline), "");
  EXPECT_EQ(fs::status(hook).permissions(), fs::perms(0755));
}

TEST_F(HostCheck, HooksThatSomebodyChangedAreDrift) {
  for (const HookHost host : all_hosts()) {
    install(host);
    const auto own = own_files(host, {});
    const std::string file = root() + '/' + (own.empty() ? std::string(hooks_file(host)) : own.front().path);
    std::string changed = text(file);
    const std::string call = fmt::format("lease hook {}", word(host));
    ASSERT_TRUE(changed.contains("lease")) << file;
    if (own.empty()) {
      changed.insert(changed.find(call) + call.size(), " --quiet");
    } else {
      changed += "more\n";
    }
    write(file, changed);

    const std::string found = problems(host);

    EXPECT_TRUE(found.contains("not those of this version and these settings")) << word(host) << found;
    EXPECT_TRUE(found.contains(to_wire(host))) << word(host) << found;
    install(host);
    EXPECT_EQ(problems(host), "") << word(host) << ": what it says helps";
  }
}

TEST_F(HostCheck, HooksWhereTheHostDoesNotLookAreNamed) {
  const std::pair<HookHost, std::string> places[] = {
      {HookHost::claude_code, ".claude/hooks.json"},   {HookHost::claude_code, ".claude/hooks/hooks.json"},
      {HookHost::codex, ".codex/settings.json"},       {HookHost::gemini, ".gemini/hooks.json"},
      {HookHost::copilot, ".github/hooks.json"},       {HookHost::copilot, ".copilot/hooks/leasehold.json"},
      {HookHost::cursor, ".cursor/settings.json"},     {HookHost::opencode, ".opencode/leasehold.js"},
      {HookHost::windsurf, ".windsurf/settings.json"}, {HookHost::cline, ".clinerules/PreToolUse"},
  };
  for (const auto& [host, place] : places) {
    install(host);
    write(root() + '/' + place, "somebody's own");
    EXPECT_EQ(problems(host), "") << place;
    write(root() + '/' + place, fmt::format("lease hook {}", word(host)));

    EXPECT_EQ(problems(host),
              fmt::format("it does not read {}, which calls lease. {}", place, to_wire(host)));

    fs::remove(root() + '/' + place);
  }
}

TEST_F(HostCheck, HooksThatTheirUserDidNotAllowAreNotRun) {
  install(HookHost::codex);
  install(HookHost::copilot);
  fs::remove(home.path() + "/.codex/config.toml");
  EXPECT_TRUE(problems(HookHost::codex).contains("say /hooks")) << problems(HookHost::codex);
  write(home.path() + "/.codex/config.toml",
        "[hooks.state.\"/elsewhere/.codex/hooks.json:pre_tool_use:0:0\"]\n");
  EXPECT_TRUE(problems(HookHost::codex).contains("not to be allowed")) << "those of another project";
  const std::string key = fmt::format("[hooks.state.\"{}/.codex/hooks.json:", root());
  for (const std::string& text :
       {key + "stop:0:0\"]\n", key + "pre_tool_use:0:0\"]\nenabled = false\n",
        fmt::format("[projects.\"{}\"]\ntrust_level = \"untrusted\"\n{}pre_tool_use:0:0\"]\n", root(), key),
        "[features]\nhooks = false\n" + key + "pre_tool_use:0:0\"]\n"}) {
    write(home.path() + "/.codex/config.toml", text);
    EXPECT_TRUE(problems(HookHost::codex).contains("not to be allowed")) << text;
  }
  write(home.path() + "/.codex/config.toml", key + "pre_tool_use:0:0\"]\n");
  EXPECT_FALSE(problems(HookHost::codex).contains("not to be allowed"));
  fs::remove(home.path() + "/.copilot/config.json");
  EXPECT_TRUE(problems(HookHost::copilot).contains("start it here")) << problems(HookHost::copilot);
}

TEST_F(HostCheck, HooksThatAreSwitchedOffAreDrift) {
  install(HookHost::claude_code);
  const std::string local = root() + "/.claude/settings.local.json";
  const std::string user = home.path() + "/.claude/settings.json";
  for (const std::string& file : {local, user}) {
    write(file, R"({"disableAllHooks": true})");
    EXPECT_EQ(problems(HookHost::claude_code),
              fmt::format("all its hooks are switched off (disableAllHooks in {}). Take that out.", file));
    write(file, R"({"disableAllHooks": false})");
    EXPECT_EQ(problems(HookHost::claude_code), "");
    fs::remove(file);
  }
  const std::string shared = root() + "/.claude/settings.json";
  std::string settings = text(shared);
  settings.insert(1, "\"disableAllHooks\": true,");
  write(shared, settings);
  EXPECT_TRUE(problems(HookHost::claude_code).contains("disableAllHooks in " + shared));
  write(local, R"({"disableAllHooks": false})");
  EXPECT_FALSE(problems(HookHost::claude_code).contains("switched off")) << "the user's own word counts more";

  install(HookHost::gemini);
  write(home.path() + "/.gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}} // for now");
  EXPECT_TRUE(problems(HookHost::gemini).contains("(hooksConfig.enabled in ")) << problems(HookHost::gemini);
}

TEST_F(HostCheck, HostsThatLetUncheckedWritesPassAreNamed) {
  for (const HookHost host : all_hosts()) {
    write(root() + "/.leasehold.toml", "gate_fail_open = true\n");
    install(host);
    EXPECT_TRUE(problems(host).contains("go through (gate_fail_open in .leasehold.toml). Take that out"))
        << word(host) << problems(host);

    write(root() + "/.leasehold.toml", "");

    EXPECT_TRUE(problems(host).contains(to_wire(host)))
        << word(host) << ": what it was given for the other setting stays until then" << problems(host);
    install(host);
    EXPECT_EQ(problems(host), "") << word(host);
  }
}

}  // namespace
}  // namespace leasehold
