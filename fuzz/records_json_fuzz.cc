// Records from any bytes: whatever stands in a store, it is read or refused, and what is read can be written.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "store/json/records_json.h"
#include "store/json/stored_records.h"
#include "util/check.h"

namespace leasehold {
namespace {

template <class Record>
void read_and_write(std::string_view text) {
  const auto record = record_from_json<Record>(text);
  if (record) LEASEHOLD_CHECK(record_from_json<Record>(to_json(*record)) == *record);
}

}  // namespace
}  // namespace leasehold

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leasehold;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto request = request_from_json(text)) {
    LEASEHOLD_CHECK(request_from_json(to_json(*request)) == *request);
  }
  if (const auto texts = texts_from_json(text)) LEASEHOLD_CHECK(texts_from_json(to_json(*texts)) == *texts);
  read_and_write<Lease>(text);
  read_and_write<Ticket>(text);
  read_and_write<Answer>(text);
  read_and_write<Notice>(text);
  read_and_write<Event>(text);
  if (const auto path = session_path_from_json(text)) {
    LEASEHOLD_CHECK(session_path_from_json(to_json(*path)) == *path);
  }
  if (const auto window = rate_window_from_json(text)) {
    LEASEHOLD_CHECK(rate_window_from_json(to_json(*window)) == *window);
  }
  if (const auto leases = leases_from_document(text)) {
    for (const Lease& lease : *leases) LEASEHOLD_CHECK(record_from_json<Lease>(to_json(lease)) == lease);
  }
  return 0;
}
