#include "cli/identity.h"

#include <gtest/gtest.h>

#include <map>

namespace leasehold {
namespace {

using Set = std::map<std::string, std::string>;

std::string identity(const IdentityFlags& flags, const Set& set, const Noted& noted = {}) {
  const Identity who = identify(
      flags,
      [&](const char* name) -> const char* {
        const auto variable = set.find(name);
        return variable == set.end() ? nullptr : variable->second.c_str();
      },
      {"ann", "box"}, noted);
  return who.owner.agent_id + "/" + who.owner.session_id + "/" + who.pr_id + " from " + who.source;
}

const Set kClaude = {{"CLAUDECODE", "1"}, {"CLAUDE_CODE_SESSION_ID", "c-1"}};

TEST(Identity, IsTheUserWhereNothingElseIsSaid) {
  EXPECT_EQ(identity({}, {}), "ann@box// from user and host");
}

TEST(Identity, IsTheHostAgent) { EXPECT_EQ(identity({}, kClaude), "claude-code/c-1/ from the agent around"); }

TEST(Identity, VariablesBeatTheHostAgent) {
  Set set = kClaude;
  set["LEASE_AGENT"] = "bob";
  EXPECT_EQ(identity({}, set), "bob/c-1/ from environment LEASE_AGENT");
  set["LEASE_SESSION"] = "s";
  set["LEASE_PR"] = "42";
  EXPECT_EQ(identity({}, set), "bob/s/42 from environment LEASE_AGENT");
  set["LEASE_AGENT"] = "";
  EXPECT_EQ(identity({}, set), "claude-code/s/42 from the agent around");
}

TEST(Identity, FlagsBeatEverything) {
  const Set set = {{"LEASE_AGENT", "bob"}, {"LEASE_SESSION", "s"}, {"LEASE_PR", "42"}};
  EXPECT_EQ(identity({.agent_id = "cyd", .session_id = "t", .pr_id = "7"}, set), "cyd/t/7 from flag --agent");
}

Noted noted(const std::string& agent, const std::string& session) {
  return [=] { return Owner{agent, session}; };
}

TEST(Identity, IsWhatHooksNotedWhereVariablesTellNoSession) {
  EXPECT_EQ(identity({}, {{"GEMINI_CLI", "1"}}, noted("gemini", "g-1")), "gemini/g-1/ from the agent around");
  EXPECT_EQ(identity({}, {}, noted("windsurf", "w-1")), "windsurf/w-1/ from the agent around");
  EXPECT_EQ(identity({}, kClaude, noted("gemini", "g-1")), "gemini/g-1/ from the agent around")
      << "one that Claude Code started";
  EXPECT_EQ(identity({}, kClaude, noted("claude-code", "c-0")), "claude-code/c-1/ from the agent around");
  EXPECT_EQ(identity({}, {}, noted("cursor", "k-1")), "ann@box// from user and host")
      << "a terminal in the editor";
  EXPECT_EQ(identity({.agent_id = "bob"}, {}, noted("gemini", "g-1")), "bob/g-1/ from flag --agent");
  EXPECT_EQ(identity({.agent_id = "bob", .session_id = "s"}, {}, noted("gemini", "g-1")),
            "bob/s/ from flag --agent");
}

}  // namespace
}  // namespace leasehold
