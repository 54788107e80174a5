#include "hook/noted_session.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tuple>

#include "env/caller_process.h"
#include "hook/seen_files.h"
#include "util/path_text.h"
#include "util/read_file.h"
#include "util/replace_file.h"
#include "util/stable_hash.h"

namespace leasehold {
namespace {

std::string file_of(const std::string& folder, const Process& agent) {
  return join(
      folder,
      "agent-" + stable_hash({agent.machine_id, agent.boot_id,
                              fmt::format("{} {} {}", agent.pid_namespace, agent.pid, agent.start_time)}));
}

std::string text_of(const Owner& owner) { return fmt::format("{}\n{}\n", owner.agent_id, owner.session_id); }

std::optional<Owner> read_note(const std::string& file) {
  constexpr std::size_t kMost = 4096;
  const auto text = read_file(file, kMost);
  if (!text) return std::nullopt;
  const std::size_t first = text->find('\n');
  if (first == std::string::npos || !text->ends_with('\n')) return std::nullopt;
  Owner owner = {text->substr(0, first), text->substr(first + 1, text->size() - first - 2)};
  if (owner.agent_id.empty() || owner.session_id.empty()) return std::nullopt;
  return owner;
}

}  // namespace

std::optional<Process> agent_around(const Variables& variables) {
  const ProcFolder proc;
  if (!proc.is_own()) return std::nullopt;
  const auto found = find_caller_process(ProcTable(proc), ::getpid(), variables);
  // A terminal is many people's.
  if (!found || found->agent.empty()) return std::nullopt;
  return identity(read_machine(), found->process);
}

void note_session(const std::string& folder, const Process& agent, const Owner& owner) {
  const std::string file = file_of(folder, agent);
  if (read_note(file) == owner) return;
  ::mkdir(std::string(parent_of(folder)).c_str(), 0700);
  ::mkdir(folder.c_str(), 0700);
  std::ignore = replace_file(file, text_of(owner), Outlives::process);
}

void forget_session(const std::string& folder, const Process& agent, const Owner& owner) {
  const std::string file = file_of(folder, agent);
  if (read_note(file) == owner) ::unlink(file.c_str());
}

SessionAround::SessionAround(const std::string& place, const Variables& variables) {
  const auto tree = find_workspace(place);
  if (!tree || !tree->managed) return;
  if (const auto agent = agent_around(variables)) file_ = file_of(SeenFiles::place_in(*tree), *agent);
}

std::optional<Owner> SessionAround::now() const { return file_.empty() ? std::nullopt : read_note(file_); }

}  // namespace leasehold
