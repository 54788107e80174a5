// Records from any bytes: whatever stands in a store, it is read or refused, and what is read can be written.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "store/json/records_json.h"
#include "util/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leasehold;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto request = request_from_json(text)) {
    LEASEHOLD_CHECK(request_from_json(to_json(*request)) == *request);
  }
  if (const auto texts = texts_from_json(text)) LEASEHOLD_CHECK(texts_from_json(to_json(*texts)) == *texts);
  return 0;
}
