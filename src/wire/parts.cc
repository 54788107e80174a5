#include "wire/parts.h"

namespace leasehold::wire {

json::value process_json(const std::optional<Process>& process) {
  if (!process) return nullptr;
  return json::object{{"machine_id", process->machine_id},
                      {"boot_id", process->boot_id},
                      {"pid_namespace", process->pid_namespace},
                      {"pid", process->pid},
                      {"start_time", process->start_time}};
}

std::optional<Process> read_process(const Reader& reader, std::string_view name) {
  const json::value* value = reader.find(name);
  if (value == nullptr) return std::nullopt;
  const Reader part(*value, std::string(name));
  Process process;
  part.get("machine_id", process.machine_id);
  part.get("boot_id", process.boot_id);
  part.get("pid_namespace", process.pid_namespace);
  part.get("pid", process.pid);
  part.get("start_time", process.start_time);
  part.expect_no_others();
  return process;
}

Holder read_holder(const Reader& reader) {
  Holder holder;
  reader.get("agent_id", holder.owner.agent_id);
  reader.get("session_id", holder.owner.session_id);
  reader.get("pr_id", holder.pr_id);
  reader.get("host", holder.host);
  holder.process = read_process(reader, "process");
  return holder;
}

}  // namespace leasehold::wire
