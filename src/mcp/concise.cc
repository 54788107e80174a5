#include "mcp/concise.h"

#include <algorithm>
#include <array>

namespace leasehold::mcp {
namespace {

constexpr std::array<std::string_view, 13> kForPrograms = {
    "attended",      "created_at", "exit_code", "group_id", "host",       "lease_id", "max_renewals",
    "renewal_count", "requested",  "room",      "trace",    "updated_at", "workspace"};

bool is_empty(const json::value& value) {
  return value.is_null() || (value.is_string() && value.get_string().empty()) ||
         (value.is_array() && value.get_array().empty()) || (value.is_object() && value.get_object().empty());
}

bool is_for_programs(std::string_view name) {
  return name.ends_with("_at_ms") || name == "at_ms" ||
         std::ranges::find(kForPrograms, name) != kForPrograms.end();
}

void shorten(json::value& value);

void shorten(json::object& object) {
  if (const json::object* process = object_at(object, "process")) {
    if (const json::value* pid = process->if_contains("pid")) object["process"] = json::object{{"pid", *pid}};
  }
  json::object kept;
  kept.reserve(object.size());
  for (auto& member : object) {
    if (is_empty(member.value()) || is_for_programs(member.key())) continue;
    shorten(member.value());
    if (!is_empty(member.value())) kept.emplace(member.key(), std::move(member.value()));
  }
  object = std::move(kept);
}

void shorten(json::value& value) {
  if (json::array* const list = value.if_array()) {
    for (json::value& one : *list) shorten(one);
  } else if (json::object* const object = value.if_object()) {
    shorten(*object);
  }
}

}  // namespace

json::object concise(json::object document) {
  for (auto& member : document) shorten(member.value());
  for (const std::string_view name : {"at_ms", "retry_at_ms", "group_id"}) document.erase(name);
  const json::array* const notices =
      document.contains("notices") ? document.at("notices").if_array() : nullptr;
  if (notices != nullptr && notices->empty()) document.erase("notices");
  return document;
}

}  // namespace leasehold::mcp
