// A project on a real disk: what init writes, and what it leaves behind when it is taken back.
#include "init/init.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "config/settings.h"
#include "init/default_settings.h"
#include "init/git_place.h"
#include "init/marked_block.h"
#include "run/capture.h"
#include "support/temp_folder.h"

namespace leasehold {
namespace {

namespace fs = std::filesystem;

class Init : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder.path() + "/" + name; }

  void write(const std::string& name, const std::string& text, fs::perms mode = fs::perms(0644)) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
    fs::permissions(path(name), mode);
  }

  std::string text(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Every file, link and folder there is, with its bytes and its mode.
  std::map<std::string, std::string> everything() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
      const std::string name = entry.path().lexically_relative(folder.path());
      if (entry.is_symlink()) all[name] = "-> " + fs::read_symlink(entry.path()).string();
      if (entry.is_directory() && !name.starts_with(".git/")) all[name] = "folder";
      if (!entry.is_regular_file()) continue;
      all[name] += std::to_string(static_cast<int>(entry.status().permissions())) + ' ' + text(name);
    }
    return all;
  }

  InitRequest request(bool git = false) const {
    InitRequest request = {.workspace = *find_workspace(folder.path()),
                           .hosts = {all_hosts().begin(), all_hosts().end()},
                           .project_settings = true,
                           .variables = [this](const char* name) {
                             return std::string_view(name) == "HOME" ? folder.path().c_str() : nullptr;
                           }};
    if (git) {
      auto place = find_git_place(folder.path(), request.workspace.git_common_dir);
      EXPECT_TRUE(place) << (place ? "" : place.error().message);
      if (place) request.git = *place;
      if (request.git && git_version) request.git->version = *git_version;
    }
    return request;
  }

  void run(const Result<InitPlan>& plan) const {
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(refused(plan), "");
    const auto done = carry_out(*plan, folder.path());
    EXPECT_TRUE(done) << done.error().message;
  }
  static std::string refused(const Result<InitPlan>& plan) {
    std::string text;
    for (const Refusal& one : plan->refused) text += one.part + ": " + one.error.message + "\n";
    return text;
  }
  void install(bool git = false) const { run(plan_install(request(git))); }
  void uninstall(bool git = false) const { run(plan_uninstall(request(git))); }

  void expect_that_everything_comes_back(bool git = false) const {
    const auto before = everything();
    install(git);
    EXPECT_NE(everything(), before);
    const auto again = plan_install(request(git));
    EXPECT_TRUE(again && again->is_done()) << "a second time there is nothing to do";
    uninstall(git);
    EXPECT_EQ(everything(), before);
  }

  void git(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "git");
    const auto done = capture(arguments, folder.path());
    EXPECT_TRUE(done) << done.error().message;
  }

  const TempFolder folder;
  std::optional<GitVersion> git_version;  // Pretended; without it the one that is installed.
};

TEST_F(Init, AnEmptyFolderIsEmptyAgain) {
  expect_that_everything_comes_back();
  EXPECT_TRUE(fs::exists(folder.path()));
  EXPECT_TRUE(fs::is_empty(folder.path())) << "folders of our own go, too";
}

TEST_F(Init, EmptyFoldersThatWereThereStay) {
  for (const char* const name : {".claude", ".codex", ".gemini", ".github", ".cursor", ".opencode/plugins",
                                 ".windsurf", ".clinerules", ".codeium", ".cline/data"}) {
    fs::create_directories(path(name));
  }
  expect_that_everything_comes_back();

  install();
  write(".clinerules/hooks/PreToolUse",
        "#!/bin/sh\n# Made by lease init, taken out by `lease init --uninstall`.\nold\n\n", fs::perms(0755));
  install();
  uninstall();
  EXPECT_TRUE(fs::exists(path(".clinerules"))) << "also if hooks of an older version were in them";
  EXPECT_FALSE(fs::exists(path(".clinerules/hooks")));
}

TEST_F(Init, SettingsThatEndInEmptyLinesComeBackByteForByte) {
  write(".claude/settings.json", "{}\n\n\n");
  write(".codex/config.toml", "model = \"y\"\n\n\n");
  write(".gemini/settings.json", "\n\n");
  write(".mcp.json", "{\n}\n\n");
  write(".cursor/hooks.json", R"({"version": 1, "hooks": {}})"
                              "\n\n");
  expect_that_everything_comes_back();
}

TEST_F(Init, AHookThatCannotBeRunIsMadeToRun) {
  install();
  const std::string hook = path(".clinerules/hooks/PreToolUse");
  fs::permissions(hook, fs::perms(0640));
  install();
  EXPECT_EQ(fs::status(hook).permissions(), fs::perms(0750)) << "for those who may read it";
  const auto again = plan_install(request());
  EXPECT_TRUE(again && again->is_done());
}

