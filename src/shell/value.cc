#include "shell/value.h"

#include "util/unique.h"

namespace leasehold::shell {

void append_to_tree(Argument& tree, std::string_view more) {
  if (more.empty()) return;
  if (more.find_first_of("*?[\\") != std::string_view::npos) {
    tree.name.clear();
  } else if (const std::size_t slash = more.rfind('/'); slash != std::string_view::npos) {
    tree.name = more.substr(slash + 1);
  } else if (!tree.name.empty()) {
    tree.name += more;
  }
  tree.only_folders = tree.only_files = false;
}

void limit_folders(State& state) {
  constexpr std::size_t kFoldersMax = 8;
  if (state.folders.size() <= kFoldersMax) return;
  state.folders.resize(kFoldersMax);
  if (state.folder_why.empty()) state.folder_why = "the folder depends on what runs";
}

State either(State one, State other) {
  if (one.has_ended) return other;
  if (other.has_ended) return one;
  add_missing(one.folders, other.folders);
  if (one.folder_why.empty()) one.folder_why = other.folder_why;
  limit_folders(one);
  one.is_physical = one.is_physical || other.is_physical;
  if (one.last_folder != other.last_folder) one.last_folder.reset();
  if (one.pushed != other.pushed) one.pushed.clear();
  const auto forget = [](Arguments& value, const std::string& name) {
    value = {{.why = "variable " + name + " depends on what runs"}};
  };
  if (!one.variables.is_same(other.variables)) {
    Variables& variables = one.variables.changed();
    for (auto& [name, value] : variables) {
      const auto found = other.variables->find(name);
      if (found == other.variables->end() || found->second != value) forget(value, name);
    }
    for (const auto& [name, value] : *other.variables) {
      if (const auto [added, is_new] = variables.try_emplace(name); is_new) forget(added->second, name);
    }
  }
  if (!one.exported.is_same(other.exported))
    one.exported.changed().insert(other.exported->begin(), other.exported->end());
  if (one.positional != other.positional) one.positional = {{.why = "its arguments depend on what runs"}};
  if (!one.functions.is_same(other.functions)) {
    for (const auto& [name, definition] : *other.functions)
      one.functions.changed().try_emplace(name, definition);
  }
  return one;
}

}  // namespace leasehold::shell
