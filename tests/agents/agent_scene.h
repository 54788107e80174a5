// A repository that `lease init` prepared, and real agents in it whose model is tests/agents/model.js.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "agents_folder.h"
#include "cli/scene.h"

namespace leasehold {

namespace json = boost::json;

enum class Agent { claude, codex, gemini, copilot, opencode };

// As `lease hook` and `lease init` name it, and leases their owner.
inline std::string name_of(Agent agent) {
  constexpr const char* kNames[] = {"claude-code", "codex", "gemini", "copilot", "opencode"};
  return kNames[static_cast<std::size_t>(agent)];
}

// One call of a tool that the model asks for; `until`: not before this file is there.
struct Step {
  std::string tool;
  json::value input;
  std::string until = {};
  std::string space = {};  // Codex groups some of its tools.
};

class AgentScene : public Scene {
 protected:
  void SetUp() override {
    const std::string folder = agents_folder();
    if (folder.empty()) GTEST_SKIP() << kNoAgents;
    programs_ = folder;

    // Time for one retry, but not three minutes.
    std::ofstream(root() + "/.leasehold.toml") << "gate_retry = \"1s\"\n";
    write("src/a.txt", "one\n");
    ASSERT_EQ(std::system(fmt::format("git init -q {}", root()).c_str()), 0);
    ASSERT_EQ(as("x", {"init", "--agents", "claude-code,codex,gemini,copilot,opencode"}).exit, 0);

    model_.emplace(std::vector<std::string>{"/usr/bin/env", "node", AGENTS_FOLDER "/model.js"},
                   environment());
    ASSERT_TRUE(eventually([&] { return model_->out().ends_with('\n'); }));
    port_ = model_->out().substr(0, model_->out().find('\n'));
    std::filesystem::create_directories(root() + "/.home/codex");
    std::ofstream(root() + "/.home/codex/config.toml") << fmt::format(
        "model = \"gpt-5.5\"\nmodel_provider = \"x\"\ncheck_for_update_on_startup = false\n"
        "[analytics]\nenabled = false\n"
        "[model_providers.x]\nname = \"x\"\nbase_url = \"http://127.0.0.1:{}/v1\"\nwire_api = \"responses\"\n"
        "[projects.\"{}\"]\ntrust_level = \"trusted\"\n",
        port_, root());
    set_up_others();
  }