TEST_F(Init, SettingsThatWereThereComeBackByteForByte) {
  write(".claude/settings.json", "{\r\n\t\"model\": \"x\"\r\n}", fs::perms(0600));
  write(".codex/hooks.json", "");
  write(".codex/config.toml", "# mine\nmodel = \"y\"");
  write(".leasehold.toml", "ttl = \"1m\"\n");
  expect_that_everything_comes_back();
}

TEST_F(Init, SettingsOfOthersComeBackByteForByte) {
  write(".gemini/settings.json", "{\n    \"theme\": \"x\"\n}\n");
  write(".cursor/hooks.json", R"({"version": 1, "hooks": {"stop": [{"command": "mine"}]}})");
  write(".windsurf/hooks.json", "{\"hooks\":{\"pre_write_code\":[]}}");
  write(".github/hooks/mine.json", "{}");
  write(".opencode/plugins/mine.js", "//\n");
  write(".clinerules/hooks/Notification", "#!/bin/sh\n", fs::perms(0755));
  expect_that_everything_comes_back();

  install();
  EXPECT_TRUE(text(".github/hooks/leasehold.json").contains("\"version\": 1"));
  EXPECT_NE(fs::status(path(".clinerules/hooks/PreToolUse")).permissions() & fs::perms::owner_exec,
            fs::perms::none);
  for (const HookHost host : all_hosts()) EXPECT_TRUE(calls_us(folder.path(), host)) << word(host);
}

TEST_F(Init, EveryAgentIsToldOfTheServerWhereItReadsServers) {
  write(".gemini/settings.json", "{}");
  write(".codeium/windsurf/mcp_config.json", "{\"mcpServers\": {\"other\": {\"command\": \"x\"}}}");
  write(".cline/data/settings/cline_mcp_settings.json", "");
  write(".github/mcp.json", "{\n}\n");
  expect_that_everything_comes_back();

  install();
  const std::map<std::string, std::string> files = {
      {".mcp.json", R"("args": ["mcp"]})"},
      {".codex/config.toml", "[mcp_servers.lease]"},
      {".gemini/settings.json", R"("args": ["mcp"]})"},
      {".github/mcp.json", R"("args": ["mcp"], "tools": ["*"]})"},
      {".cursor/mcp.json", R"("args": ["mcp"]})"},
      {"opencode.json", R"("command": ["lease", "mcp"]})"},
      {".codeium/windsurf/mcp_config.json", R"("args": ["mcp", "-C", ")" + folder.path() + "\"]}"},
      {".cline/data/settings/cline_mcp_settings.json", R"("args": ["mcp", "-C", ")" + folder.path() + "\"]}"},
  };
  for (const auto& [name, entry] : files) EXPECT_TRUE(text(name).contains(entry)) << name << text(name);
}

TEST_F(Init, WithoutAHomeTheToolsThatStandThereAreLeftOutAndSaid) {
  write(".codeium/windsurf/mcp_config.json", "no JSON");
  InitRequest here = request();
  here.variables = nullptr;
  EXPECT_EQ(refused(plan_install(here)), "") << "it is about the project alone";

  here.variables = [](const char*) -> const char* { return nullptr; };
  const std::string told = refused(plan_install(here));
  EXPECT_TRUE(told.contains("windsurf tools: ") && told.contains("cline tools: ")) << told;
  EXPECT_TRUE(told.contains("HOME is not set")) << told;
  EXPECT_EQ(refused(plan_uninstall(here)), "");
}

TEST_F(Init, AHookFileThatIsNotOursIsLeftAloneAndSaid) {
  write(".clinerules/hooks/PreToolUse", "#!/bin/sh\nmine\n", fs::perms(0755));
  const auto before = everything();
  const std::string told = refused(plan_install(request()));
  EXPECT_TRUE(told.starts_with("cline: ") && told.contains("lease hook cline")) << told;
  uninstall();
  EXPECT_EQ(everything(), before);
}

TEST_F(Init, AnAgentWhosePlaceIsTakenIsLeftOutAndTheOthersGoOn) {
  write(".clinerules", "Be brief.\n");
  const auto plan = plan_install(request());

  const std::string told = refused(plan);
  EXPECT_TRUE(told.starts_with("cline: " + path(".clinerules") + " is a file")) << told;
  const auto done = carry_out(*plan, folder.path());
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_TRUE(text(".claude/settings.json").contains("lease hook claude-code"));
  EXPECT_TRUE(text(".windsurf/hooks.json").contains("lease hook windsurf"));
  EXPECT_EQ(text(".clinerules"), "Be brief.\n");
  EXPECT_FALSE(fs::exists(path(".cline/data/settings/cline_mcp_settings.json"))) << "nor half of it";

  uninstall();
  EXPECT_EQ(everything().size(), 1U) << "the file";
}

