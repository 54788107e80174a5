// Every line of command_lines.txt: what is said about it, and whether that is true.
//
// LEASEHOLD_COMMAND_LINES_REWRITE=1 first writes the answers that are given into the table. Review each line
// that changes: what bash does decides what is right, not the code.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "sandbox.h"
#include "shell/disk_folder.h"
#include "shell/find_writes.h"

namespace leasehold::shell {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kArrow = " => ";
constexpr std::string_view kNewline = "¶";  // In the table, for commands of several lines.

struct Line {
  int number = 0;
  std::string mark;  // "needs PROGRAM", "not run: why", "in vain"; or none.
  std::string command;
  std::string answer;
};

void PrintTo(const Line& line, std::ostream* out) { *out << line.command; }

fs::path table() { return fs::path(LEASEHOLD_COMMAND_LINES) / "command_lines.txt"; }

std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  text.erase(0, text.find_first_not_of(' '));
  return text;
}

std::vector<Line> all_lines() {
  std::vector<Line> lines;
  std::ifstream file(table());
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    if (text.empty() || text.starts_with('#')) continue;
    Line line = {.number = number};
    if (text.starts_with('[') && text.contains("] ")) {
      const std::string mark = text.substr(1, text.find(']') - 1);
      if (mark.starts_with("needs ") || mark.starts_with("not run") || mark == "in vain") {
        line.mark = mark;
        text.erase(0, text.find(']') + 2);
      }
    }
    const std::size_t arrow = text.rfind(kArrow);
    line.command = trimmed(text.substr(0, arrow));
    if (arrow != std::string::npos) line.answer = trimmed(text.substr(arrow + kArrow.size()));
    for (std::size_t at = 0; (at = line.command.find(kNewline, at)) != std::string::npos;) {
      line.command.replace(at, kNewline.size(), "\n");
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

bool is_installed(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

Writes asked(const Line& line, const Sandbox& sandbox) {
  return find_writes(line.command, {.folder = sandbox.work(), .home = sandbox.home(), .files = DiskFolder()});
}

std::string shown(const Write& write, const Sandbox& sandbox) {
  std::string path = write.path;
  if (path == sandbox.work()) {
    path = ".";
  } else if (path.starts_with(sandbox.work() + '/')) {
    path.erase(0, sandbox.work().size() + 1);
  } else if (path.starts_with(sandbox.home() + '/')) {
    path = '~' + path.substr(sandbox.home().size());
  } else if (path.starts_with(sandbox.root() + '/')) {
    path = "../" + path.substr(sandbox.root().size() + 1);
  }
  if (path.contains(' ')) path = '\'' + path + '\'';
  if (write.subtree) path += write.name.empty() ? "/**" : "/**/" + write.name;
  if (write.is_deep) path += "/**";
  if (write.among) path += " in git";
  return path;
}

std::string answer(const Writes& writes, const Sandbox& sandbox) {
  std::vector<std::string> parts;
  for (const Write& write : writes.files) parts.push_back(shown(write, sandbox));
  std::string text = fmt::format("{}", fmt::join(parts, " "));
  if (!writes.unseen.empty()) {
    text += fmt::format("{}cannot see ({})", text.empty() ? "" : " ", fmt::join(writes.unseen, "; "));
  }
  return text.empty() ? "nothing" : text;
}

bool covers(const Write& write, const fs::path& changed) {
  std::error_code ignored;
  if (write.among && !write.among->contains(changed.string())) return false;
  for (const fs::path& path : {fs::path(write.path), fs::weakly_canonical(write.path, ignored)}) {
    if (path.lexically_normal() == changed) return true;
    if (!write.subtree) continue;
    const std::string below = changed.lexically_relative(path.lexically_normal()).string();
    if (below.starts_with("..") || below.empty()) continue;
    const auto is_named = [&](const fs::path& name) {
      return fnmatch(write.name.c_str(), name.c_str(), 0) == 0;
    };
    if (write.name.empty() || is_named(changed.filename())) return true;
    if (write.is_deep && std::ranges::any_of(fs::path(below), is_named)) return true;
  }
  return false;
}

class CommandLine : public testing::TestWithParam<Line> {};

TEST_P(CommandLine, IsAnsweredAsWritten) {
  const Line& line = GetParam();
  const Sandbox sandbox;

  const std::string given = answer(asked(line, sandbox), sandbox);

  if (given != line.answer) {
    ADD_FAILURE_AT(table().c_str(), line.number) << "said:    " << given << "\nwritten: " << line.answer;
  }
}

TEST_P(CommandLine, WritesNothingElse) {
  const Line& line = GetParam();
  if (line.mark.starts_with("not run")) GTEST_SKIP() << line.mark;
  if (line.mark.starts_with("needs ") && !is_installed(line.mark.substr(6))) GTEST_SKIP() << line.mark;
  const Sandbox sandbox;
  const Writes said = asked(line, sandbox);
  const auto before = sandbox.look();

  ASSERT_TRUE(sandbox.run(line.command)) << "it took too long";

  const auto after = sandbox.look();
  if (!said.unseen.empty()) return;
  std::vector<std::string> changed;
  for (const auto& [path, state] : before) {
    const auto now = after.find(path);
    if (now == after.end() || now->second != state) changed.push_back(path);
  }
  for (const auto& [path, state] : after) {
    if (!before.contains(path)) changed.push_back(path);
  }
  for (const std::string& path : changed) {
    const bool is_named =
        std::ranges::any_of(said.files, [&](const Write& write) { return covers(write, path); });
    if (!is_named) ADD_FAILURE_AT(table().c_str(), line.number) << path << " changed and was not named";
  }
  // A command that fails shows nothing.
  EXPECT_EQ(changed.empty(), said.files.empty() || line.mark == "in vain") << line.command;
}

std::string test_name(const testing::TestParamInfo<Line>& info) {
  return fmt::format("line_{}", info.param.number);
}

INSTANTIATE_TEST_SUITE_P(Table, CommandLine, testing::ValuesIn(all_lines()), test_name);

TEST(CommandLines, AreManyAndMostAreRun) {
  const auto lines = all_lines();
  EXPECT_GE(lines.size(), 120U);
  const auto not_run = std::ranges::count_if(lines, [](const Line& line) {
    return line.mark.starts_with("needs") || line.mark.starts_with("not run");
  });
  EXPECT_LE(not_run * 4, static_cast<long>(lines.size()));
}

TEST(CommandLines, CanBeRewritten) {
  if (std::getenv("LEASEHOLD_COMMAND_LINES_REWRITE") == nullptr) GTEST_SKIP() << "not asked for";
  const auto lines = all_lines();
  std::ifstream file(table());
  std::string all;
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    const auto line = std::ranges::find(lines, number, &Line::number);
    if (line != lines.end()) {
      const Sandbox sandbox;
      text = trimmed(text.substr(0, text.rfind(kArrow))) + std::string(kArrow) +
             answer(asked(*line, sandbox), sandbox);
    }
    all += text + '\n';
  }
  file.close();
  std::ofstream(table()) << all;
}

}  // namespace
}  // namespace leasehold::shell