  std::string path(const std::string& file) const { return root() + "/" + file; }
  void write(const std::string& file, const std::string& text) const { std::ofstream(path(file)) << text; }
  std::string read(const std::string& file) const {
    std::ifstream stream(path(file));
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  // Some agents take their time to start, the more so beside a build.
  bool comes(const std::string& file) const {
    const auto is_there = [&] { return std::filesystem::exists(path(file)); };
    return eventually(is_there) || eventually(is_there) || eventually(is_there);
  }
  // As many lines as this are in a log: so many calls of tools were answered.
  bool has_lines(const std::string& file, long count) const {
    const auto has_them = [&] {
      const std::string text = read(file);
      return std::ranges::count(text, '\n') >= count;
    };
    return eventually(has_them) || eventually(has_them) || eventually(has_them);
  }

  std::string script(const std::string& log, const std::vector<Step>& steps) const {
    json::array list;
    for (const Step& step : steps) {
      json::object one = {{"tool", step.tool}, {"input", step.input}};
      if (!step.until.empty()) one["until"] = path(step.until);
      if (!step.space.empty()) one["namespace"] = step.space;
      list.push_back(std::move(one));
    }
    // In a file: OpenCode rewrites prompts with quotes.
    write(log + ".script", json::serialize(json::object{{"log", path(log)}, {"steps", std::move(list)}}));
    return "[[script:" + path(log + ".script") + "]]";
  }

  // An agent that works off its steps and ends. What its tools gave is in the log.
  // As if `lease` were not installed; what it was is there all the same.
  void take_lease_off_path() { binaries_.clear(); }

  std::unique_ptr<StartedProgram> start(Agent agent, const std::string& log,
                                        const std::vector<Step>& steps) const {
    std::vector<std::string> command;
    const std::string prompt = script(log, steps);
    if (agent == Agent::gemini) {
      command = {"/usr/bin/env",
                 "node",
                 programs_ + "/gemini",
                 "-m",
                 "gemini-2.5-flash",
                 "--approval-mode",
                 "yolo",
                 "-p",
                 prompt,
                 "-o",
                 "json"};
    } else if (agent == Agent::copilot) {
      command = {programs_ + "/copilot", "-p", prompt, "--allow-all-tools", "--allow-all-paths"};
    } else if (agent == Agent::opencode) {
      command = {programs_ + "/opencode", "run", prompt};
    } else if (agent == Agent::claude) {
      command = {
          programs_ + "/claude", "-p",  prompt, "--permission-mode", "acceptEdits", "--allowedTools", "Bash",
          "--output-format",     "json"};
    } else {
      command = {programs_ + "/codex", "exec", "--dangerously-bypass-hook-trust",
                 "--dangerously-bypass-approvals-and-sandbox", prompt};
    }
    return std::make_unique<StartedProgram>(command, environment(), root());
  }

  // The same call in each agent's own words.
  Step edit(Agent agent, const std::string& file, const std::string& from, const std::string& to,
            const std::string& until = {}) const {
    switch (agent) {
      case Agent::claude:
        return {"Edit", {{"file_path", path(file)}, {"old_string", from}, {"new_string", to}}, until};
      case Agent::gemini:
        return {"replace",
                {{"file_path", file}, {"instruction", "x"}, {"old_string", from}, {"new_string", to}},
                until};
      case Agent::copilot:
        return {"edit", {{"path", path(file)}, {"old_str", from}, {"new_str", to}}, until};
      case Agent::opencode:
        return {"edit", {{"filePath", path(file)}, {"oldString", from}, {"newString", to}}, until};
      case Agent::codex:
        break;
    }
    return {"apply_patch",
            json::string(fmt::format("*** Begin Patch\n*** Update File: {}\n@@\n-{}\n+{}\n*** End Patch",
                                     file, from, to)),
            until};
  }
  Step add(Agent agent, const std::string& file, const std::string& until = {}) const {
    if (agent == Agent::claude) return {"Write", {{"file_path", path(file)}, {"content", "new\n"}}, until};
    if (agent == Agent::gemini) return {"write_file", {{"file_path", file}, {"content", "new\n"}}, until};
    if (agent == Agent::copilot) return {"create", {{"path", path(file)}, {"file_text", "new\n"}}, until};
    if (agent == Agent::opencode) return {"write", {{"filePath", file}, {"content", "new\n"}}, until};
    return {"apply_patch",
            json::string(fmt::format("*** Begin Patch\n*** Add File: {}\n+new\n*** End Patch", file)), until};
  }
  Step shell(Agent agent, const std::string& line, const std::string& until = {}) const {
    const json::object described = {{"command", line}, {"description", "x"}};
    if (agent == Agent::claude) return {"Bash", described, until};
    if (agent == Agent::gemini) return {"run_shell_command", described, until};
    if (agent == Agent::copilot || agent == Agent::opencode) return {"bash", described, until};
    return {"exec_command", {{"cmd", line}}, until};
  }
  Step lease(Agent agent, const std::string& arguments, const std::string& until = {}) const {
    return shell(agent, LEASE_BINARY " " + arguments, until);
  }
  // Claude Code and OpenCode change no file that they have not read.
  std::vector<Step> prepared(Agent agent, const std::string& file, std::vector<Step> steps) const {
    if (agent == Agent::claude) steps.insert(steps.begin(), {"Read", {{"file_path", path(file)}}});
    if (agent == Agent::opencode) steps.insert(steps.begin(), {"read", {{"filePath", path(file)}}});
    return steps;
  }
  Step subagent(Agent agent, const std::string& log, const std::vector<Step>& steps) const {
    if (agent == Agent::claude) {
      return {"Agent",
              {{"description", "x"},
               {"prompt", script(log, steps)},
               {"subagent_type", "general-purpose"},
               {"run_in_background", false}}};
    }
    if (agent == Agent::opencode) {
      return {"task", {{"description", "x"}, {"prompt", script(log, steps)}, {"subagent_type", "general"}}};
    }
    return {
        "spawn_agent", {{"message", script(log, steps)}, {"agent_type", "default"}}, {}, "multi_agent_v1"};
  }

  json::array leases() const { return json("x", {"ls"}).at("leases").as_array(); }
  bool is_free(const std::string& file) const { return !contains(as("x", {"ls"}).out, file); }

 private:
  // Each is told where its model is and that it may trust this folder.
  void set_up_others() const {
    const std::string home = root() + "/.home";
    for (const char* const folder : {"/.gemini", "/copilot", "/config/opencode"})
      std::filesystem::create_directories(home + folder);
    std::ofstream(home + "/.gemini/settings.json")
        << R"({"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"disableAutoUpdate":true},)"
        << R"("privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false}})";
    std::ofstream(home + "/copilot/config.json")
        << json::serialize(json::object{{"trustedFolders", {root()}}});
    const json::object model = {
        {"name", "m"}, {"tool_call", true}, {"limit", {{"context", 100000}, {"output", 1000}}}};
    const json::object provider = {
        {"npm", "@ai-sdk/openai-compatible"},
        {"name", "x"},
        {"options", {{"baseURL", "http://127.0.0.1:" + port_ + "/v1"}, {"apiKey", "none"}}},
        {"models", {{"m", model}}}};
    std::ofstream(home + "/config/opencode/opencode.json")
        << json::serialize(json::object{{"provider", {{"x", provider}}},
                                        {"model", "x/m"},
                                        {"small_model", "x/m"},
                                        {"autoupdate", false},
                                        {"share", "disabled"},
                                        {"snapshot", false},
                                        {"permission", {{"*", "allow"}}}});
  }

  std::vector<std::string> environment() const {
    return {"PATH=" + binaries_ + "/usr/local/bin:/usr/bin:/bin", "HOME=" + root() + "/.home",
            "GEMINI_CLI_HOME=" + root() + "/.home", "GEMINI_API_KEY=none",
            "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:" + port_, "GEMINI_CLI_TRUST_WORKSPACE=true",
            "GEMINI_CLI_NO_RELAUNCH=true",  // One process: the one that a test kills.
            "COPILOT_HOME=" + root() + "/.home/copilot", "COPILOT_OFFLINE=true",
            "COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:" + port_ + "/v1", "COPILOT_PROVIDER_API_KEY=none",
            "COPILOT_MODEL=gpt-4.1", "XDG_CONFIG_HOME=" + root() + "/.home/config",
            "XDG_DATA_HOME=" + root() + "/.home/data", "XDG_CACHE_HOME=" + root() + "/.home/cache",
            "XDG_STATE_HOME=" + root() + "/.home/state",
            // It would get 60 MB of types for each project.
            "npm_config_registry=http://127.0.0.1:1", "npm_config_fetch_retries=0",
            "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "SHELL=/bin/bash", "TMPDIR=" + root() + "/.home",
            "CLAUDE_CONFIG_DIR=" + root() + "/.home/claude", "ANTHROPIC_BASE_URL=http://127.0.0.1:" + port_,
            "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
            "CODEX_HOME=" + root() + "/.home/codex"};
  }

  std::string programs_;
  std::string binaries_ = std::filesystem::path(LEASE_BINARY).parent_path().string() + ":";
  std::string port_;
  std::optional<StartedProgram> model_;
};

}  // namespace leasehold
