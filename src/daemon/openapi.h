#pragma once

#include <string>

namespace leasehold::daemon {

// The API's description (OpenAPI 3.1), made from the table of routes, so that the two cannot disagree.
const std::string& openapi_document();

}  // namespace leasehold::daemon
