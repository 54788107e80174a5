// Keys from any bytes: whatever another process sends, what is accepted has the one form that keys have.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/key.h"
#include "util/check.h"
#include "util/utf8.h"

namespace {

using namespace leasehold;

void check_path_key(std::string_view key) {
  LEASEHOLD_CHECK(key.size() <= kPathBytesMax);
  LEASEHOLD_CHECK(key.find_first_of(std::string_view("\\\0", 2)) == std::string_view::npos);
  LEASEHOLD_CHECK(key.find("//") == std::string_view::npos);
  LEASEHOLD_CHECK(key == "/" || !key.ends_with('/'));
  for (const std::string_view part : {"/./", "/../"}) {
    LEASEHOLD_CHECK((std::string(key) + "/").find(part) == std::string::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  const auto key = key_from_wire(text);

  if (!key) {
    LEASEHOLD_CHECK(key.error().code == Code::invalid_path);
    LEASEHOLD_CHECK(!invalid_utf8_at(key.error().message));  // It goes into JSON and onto terminals.
    return 0;
  }
  LEASEHOLD_CHECK(!invalid_utf8_at(*key));
  if (key->starts_with('/')) {
    check_path_key(*key);
  } else {
    LEASEHOLD_CHECK(is_resource(*key) && *key == text);
  }
  LEASEHOLD_CHECK(key_from_wire(*key) == *key);
  return 0;
}
