#include "wire/reader.h"

#include <fmt/format.h>

#include "util/rfc3339.h"
#include "util/utf8.h"

namespace leasehold::wire {

Reader::Reader(const json::value& value, std::string where) : where_(std::move(where)) {
  if (!value.is_object()) {
    throw Malformed{where_.empty() ? "The document has to be one JSON object: {...}."
                                   : fmt::format("{} has to be an object: {{...}}.", where_)};
  }
  object_ = &value.get_object();
}

const json::value* Reader::find(std::string_view name) const {
  known_.insert(name);
  const json::value* found = object_->if_contains(name);
  return found == nullptr || found->is_null() ? nullptr : found;
}

void Reader::wrong(std::string_view name, std::string_view expected) const {
  throw Malformed{fmt::format("{}{}{} has to be {}.", where_, where_.empty() ? "" : ".", name, expected)};
}

void Reader::get(std::string_view name, std::string& to) const {
  const json::value* value = find(name);
  if (value == nullptr) return;
  if (!value->is_string()) wrong(name, "a text");
  to = std::string_view(value->get_string());
}

void Reader::get(std::string_view name, bool& to) const {
  const json::value* value = find(name);
  if (value == nullptr) return;
  if (!value->is_bool()) wrong(name, "true or false");
  to = value->get_bool();
}

void Reader::get(std::string_view name, std::vector<std::string>& to) const {
  get_all(name, to, [&](const json::value& one) -> std::string {
    if (!one.is_string()) wrong(name, "a list of texts");
    return std::string(std::string_view(one.get_string()));
  });
}

void Reader::get(std::string_view name, Duration& to) const {
  std::int64_t milliseconds = to.count();
  get(name, milliseconds);
  to = Duration(milliseconds);
}

void Reader::get(std::string_view name, WallTime& to) const {
  std::string text;
  get(name, text);
  if (!has(name)) return;
  const auto moment = parse_rfc3339(text);
  if (!moment) wrong(name, "a moment, such as 2026-11-15T08:47:11Z");
  to = *moment;
}

void Reader::get(std::string_view name, Time& to) const {
  WallTime wall;
  if (!has(name)) {
    to = kForever;
    return;
  }
  get(name, wall);
  to = from_wall(wall);
}

void Reader::expect_no_others() const {
  for (const auto& member : *object_) {
    if (known_.contains(member.key())) continue;
    throw Malformed{
        fmt::format("{}{}{} is not known here.", where_, where_.empty() ? "" : ".", in_quotes(member.key()))};
  }
}

Time from_wall(WallTime wall) { return Time(wall.time_since_epoch()); }

}  // namespace leasehold::wire