TEST_F(Init, AUsersFileThatCannotBeReadKeepsOnlyTheToolsOut) {
  write(".codeium/windsurf/mcp_config.json", "no JSON");
  const auto plan = plan_install(request());
  const std::string told = refused(plan);
  EXPECT_TRUE(told.starts_with("windsurf tools: ")) << told;
  EXPECT_TRUE(carry_out(*plan, folder.path()));
  EXPECT_TRUE(text(".windsurf/hooks.json").contains("lease hook windsurf"));
}

TEST_F(Init, SettingsWithCommentsComeBackByteForByte) {
  write(".gemini/settings.json", "{\n  // dark\n  \"theme\": \"x\" // really\n}\n");
  write("opencode.json", "// mine\n{\n  \"mcp\": {\n    /* none */\n  }\n}\n");
  write(".cursor/mcp.json", "{ // servers\n  \"mcpServers\": {\"x\": {}} }");
  expect_that_everything_comes_back();
}

TEST_F(Init, ALinkStaysALinkAndWhatItLeadsToIsChanged) {
  write("dotfiles/settings.json", "{}\n", fs::perms(0640));
  fs::create_directories(path(".claude"));
  fs::create_symlink("../dotfiles/settings.json", path(".claude/settings.json"));
  fs::create_directories(path(".codex"));
  fs::create_symlink("../dotfiles/not-yet.json", path(".codex/hooks.json"));

  expect_that_everything_comes_back();

  install();
  EXPECT_TRUE(fs::is_symlink(path(".claude/settings.json")));
  EXPECT_TRUE(text("dotfiles/settings.json").contains("lease"));
  EXPECT_TRUE(text("dotfiles/not-yet.json").contains("lease"));
}

TEST_F(Init, AnEmptyFolderThatALinkLeadsToStays) {
  fs::create_directories(path("elsewhere"));
  fs::create_directories(path(".claude"));
  fs::create_symlink("../elsewhere/not-yet.json", path(".claude/settings.json"));
  fs::create_directories(path("other"));
  fs::create_symlink("other", path(".codex"));
  expect_that_everything_comes_back();
}

TEST_F(Init, WhatIsNoJsonIsLeftAloneAndSaid) {
  write(".codex/hooks.json", "{\n# mine\n}");

  const auto plan = plan_install(request());

  const std::string told = refused(plan);
  EXPECT_TRUE(told.starts_with("codex: ") && told.contains(".codex/hooks.json:2: ")) << told;
  EXPECT_TRUE(carry_out(*plan, folder.path()));
  EXPECT_EQ(text(".codex/hooks.json"), "{\n# mine\n}");
  EXPECT_FALSE(fs::exists(path(".codex/config.toml"))) << "nor half of it";
}

TEST_F(Init, WhatIsNoTomlIsLeftAloneAndSaid) {
  write(".codex/config.toml", "a = 1\nb = = 2\n");
  const std::string told = refused(plan_install(request()));
  EXPECT_TRUE(told.contains(".codex/config.toml:2: ")) << told;
}

TEST_F(Init, CodexHooksInTomlGetOursBesideThem) {
  write(".codex/config.toml",
        "[[hooks.Stop]]\r\n[[hooks.Stop.hooks]] # mine\r\ntype = \"command\"\r\ncommand = \"x\"");
  expect_that_everything_comes_back();

  install();
  EXPECT_FALSE(fs::exists(path(".codex/hooks.json"))) << "Codex warns of two places";
  const auto table = parse_toml(text(".codex/config.toml"));
  ASSERT_TRUE(table);
  const auto* hooks = table->find("hooks")->as<TomlTable>();
  EXPECT_EQ(hooks->find("Stop")->as<TomlArray>()->size(), 2U);
  EXPECT_EQ(hooks->find("PreToolUse")->as<TomlArray>()->size(), 2U);
  EXPECT_TRUE(calls_us(folder.path(), HookHost::codex));
}

TEST_F(Init, CodexHooksThatNothingCanBeAddedToAreRefused) {
  write(".codex/config.toml", "[hooks]\nPreToolUse = []\n");
  EXPECT_TRUE(refused(plan_install(request())).starts_with("codex: "));
}

