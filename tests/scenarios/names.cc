#include "scenarios/names.h"

#include "model/scope.h"

namespace leasehold::scenario {

Owner parse_owner(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
}

std::string to_text(const Owner& owner) {
  return owner.session_id.empty() ? owner.agent_id : owner.agent_id + '@' + owner.session_id;
}

bool looks_like_path(std::string_view text) { return text.find_first_of("/.:") != std::string_view::npos; }

Scope parse_scope(std::string_view text) {
  if (text == "/") return {"/", true};
  const bool subtree = text.ends_with('/');
  if (subtree) text.remove_suffix(1);
  if (text.starts_with('/') || text.find(':') != std::string_view::npos) return {std::string(text), subtree};
  return {'/' + std::string(text), subtree};
}

std::string to_text(const Scope& scope) {
  if (!is_path(scope.path)) return scope.path;
  return scope.path.substr(1) + (scope.subtree || scope.path == "/" ? "/" : "");
}

}  // namespace leasehold::scenario
