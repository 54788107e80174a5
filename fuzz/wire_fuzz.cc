// What anybody may send to a daemon, and a daemon to its client: any JSON gives a value or an error.
#include <boost/json.hpp>
#include <cstdlib>
#include <string_view>

#include "wire/read_answers.h"
#include "wire/request_json.h"

using namespace leasehold;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  boost::system::error_code error;
  const auto value = boost::json::parse(std::string_view(reinterpret_cast<const char*>(data), size), error);
  if (error) return 0;
  // What was understood is written as it was meant.
  if (const auto request = acquire_request_from(value)) {
    const auto again = acquire_request_from(request_json(*request));
    if (!again || *again != *request) std::abort();
  }
  (void)caller_from(value);
  (void)gate_request_from(value);
  (void)release_request_from(value);
  (void)renew_request_from(value);
  (void)transfer_request_from(value);
  (void)force_release_request_from(value);
  (void)instruct_request_from(value);
  (void)check_request_from(value);
  (void)setting_from(value);
  (void)acquire_answer_from(value);
  (void)outcomes_from(value);
  (void)check_answer_from(value);
  (void)lease_from(value);
  (void)board_from(value);
  (void)events_from(value);
  (void)gate_answer_from(value);
  (void)blockers_from(value);
  (void)session_paths_from(value);
  (void)swept_from(value);
  return 0;
}
