#include "run/descendants.h"

#include <filesystem>
#include <map>

#include "env/processes.h"
#include "util/number.h"

namespace leasehold {
namespace {

// Parent to children, zombies included: they may still be somebody's parent while their threads end.
std::multimap<pid_t, ProcessStat> children_of_all(const ProcFolder& proc) {
  std::multimap<pid_t, ProcessStat> children;
  std::error_code problem;
  for (auto entry = std::filesystem::directory_iterator("/proc", problem);
       !problem && entry != std::filesystem::directory_iterator(); entry.increment(problem)) {
    const auto pid = parse_number<pid_t>(entry->path().filename().string());
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