TEST_F(Init, ProjectSettingsThatWereChangedStay) {
  install();
  write(".leasehold.toml", text(".leasehold.toml") + "ttl = \"1m\"\n");
  uninstall();
  EXPECT_TRUE(fs::exists(path(".leasehold.toml")));
}

TEST_F(Init, DefaultSettingsShowTheDefaults) {
  std::string uncommented;
  std::string_view rest = default_settings();
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n') + 1);
    rest.remove_prefix(line.size());
    if (line.starts_with("# ") && line.contains(" = ")) uncommented += line.substr(2);
  }
  const auto table = parse_toml(uncommented);
  ASSERT_TRUE(table) << uncommented;
  const Policy policy;
  std::size_t known = 0;
  for (const TomlEntry& entry : table->entries) {
    const SettingSpec* spec = find_setting(entry.key);
    if (spec == nullptr) continue;
    ++known;
    const bool* flag = entry.value.as<bool>();
    const std::string shown = flag != nullptr ? (*flag ? "true" : "false") : *entry.value.as<std::string>();
    EXPECT_EQ(*parse_setting(*spec, shown), spec->field.current(policy)) << entry.key;
  }
  EXPECT_EQ(known, 6U);
}

TEST_F(Init, AFileThatSomebodyChangedMeanwhileIsNotOverwritten) {
  write(".claude/settings.json", "{}");
  const auto plan = plan_install(request());
  write(".claude/settings.json", "{\"a\":1}");
  const auto done = carry_out(*plan, folder.path());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::transaction_conflict);
  EXPECT_EQ(text(".claude/settings.json"), "{\"a\":1}");
}

TEST_F(Init, FindsAgentsByProgramHomeAndProject) {
  std::map<std::string, std::string> set = {{"PATH", "/nowhere:" + path("bin")}, {"HOME", path("home")}};
  const Variables variables = [&](const char* name) -> const char* {
    return set.contains(name) ? set[name].c_str() : nullptr;
  };
  EXPECT_TRUE(installed_hosts(folder.path(), variables).empty());
  write("bin/claude", "", fs::perms(0755));
  EXPECT_EQ(installed_hosts(folder.path(), variables), std::vector{HookHost::claude_code});
  fs::create_directories(path("home/.codex"));
  EXPECT_EQ(installed_hosts(folder.path(), variables).size(), 2U);
  fs::remove(path("bin/claude"));
  fs::create_directories(path(".claude"));
  EXPECT_EQ(installed_hosts(folder.path(), variables).size(), 2U);
}

class InitGit : public Init {
 protected:
  InitGit() {
    git({"init", "-q", "-b", "main", "."});
    fs::remove_all(path(".git/hooks"));
    fs::create_directories(path(".git/hooks"));
  }
};

TEST_F(InitGit, HooksOfEveryKindComeBackAsTheyWere) {
  const std::string hooks[] = {
      "#!/bin/sh\necho mine\n",
      "#!/usr/bin/env bash\nexec mine",
      "#!/bin/sh",
      "echo no first line\n",
      "#!/usr/bin/env python3\nprint('mine')\n",
      std::string("\x7f"
                  "ELF\0\0",
                  6),
      "",
  };
  for (const std::string& hook : hooks) {
    write(".git/hooks/pre-commit", hook, fs::perms(0755));
    expect_that_everything_comes_back(true);
    write(".git/hooks/pre-commit", hook, fs::perms(0644));  // Switched off.
    expect_that_everything_comes_back(true);
  }
  fs::remove(path(".git/hooks/pre-commit"));
  expect_that_everything_comes_back(true);
}

TEST_F(InitGit, AHookThatIsALinkComesBackAsOne) {
  write("scripts/check.py", "#!/usr/bin/python3\n", fs::perms(0755));
  fs::create_symlink("../../scripts/check.py", path(".git/hooks/pre-commit"));
  expect_that_everything_comes_back(true);
}

TEST_F(InitGit, HuskysScriptsAreTheUsersOwn) {
  write(".husky/_/pre-commit", "#!/usr/bin/env sh\n. \"${0%/*}/h\"\n", fs::perms(0755));
  write(".husky/pre-commit", "npm test\n");
  git({"config", "core.hooksPath", ".husky/_"});
  expect_that_everything_comes_back(true);
  install(true);
  EXPECT_TRUE(has_block(text(".husky/pre-commit")));
  EXPECT_TRUE(has_block(text(".husky/post-commit")));
  EXPECT_FALSE(has_block(text(".husky/_/pre-commit")));
}

