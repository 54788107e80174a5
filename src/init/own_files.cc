// The hooks of hosts that take programs instead of settings: OpenCode a module, Cline an executable for each
// event.
#include <fmt/format.h>

#include "init/agent_hooks.h"

namespace leasehold {
namespace {

constexpr std::string_view kMark = "Made by lease init, taken out by `lease init --uninstall`.";

// A throw keeps OpenCode from calling the tool, and its text is what the model reads. Subagents are sessions
// of their own, whose parents are told when they are made. A session has other signs in its name than leases
// take.
constexpr std::string_view kPlugin = R"(import {{ spawnSync }} from "node:child_process";

const blocks = {blocks};
const writing = ["write", "edit", "multiedit", "patch", "apply_patch"];
const asked = [...writing, "bash"{reads}];
const parents = new Map();

const named = (id) => id.replace(/[^A-Za-z0-9.:-]/g, "-");
const root = (id) => {{
  while (parents.has(id)) id = parents.get(id);
  return id;
}};
const tell = (event, id, more) =>
  spawnSync("lease", ["hook", "opencode"], {{
    input: JSON.stringify({{
      event,
      session: named(root(id)),
      subagent: root(id) === id ? "" : named(id),
      ...more,
    }}),
    encoding: "utf8",
    timeout: 5000,
  }});

export const Leasehold = async ({{ directory }}) => ({{
  "chat.message": async ({{ sessionID }}) => {{
    tell("chat.message", sessionID, {{ directory }});
  }},
  "tool.execute.before": async ({{ tool, sessionID }}, {{ args }}) => {{
    if (!asked.includes(tool)) return;
    const answer = tell("tool.execute.before", sessionID, {{ tool, args, directory }});
    if (answer.status === 2) throw new Error(answer.stderr.trim());
    if (answer.status !== 0 && blocks && writing.includes(tool)) throw new Error("{problem}");
  }},
  "tool.execute.after": async ({{ tool, sessionID, args }}, output) => {{
    if (tool !== "read" && !asked.includes(tool)) return;
    const answer = tell("tool.execute.after", sessionID, {{ tool, args, directory }});
    if (answer.stdout) output.output += "\n\n" + answer.stdout;
  }},
  "shell.env": async ({{ sessionID }}, {{ env }}) => {{
    if (sessionID) env.OPENCODE_SESSION_ID = named(root(sessionID));
  }},
  event: async ({{ event }}) => {{
    const {{ info, sessionID }} = event.properties;
    if (info?.parentID) parents.set(info.id, info.parentID);
    if (event.type === "session.idle" || event.type === "session.deleted")
      tell(event.type, sessionID ?? info.id, {{ directory }});
  }},
}});
)";

// Cline asks before every tool. What it says is read here once more, should lease not be there: only writes
// are kept back then.
constexpr std::string_view kClineOrBlock = R"(said=$(cat)
printf '%s' "$said" | lease hook cline && exit
case $said in
*'"write_to_file"'* | *'"replace_in_file"'* | *'"apply_patch"'* | *'"new_rule"'*)
  echo '{{"cancel": true, "errorMessage": "{problem}"}}'
  ;;
esac
exit 0
)";
constexpr std::string_view kCline = "lease hook cline || exit 0\n";

constexpr std::string_view kClineEvents[] = {"PreToolUse", "PostToolUse", "UserPromptSubmit", "TaskStart",
                                             "TaskResume", "TaskCancel",  "TaskComplete"};

std::vector<OwnFile> cline_files(const HookWishes& wishes) {
  std::vector<OwnFile> files;
  for (const std::string_view event : kClineEvents) {
    const bool blocks = event == "PreToolUse" && !wishes.fail_open;
    const std::string lines =
        blocks ? fmt::format(kClineOrBlock, fmt::arg("problem", kNobodyAsked)) : std::string(kCline);
    files.push_back(
        {fmt::format(".clinerules/hooks/{}", event), fmt::format("#!/bin/sh\n# {}\n{}", kMark, lines), true});
  }
  return files;
}

}  // namespace

std::vector<OwnFile> own_files(HookHost host, const HookWishes& wishes) {
  if (host == HookHost::cline) return cline_files(wishes);
  if (host != HookHost::opencode) return {};
  const std::string plugin =
      fmt::format(kPlugin, fmt::arg("blocks", !wishes.fail_open),
                  fmt::arg("reads", wishes.reads ? ", \"read\"" : ""), fmt::arg("problem", kNobodyAsked));
  return {{".opencode/plugins/leasehold.js", fmt::format("// {}\n{}", kMark, plugin), false}};
}

bool is_our_file(std::string_view text) { return text.substr(0, 200).contains(kMark); }

}  // namespace leasehold
