// What a store remembers of sessions, as JSON. docs/formats/session-path.schema.json is the schema of a path.
#include "store/json/fields.h"
#include "store/json/records_json.h"

namespace leasehold {
namespace {

using namespace fields;

SessionPath session_path_from(const json::value& value) {
  const Fields fields(value);
  if (fields.find("path") == nullptr) throw Malformed();
  SessionPath path;
  fields.get("path", path.path);
  fields.get("subtree", path.subtree);
  fields.get_word("mode", path.mode);
  if (fields.find("drop_us") != nullptr) fields.get("drop_us", path.drop_at.emplace());
  return path;
}

RateWindow rate_window_from(const json::value& value) {
  const Fields fields(value);
  RateWindow window;
  fields.get("calls", window.calls);
  fields.get("ends_ns", window.ends_at);
  return window;
}

}  // namespace

std::string to_json(const SessionPath& path) {
  json::object object = {{"path", path.path}, {"mode", word(path.mode)}};
  put(object, "subtree", path.subtree);
  if (path.drop_at) object["drop_us"] = path.drop_at->time_since_epoch().count();
  return json::serialize(object);
}

std::string to_json(const RateWindow& window) {
  return json::serialize(
      json::object{{"calls", window.calls}, {"ends_ns", window.ends_at.time_since_epoch().count()}});
}

std::optional<SessionPath> session_path_from_json(std::string_view text) {
  return parse<SessionPath>(text, session_path_from);
}

std::optional<RateWindow> rate_window_from_json(std::string_view text) {
  return parse<RateWindow>(text, rate_window_from);
}

}  // namespace leasehold
