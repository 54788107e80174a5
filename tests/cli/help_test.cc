// Help, completions and manual pages are complete, and come from the same texts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "scene.h"

namespace leasehold {
namespace {

using Help = Scene;

// What a script prints, and its status.
Ran shell(const std::string& script, const std::string& folder) {
  std::ofstream(folder + "/script") << script << "\n";
  const int status = std::system(fmt::format("cd {} && bash ./script >out 2>err", folder).c_str());
  const auto text = [&](const char* name) {
    std::ifstream file(folder + "/" + name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text("out"), text("err")};
}

TEST_F(Help, ExplainsEveryCommandTheSameWayEverywhere) {
  const auto commands = json("ann", {"help"}).at("commands").as_array();
  EXPECT_GE(commands.size(), 20u);
  for (const auto& command : commands) {
    const std::string name(command.at("name").as_string());
    const Ran ran = as("ann", {"help", name});
    EXPECT_EQ(ran.exit, 0);
    EXPECT_EQ(as("ann", {name, "--help"}).out, ran.out) << name;
    EXPECT_TRUE(contains(ran.out, "usage: lease " + name)) << ran.out;
    for (const auto& option : command.at("options").as_array()) {
      const std::string names(option.at("names").as_string());
      EXPECT_TRUE(contains(ran.out, names.substr(names.find("--")))) << name << names;
      EXPECT_FALSE(option.at("text").as_string().empty());
    }
    EXPECT_TRUE(contains(as("ann", {"help"}).out, "  " + name + " ")) << name;
  }
}

TEST_F(Help, CompletionsLoadInBashAndComplete) {
  std::ofstream(root() + "/completion") << as("ann", {"completion", "bash"}).out;
  std::ofstream(root() + "/try")
      << "source ./completion || exit 1\n"
         "COMP_WORDS=(lease acq); COMP_CWORD=1; _lease; echo \"${COMPREPLY[@]}\"\n"
         "COMP_WORDS=(lease acquire --mode ''); COMP_CWORD=3; _lease; echo \"${COMPREPLY[@]}\"\n"
         "COMP_WORDS=(lease acquire --idem); COMP_CWORD=2; _lease; echo \"${COMPREPLY[@]}\"\n"
         "COMP_WORDS=(lease acquire src/a); COMP_CWORD=2; _lease; echo \"${COMPREPLY[@]}\"\n";

  const Ran ran = shell("source ./try", root());

  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out, "acquire\nexclusive shared\n--idempotency-key\nsrc/a.ts\n");
}

TEST_F(Help, CompletionsLoadInZshAndComplete) {
  std::ofstream(root() + "/_lease") << as("ann", {"completion", "zsh"}).out;
  // Its completion works only where somebody types. What is typed next waits for what was completed.
  std::ofstream(root() + "/try")
      << "zmodload zsh/zpty\n"
         "zpty typist zsh -f -i\n"
         "seen=\n"
         "type() { zpty -w -n typist \"$1\"; }\n"
         "expect() { repeat 600; do zpty -r -t typist part && seen+=$part; "
         "[[ $seen == *$1* ]] && { seen=; return }; sleep 0.05; done; print -r missing: $1; exit 1 }\n"
         "type $'fpath=('$PWD$' $fpath); autoload -U compinit; compinit -u -D; PS1=rea\"dy\"\\n'\n"
         "expect ready\n"
         "type $'lease acq\\t'; expect acquire\n"
         "type $' --idem\\t'; expect --idempotency-key\n"
         "type $' k --mode ex\\t'; expect exclusive\n"
         "type $' src/a\\t'; expect src/a.ts\n"
         "zpty -d typist\n";

  const Ran ran = shell("zsh -f ./try", root());

  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
}

TEST_F(Help, CompletionsLoadInFishAndComplete) {
  std::ofstream(root() + "/completion") << as("ann", {"completion", "fish"}).out;

  const Ran ran = shell(
      "fish --no-config -c \"source completion; complete -C 'lease acq'; complete -C 'lease acquire --mode "
      "ex';"
      " complete -C 'lease acquire --idem'; complete -C 'lease acquire src/a'\" | cut -f 1",
      root());

  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out, "acquire\nexclusive\n--idempotency-key\nsrc/a.ts\n");
}

TEST_F(Help, ManualPagesRenderWithoutWarnings) {
  std::filesystem::create_directory(root() + "/man");
  ASSERT_EQ(as("ann", {"help", "--man-pages", "man"}).exit, 0);
  std::size_t pages = 0;
  for (const auto& page : std::filesystem::directory_iterator(root() + "/man")) {
    ++pages;
    const Ran ran = shell("groff -man -Tutf8 -ww " + page.path().string(), root());
    EXPECT_EQ(ran.exit, 0);
    EXPECT_EQ(ran.err, "") << page.path();
    EXPECT_TRUE(contains(ran.out, "User Commands")) << page.path();
  }
  EXPECT_EQ(pages, json("ann", {"help"}).at("commands").as_array().size() + 1);
}

TEST_F(Help, WritesManualPagesOnlyWhereItIsTold) {
  EXPECT_EQ(as("ann", {"help", "--man-pages", ""}).exit, 64);
}

}  // namespace
}  // namespace leasehold
