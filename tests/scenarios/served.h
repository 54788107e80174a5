// The daemon inside a test: a scenario's store, clock and processes, reached over HTTP.
#pragma once

#include <memory>
#include <string>

#include "http_client/http_client.h"
#include "manager/lease_manager.h"

namespace leasehold::scenario {

class ServedWorld {
 public:
  // What it is given outlives it.
  ServedWorld(Store& store, Environment environment, const std::string& workspace, const Policy& policy);
  ~ServedWorld();

  HttpClient& client();
  // The wall clock was set: tells the server, which would notice within a second.
  void refresh_moment();

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace leasehold::scenario
