#include "run/descendants.h"

#include <charconv>
#include <filesystem>
#include <map>

#include "env/processes.h"

namespace leasehold {
namespace {

std::optional<pid_t> pid_in(const std::string& name) {
  pid_t pid = 0;
  const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (problem != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return pid;
}

// Parent to children, zombies included: they may still be somebody's parent while their threads end.
std::multimap<pid_t, ProcessStat> children_of_all(const ProcFolder& proc) {
  std::multimap<pid_t, ProcessStat> children;
  std::error_code problem;
  for (auto entry = std::filesystem::directory_iterator("/proc", problem);
       !problem && entry != std::filesystem::directory_iterator(); entry.increment(problem)) {
    const auto pid = pid_in(entry->path().filename().string());
    if (!pid) continue;
    if (const auto stat = proc.stat(*pid)) children.emplace(stat->parent, *stat);
  }
  return children;
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t pid) {
  const ProcFolder proc;
  if (!proc.is_own()) return {};
  const auto children = children_of_all(proc);
  std::vector<pid_t> running;
  std::vector<pid_t> parents = {pid};
  while (!parents.empty()) {
    const auto [begin, end] = children.equal_range(parents.back());
    parents.pop_back();
    for (auto child = begin; child != end; ++child) {
      parents.push_back(child->second.pid);
      if (!child->second.has_ended()) running.push_back(child->second.pid);
    }
  }
  return running;
}

}  // namespace leasehold
