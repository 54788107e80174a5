// For tests: agents in one folder, each told of by reports like those of its host.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "hook/hook.h"
#include "hook/staged_report.h"
#include "support/temp_folder.h"

namespace leasehold {

// Agents in one folder, as their hooks report them, on a real store.
class HookTest : public testing::Test {
 protected:
  HookTest() { write(".leasehold.toml", ""); }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root() + '/' + name).parent_path());
    std::ofstream(root() + '/' + name) << text;
  }

  std::string root() const { return folder.path(); }

  HookAnswer call(const std::string& payload, HookHost host = HookHost::claude_code) const {
    return HookCall(host, payload, root(), none).answer();
  }

  // What the agent is answered; empty: go on.
  std::string edit(const std::string& session, const std::string& file,
                   const std::string& subagent = "") const {
    return call(fmt::format(
                    R"({{"session_id":"{}","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"Edit",
                       "tool_input":{{"file_path":"{}"}}{}}})",
                    session, root(), file.starts_with('/') ? file : root() + '/' + file,
                    subagent.empty() ? "" : fmt::format(R"(,"agent_id":"{}")", subagent)))
        .output;
  }

  std::string patch(const std::string& session, const std::string& files) const {
    std::string text = R"(*** Begin Patch\n)";
    for (const char file : files) text += fmt::format(R"(*** Add File: {}\n+x\n)", file);
    return call(
               fmt::format(
                   R"({{"session_id":"{}","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"apply_patch",
                              "tool_input":{{"command":"{}*** End Patch"}}}})",
                   session, root(), text),
               HookHost::codex)
        .output;
  }

  std::string shell(const std::string& session, const std::string& command,
                    const std::string& within = {}) const {
    return call(fmt::format(
                    R"({{"session_id":"{}","cwd":"{}{}","hook_event_name":"PreToolUse","tool_name":"Bash",
                       "tool_input":{{"command":"{}"}}}})",
                    session, root(), within, command))
        .output;
  }

  // A command with the id that its host gives to a call: PreToolUse, PostToolUse.
  std::string shell_call(const std::string& session, const std::string& event, const std::string& id,
                         HookHost host = HookHost::claude_code) const {
    return call(fmt::format(
                    R"({{"session_id":"{}","cwd":"{}","hook_event_name":"{}","tool_name":"Bash",
                       "tool_use_id":"{}","tool_input":{{"command":"make"}}}})",
                    session, root(), event, id),
                host)
        .output;
  }

  std::string tell(const std::string& session, const std::string& event,
                   const std::string& subagent = "") const {
    return call(fmt::format(R"({{"session_id":"{}","cwd":"{}","hook_event_name":"{}"{}}})", session, root(),
                            event, subagent.empty() ? "" : fmt::format(R"(,"agent_id":"{}")", subagent)))
        .output;
  }

  std::unique_ptr<OpenWorkspace> open() const {
    auto opened = open_workspace({.place = root(), .environment = none});
    EXPECT_TRUE(opened);
    return std::move(*opened);
  }

  std::string after(const std::string& session, const std::string& tool, const std::string& file) const {
    return call(fmt::format(
                    R"({{"session_id":"{}","cwd":"{}","hook_event_name":"PostToolUse","tool_name":"{}",
                       "tool_input":{{"file_path":"{}"}}}})",
                    session, root(), tool, root() + '/' + file))
        .output;
  }

  std::string after_shell(const std::string& session, const std::string& command) const {
    return call(report_after_command(
                    {.host = HookHost::claude_code, .session = session, .root = root(), .subagent = {}},
                    command))
        .output;
  }

  // As its tool does: asked, written, reported.
  std::string write_as(const std::string& session, const std::string& file, const std::string& text) const {
    std::string denied = edit(session, file);
    if (!denied.empty()) return denied;
    write(file, text);
    return after(session, "Edit", file);
  }

  // agent@session of each holder.
  std::string holders(const std::string& key) const {
    std::string text;
    const auto leases = open()->client()->leases({.paths = {key}});
    for (const Lease& lease : *leases) {
      text += fmt::format("{}@{} ", lease.holder.owner.agent_id, lease.holder.owner.session_id);
    }
    return text;
  }

  const TempFolder folder;
  const Variables none = [](const char*) -> const char* { return nullptr; };
};

inline bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace leasehold
