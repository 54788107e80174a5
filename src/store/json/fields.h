// How records are read from JSON and written to it: only what differs from its default is written, and
// whatever is read is a value or Malformed. For the sources of this folder.
#pragma once

#include <boost/json.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/calls.h"
#include "leasehold/lease.h"

namespace leasehold::fields {

namespace json = boost::json;

// Thrown by what is not as it should be; never leaves this folder.
struct Malformed {};

template <class T>
T as(const json::value& value) {
  const auto result = json::try_value_to<T>(value);
  if (!result) throw Malformed();
  return *result;
}

// Reads fields of an object, those that are there.
class Fields {
 public:
  explicit Fields(const json::value& value) {
    if (!value.is_object()) throw Malformed();
    object_ = &value.get_object();
  }

  const json::value* find(std::string_view name) const { return object_->if_contains(name); }

  template <class T>
  void get(std::string_view name, T& to) const {
    if (const json::value* value = find(name)) to = as<T>(*value);
  }

  void get(std::string_view name, std::optional<int>& to) const {
    if (const json::value* value = find(name)) to = as<int>(*value);
  }

  void get(std::string_view name, Time& to) const {
    if (const json::value* value = find(name)) to = Time(Time::duration(as<std::int64_t>(*value)));
  }

  void get(std::string_view name, std::optional<Time>& to) const {
    if (find(name) != nullptr) get(name, to.emplace());
  }

  void get(std::string_view name, WallTime& to) const {
    if (const json::value* value = find(name)) to = WallTime(WallTime::duration(as<std::int64_t>(*value)));
  }

  void get(std::string_view name, Token& to) const { get(name, to.value); }

  template <class Tag>
  void get(std::string_view name, Id<Tag>& to) const {
    get(name, to.text);
  }

  template <class Tag>
  void get(std::string_view name, std::vector<Id<Tag>>& to) const {
    std::vector<std::string> texts;
    get(name, texts);
    for (std::string& text : texts) to.push_back({std::move(text)});
  }

  template <class Enum>
  void get_word(std::string_view name, Enum& to) const {
    const json::value* value = find(name);
    if (value == nullptr) return;
    if (!value->is_string()) throw Malformed();
    const auto known = from_word<Enum>(std::string_view(value->get_string()));
    if (!known) throw Malformed();
    to = *known;
  }

  void get(std::string_view name, std::optional<Duration>& to) const {
    if (const json::value* value = find(name)) to = Duration(as<std::int64_t>(*value));
  }

 private:
  const json::object* object_;
};

// What has its default is left out: most of a request is.
template <class T>
void put(json::object& object, std::string_view name, const T& value, const T& otherwise = {}) {
  if (value != otherwise) object[name] = json::value_from(value, object.storage());
}

inline void put(json::object& object, std::string_view name, const std::optional<Duration>& value) {
  if (value) object[name] = value->count();
}

// The text of an object that `fill` fills. Most fit into the memory it is given, and cost no allocation.
template <class Fill>
std::string text_of(const Fill& fill) {
  unsigned char buffer[4096];
  json::monotonic_resource memory(buffer);
  json::object object(&memory);
  object.reserve(18);  // More would have a hash table.
  fill(object);
  return json::serialize(object);
}

// Total: whatever stands there, the answer is a value or nothing.
template <class T, class Read>
std::optional<T> parse(std::string_view text, const Read& read) {
  // Most of what is parsed fits here, and then costs no allocation.
  unsigned char buffer[4096];
  json::monotonic_resource memory(buffer);
  boost::system::error_code error;
  const json::value value = json::parse(text, error, &memory);
  if (error) return std::nullopt;
  try {
    return read(value);
  } catch (const Malformed&) {
    return std::nullopt;
  }
}

json::object to_object(const Holder& holder, json::storage_ptr memory = {});
Holder holder_from(const json::value& value);
json::object to_object(const AcquireRequest& request);
AcquireRequest request_from(const json::value& value);

}  // namespace leasehold::fields
