// Somebody holds a file, and an agent writes it, in every way and through every host's hooks, as lease init
// wires them. What comes of it is the table in docs/coverage.md, which has to be the same.
//
// LEASEHOLD_COVERAGE_REWRITE=1 first writes the table. Review what changes: a cell that gets worse is a hole.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "hook/aftermath.h"
#include "hook/hook.h"
#include "hook/staged_report.h"
#include "init/agent_hooks.h"
#include "support/temp_folder.h"

namespace leasehold {
namespace {

namespace fs = std::filesystem;

enum class Means { tool, command, foreign_tool, nothing };

struct Way {
  std::string name;
  Means means;
  std::string line;      // For a shell.
  std::string effect;    // What is really done, by sh in the folder; empty: `line`.
  bool by_hand = false;  // It is held from the command line, and not by an agent with hooks.
};

// The file that somebody else holds is `held`, in the folder `d`.
const Way kWays[] = {
    {"the host's own tools", Means::tool, "", "echo new > d/held"},
    {"shell: `echo x > d/held`", Means::command, "echo x > d/held", ""},
    {"shell: `cd d && sed -i s/a/b/ held`", Means::command, "cd d && sed -i s/a/b/ held", ""},
    {"shell: `mv other d/held`, `rm -r d`", Means::command, "mv other d/held", ""},
    {"shell: `git checkout .`, `git stash`", Means::command, "git checkout .", "echo old > d/held"},
    {"shell: a patch to `apply_patch`", Means::command,
     "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: d/held\n@@\n-a\n+b\n*** End Patch\nEOF",
     "echo b > d/held"},
    {"shell: `bash -c '... > d/held'`, `xargs`, `find -exec`", Means::command, "bash -c 'echo x > d/held'",
     ""},
    {"shell: a script, a program, `make`", Means::command, "./script", "echo x > d/held"},
    {"shell: a script that removes it", Means::command, "./script", "rm d/held"},
    {"shell: a script, on a file held by `lease acquire`", Means::command, "./script", "echo x > d/held",
     true},
    {"shell: a script that removes one of these", Means::command, "./script", "rm d/held", true},
    {"what runs on after its shell command", Means::nothing, "", "echo x > d/held"},
    {"a tool of an MCP server", Means::foreign_tool, "", "echo x > d/held"},
    {"an editor, a person, another program", Means::nothing, "", "echo x > d/held"},
};

class Coverage : public testing::Test {
 protected:
  // A fresh folder for each cell.
  std::string outcome(HookHost host, const Way& way) {
    const TempFolder folder;
    root_ = folder.path();
    std::ofstream(root_ + "/.leasehold.toml");
    fs::create_directory(root_ + "/d");
    for (const char* const file : {"/d/held", "/other", "/script"}) std::ofstream(root_ + file) << "a\n";
    if (way.by_hand) {
      hold_by_hand();
    } else {
      const StagedAgent holder = {
          .host = HookHost::codex, .session = "holder", .root = root_, .subagent = {}};
      EXPECT_FALSE(tell(holder, report_of_write(holder, root_ + "/d/held")).denies());
      tell(holder, report_after_write(holder, root_ + "/d/held"));
    }

    const StagedAgent agent = {.host = host, .session = "agent", .root = root_, .subagent = {}};
    if (!before(agent, way).empty() && tell(agent, before(agent, way)).denies()) return "blocked";
    run(way.effect.empty() ? way.line : way.effect);
    if (way.means != Means::command) return "unseen";
    const bool is_told = !tell(agent, report_after_command(agent, way.line)).output.empty();
    return is_told && is_recorded(host) ? "noticed" : "unseen";
  }

 private:
  // Empty: no hook is run.
  static std::string before(const StagedAgent& agent, const Way& way) {
    switch (way.means) {
      case Means::tool:
        return report_of_write(agent, agent.root + "/d/held");
      case Means::command:
        return report_of_command(agent, way.line);
      case Means::foreign_tool:  // Not asked for.
      case Means::nothing:
        break;
    }
    return {};
  }

  // What lease acquire does.
  void hold_by_hand() const {
    const auto opened = open_workspace({.place = root_, .environment = none_});
    ASSERT_TRUE(opened);
    const Caller person = {.holder = {.owner = {"codex", "by-hand"}}};
    const auto answer = (*opened)->client()->acquire({.caller = person, .paths = {{.path = "/d/held"}}});
    ASSERT_TRUE(answer && std::holds_alternative<Granted>(answer->decision));
    note_granted(**opened, std::get<Granted>(answer->decision).leases);
  }

