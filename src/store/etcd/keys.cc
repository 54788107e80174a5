#include "store/etcd/keys.h"

#include <fmt/format.h>

#include "util/percent.h"

namespace leasehold::etcd {

KeyRange area(const std::string& name) { return {name, name + '\1'}; }

KeyRange names_below(const std::string& prefix) {
  std::string end = prefix;
  end.back() = '0';  // Comes right after '/'.
  return {prefix, std::move(end)};
}

Keys::Keys(std::string_view prefix, std::string_view workspace)
    : root_(fmt::format("{}/w/{}/", prefix, percent_encoded(workspace, '/'))) {}

std::string Keys::named(std::string_view kind, std::string_view name) const {
  std::string key;
  key.reserve(root_.size() + kind.size() + name.size() + 40);
  key += root_;
  key += kind;
  key += name;
  return key;
}

std::string Keys::member(std::string area, char kind, std::string_view name) {
  area += '\0';
  area += kind;
  area += name;
  return area;
}

std::pair<std::string, std::string> Keys::lease_of(const Owner& owner, const LeaseId& id,
                                                   std::string_view path, std::string_view name) const {
  if (name == id.text) return {member(of(owner), 'a', id.text), std::string(path)};
  return {member(member(of(owner), 'a', path), 'l', name), id.text};
}

std::pair<LeaseId, std::string> Keys::owned_lease(std::string_view in_area, const std::string& value) {
  const std::string_view rest = in_area.substr(1);
  const std::size_t nul = rest.find('\0');
  if (nul == std::string_view::npos) return {LeaseId{std::string(rest)}, value};
  return {LeaseId{value}, std::string(rest.substr(0, nul))};
}

bool Keys::is_wait(std::string_view key) {
  const std::string_view name = key.substr(std::min(key.find('\0'), key.size()));
  return name.size() > 1 && (name[1] == 't' || name[1] == 'w' || name[1] == 'q');
}

std::string Keys::owner_text(const Owner& owner) {
  return percent_encoded(owner.session_id, '/') + "/" + percent_encoded(owner.agent_id, '/');
}

std::string Keys::of_session(std::string_view session_id) const {
  return named("of/", percent_encoded(session_id, '/') + "/");
}

std::string Keys::last(const Owner& owner, std::string_view path) const {
  const Owner whose =
      owner.session_id.empty() ? owner : Owner{.agent_id = {}, .session_id = owner.session_id};
  return named("last/", owner_text(whose) + "/" + std::string(path));
}

std::string Keys::answer(const Owner& owner, std::string_view key) const {
  return named("answer/", owner_text(owner) + "/" + std::string(key));
}

std::string Keys::bucket(std::uint64_t number) const {
  return fmt::format("{}history/{:012}/", root_, number);
}

std::string base_key(std::string_view prefix) { return fmt::format("{}/base", prefix); }
std::string stamp_key(std::string_view prefix) { return fmt::format("{}/stamp", prefix); }

std::string request_key(std::string_view prefix, std::string_view client, std::uint64_t number) {
  return fmt::format("{}/request/{}/{}", prefix, client, number);
}

}  // namespace leasehold::etcd
