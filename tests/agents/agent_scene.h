// A repository that `lease init` prepared, and real agents in it whose model is tests/agents/model.js.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "agents_folder.h"
#include "cli/scene.h"

namespace leasehold {

namespace json = boost::json;

enum class Agent { claude, codex };

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
    ASSERT_EQ(as("x", {"init", "--agents", "claude-code,codex"}).exit, 0);

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
  }

  std::string path(const std::string& file) const { return root() + "/" + file; }
  void write(const std::string& file, const std::string& text) const { std::ofstream(path(file)) << text; }
  std::string read(const std::string& file) const {
    std::ifstream stream(path(file));
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  bool comes(const std::string& file) const {
    return eventually([&] { return std::filesystem::exists(path(file)); });
  }
  // As many lines as this are in a log: so many calls of tools were answered.
  bool has_lines(const std::string& file, long count) const {
    return eventually([&] {
      const std::string text = read(file);
      return std::ranges::count(text, '\n') >= count;
    });
  }

  std::string script(const std::string& log, const std::vector<Step>& steps) const {
    json::array list;
    for (const Step& step : steps) {
      json::object one = {{"tool", step.tool}, {"input", step.input}};
      if (!step.until.empty()) one["until"] = path(step.until);
      if (!step.space.empty()) one["namespace"] = step.space;
      list.push_back(std::move(one));
    }
    return "[[" + json::serialize(json::object{{"log", path(log)}, {"steps", std::move(list)}}) + "]]";
  }

  // An agent that works off its steps and ends. What its tools gave is in the log.
  // As if `lease` were not installed; what it was is there all the same.
  void take_lease_off_path() { binaries_.clear(); }

  std::unique_ptr<StartedProgram> start(Agent agent, const std::string& log,
                                        const std::vector<Step>& steps) const {
    std::vector<std::string> command;
    if (agent == Agent::claude) {
      command = {programs_ + "/claude",
                 "-p",
                 script(log, steps),
                 "--permission-mode",
                 "acceptEdits",
                 "--allowedTools",
                 "Bash",
                 "--output-format",
                 "json"};
    } else {
      command = {programs_ + "/codex", "exec", "--dangerously-bypass-hook-trust",
                 "--dangerously-bypass-approvals-and-sandbox", script(log, steps)};
    }
    return std::make_unique<StartedProgram>(command, environment(), root());
  }

  // The same call in each agent's own words.
  Step edit(Agent agent, const std::string& file, const std::string& from, const std::string& to,
            const std::string& until = {}) const {
    if (agent == Agent::claude)
      return {"Edit", {{"file_path", path(file)}, {"old_string", from}, {"new_string", to}}, until};
    return {"apply_patch",
            json::string(fmt::format("*** Begin Patch\n*** Update File: {}\n@@\n-{}\n+{}\n*** End Patch",
                                     file, from, to)),
            until};
  }
  Step add(Agent agent, const std::string& file, const std::string& until = {}) const {
    if (agent == Agent::claude) return {"Write", {{"file_path", path(file)}, {"content", "new\n"}}, until};
    return {"apply_patch",
            json::string(fmt::format("*** Begin Patch\n*** Add File: {}\n+new\n*** End Patch", file)), until};
  }
  Step shell(Agent agent, const std::string& line, const std::string& until = {}) const {
    if (agent == Agent::claude) return {"Bash", {{"command", line}, {"description", "x"}}, until};
    return {"exec_command", {{"cmd", line}}, until};
  }
  Step lease(Agent agent, const std::string& arguments, const std::string& until = {}) const {
    return shell(agent, LEASE_BINARY " " + arguments, until);
  }
  // Claude Code changes no file that it has not read.
  std::vector<Step> prepared(Agent agent, const std::string& file, std::vector<Step> steps) const {
    if (agent == Agent::claude) steps.insert(steps.begin(), {"Read", {{"file_path", path(file)}}});
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
    return {
        "spawn_agent", {{"message", script(log, steps)}, {"agent_type", "default"}}, {}, "multi_agent_v1"};
  }

  json::array leases() const { return json("x", {"ls"}).at("leases").as_array(); }
  bool is_free(const std::string& file) const { return !contains(as("x", {"ls"}).out, file); }

 private:
  std::vector<std::string> environment() const {
    return {"PATH=" + binaries_ + "/usr/local/bin:/usr/bin:/bin",
            "HOME=" + root() + "/.home",
            "SHELL=/bin/bash",
            "TMPDIR=" + root() + "/.home",
            "CLAUDE_CONFIG_DIR=" + root() + "/.home/claude",
            "ANTHROPIC_BASE_URL=http://127.0.0.1:" + port_,
            "ANTHROPIC_API_KEY=none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
            "CODEX_HOME=" + root() + "/.home/codex"};
  }

  std::string programs_;
  std::string binaries_ = std::filesystem::path(LEASE_BINARY).parent_path().string() + ":";
  std::string port_;
  std::optional<StartedProgram> model_;
};

}  // namespace leasehold