  HookAnswer tell(const StagedAgent& agent, const std::string& report) const {
    return HookCall(agent.host, report, root_, none_).answer();
  }

  void run(const std::string& line) const {
    EXPECT_EQ(std::system(fmt::format("cd {} && {}", root_, line).c_str()), 0) << line;
  }

  // With both names.
  bool is_recorded(HookHost host) const {
    const auto opened = open_workspace({.place = root_, .environment = none_});
    EXPECT_TRUE(opened);
    const auto events = (*opened)->client()->history({.path = "/d/held"});
    EXPECT_TRUE(events);
    return std::ranges::any_of(*events, [&](const Event& event) {
      return event.owner.agent_id == word(host) && event.reason.contains("while a command") &&
             event.reason.contains("codex");
    });
  }

  std::string root_;
  const Variables none_ = [](const char*) -> const char* { return nullptr; };
};

constexpr std::string_view kBegin = "<!-- made by coverage_tests -->\n";
constexpr std::string_view kEnd = "<!-- end -->\n";

std::string page() { return LEASEHOLD_DOCS "/coverage.md"; }

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(Coverage, IsAsTheDocumentSays) {
  std::string table = "| way to write |";
  std::string line = "|---|";
  for (const HookHost host : all_hosts()) {
    table += fmt::format(" {} |", word(host));
    line += "---|";
  }
  table += '\n' + line + '\n';
  for (const Way& way : kWays) {
    table += fmt::format("| {} |", way.name);
    for (const HookHost host : all_hosts()) table += fmt::format(" {} |", outcome(host, way));
    table += '\n';
  }

  std::string text = text_of(page());
  const std::size_t begin = text.find(kBegin);
  const std::size_t end = text.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::size_t from = begin + kBegin.size();
  if (std::getenv("LEASEHOLD_COVERAGE_REWRITE") != nullptr)
    std::ofstream(page()) << text.substr(0, from) << table << text.substr(end);

  EXPECT_EQ(text_of(page()).substr(from, table.size()), table);
}

// A cell counts only if lease init asks the host for the events that fill it.
TEST(Wiring, AsksForWhatTheTableRestsOn) {
  struct Asked {
    HookHost host;
    std::vector<std::string> words;
  };
  const Asked all[] = {
      {HookHost::claude_code,
       {"PreToolUse Write", "PreToolUse Bash", "PostToolUse Bash", "PostToolUseFailure Bash"}},
      {HookHost::codex, {"PreToolUse apply_patch", "PreToolUse Bash", "PostToolUse Bash"}},
      {HookHost::gemini,
       {"BeforeTool write_file", "BeforeTool run_shell_command", "AfterTool run_shell_command"}},
      {HookHost::copilot, {"PreToolUse Write", "PreToolUse Bash", "PostToolUse Bash"}},
      {HookHost::cursor,
       {"preToolUse Write", "beforeShellExecution ", "postToolUse Shell", "postToolUseFailure Shell"}},
      {HookHost::windsurf, {"pre_write_code ", "pre_run_command ", "post_run_command "}},
  };
  for (const Asked& asked : all) {
    const auto groups = hook_groups(asked.host, {});
    for (const std::string& word_pair : asked.words) {
      const std::string event = word_pair.substr(0, word_pair.find(' '));
      const std::string tool = word_pair.substr(word_pair.find(' ') + 1);
      EXPECT_TRUE(std::ranges::any_of(
          groups,
          [&](const HookGroup& group) { return group.event == event && group.matcher.contains(tool); }))
          << word(asked.host) << ' ' << word_pair;
    }
  }
  const auto has = [](HookHost host, const std::string& text) {
    const auto files = own_files(host, {});
    return std::ranges::any_of(
        files, [&](const OwnFile& file) { return file.path.contains(text) || file.text.contains(text); });
  };
  EXPECT_TRUE(has(HookHost::opencode, "tool.execute.before") &&
              has(HookHost::opencode, "tool.execute.after"));
  EXPECT_TRUE(has(HookHost::cline, "hooks/PreToolUse") && has(HookHost::cline, "hooks/PostToolUse"));
}

}  // namespace
}  // namespace leasehold