TEST_F(InitGit, HooksThatGitDoesNotLookAtAnyMoreAreKnownAndTakenOut) {
  git_version = GitVersion{2, 30};
  install(true);
  EXPECT_FALSE(has_unused_git_hooks(*request(true).git));
  ASSERT_TRUE(has_block(text(".git/hooks/pre-commit")));
  fs::create_directories(path(".husky/_"));
  git({"config", "core.hooksPath", ".husky/_"});

  EXPECT_FALSE(has_git_hooks(*request(true).git));
  EXPECT_TRUE(has_unused_git_hooks(*request(true).git));
  install(true);
  EXPECT_TRUE(has_git_hooks(*request(true).git)) << "husky runs them";
  uninstall(true);
  EXPECT_FALSE(fs::exists(path(".git/hooks/pre-commit")));
  EXPECT_FALSE(fs::exists(path(".git/hooks/post-commit")));
  EXPECT_FALSE(fs::exists(path(".husky/pre-commit")));
}

TEST_F(InitGit, HooksThatOtherRepositoriesUseAreLeftAlone) {
  const TempFolder elsewhere;
  git({"config", "core.hooksPath", elsewhere.path()});
  const std::string told = refused(plan_install(request(true)));
  EXPECT_TRUE(told.starts_with("git: ") && told.contains("lease git-hook pre-commit")) << told;
  EXPECT_EQ(refused(plan_uninstall(request(true))), "");
}

TEST_F(InitGit, AHookThatCannotBeMovedAsideIsSaidBeforeAnythingIsDone) {
  write(".git/hooks/pre-commit", "#!/usr/bin/python3\n", fs::perms(0755));
  write(".git/hooks/pre-commit.before-leasehold", "#!/usr/bin/python3\n# older\n", fs::perms(0755));
  const auto before = everything();
  InitRequest only_git = request(true);
  only_git.hosts.clear();
  only_git.project_settings = false;

  const auto plan = plan_install(only_git);

  const std::string told = refused(plan);
  EXPECT_TRUE(told.starts_with("git: ") && told.contains("pre-commit.before-leasehold is there already"))
      << told;
  EXPECT_TRUE(plan->steps.empty());
  EXPECT_TRUE(carry_out(*plan, folder.path()));
  EXPECT_EQ(everything(), before);
}

TEST_F(InitGit, ARecentGitIsToldInItsConfiguration) {
  git_version = kConfiguredHooks;
  write(".git/hooks/pre-commit", "#!/bin/sh\n", fs::perms(0755));
  expect_that_everything_comes_back(true);
  install(true);
  EXPECT_EQ(text(".git/hooks/pre-commit"), "#!/bin/sh\n");
  EXPECT_EQ(git_value(folder.path(), "hook.lease-pre-commit.event"), "pre-commit");
  EXPECT_TRUE(
      git_value(folder.path(), "hook.lease-post-commit.command")->contains("lease git-hook post-commit"));
}

TEST_F(InitGit, ALinkedWorktreeSharesTheHooksOfItsRepository) {
  git({"-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q", "--allow-empty", "-m", "x"});
  const TempFolder other;
  git({"worktree", "add", "-q", other.path() + "/tree"});
  const auto place = find_git_place(other.path() + "/tree", path(".git"));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->hooks_folder, path(".git/hooks"));
  EXPECT_FALSE(place->is_shared);
}

TEST_F(InitGit, WhereOthersMovedOursItIsTakenOutAsWell) {
  install(true);
  fs::rename(path(".git/hooks/pre-commit"), path(".git/hooks/pre-commit.legacy"));
  write(".git/hooks/pre-commit", "#!/bin/sh\n# File generated by pre-commit\n", fs::perms(0755));
  uninstall(true);
  EXPECT_FALSE(fs::exists(path(".git/hooks/pre-commit.legacy")));
  EXPECT_EQ(text(".git/hooks/pre-commit"), "#!/bin/sh\n# File generated by pre-commit\n");
}

TEST(GitVersion, IsReadFromWhatGitPrints) {
  EXPECT_EQ(parse_git_version("git version 2.39.5\n"), (GitVersion{2, 39}));
  EXPECT_EQ(parse_git_version("git version 2.54.0.rc1 (Apple Git-1)\n"), (GitVersion{2, 54}));
  EXPECT_GE(*parse_git_version("git version 3.0\n"), kConfiguredHooks);
  EXPECT_LT(*parse_git_version("git version 2.53.9\n"), kConfiguredHooks);
  EXPECT_FALSE(parse_git_version("hub version 2"));
  EXPECT_FALSE(parse_git_version("git version x"));
}

}  // namespace
}  // namespace leasehold
