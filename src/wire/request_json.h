// Requests as JSON, as the HTTP API takes them. What has its default may be left out; who asks stands on top:
//
//   {"agent_id": "ann", "session_id": "s1", "paths": ["/src/a.ts", {"path": "/docs", "subtree": true}]}
//
// The readers are total: any value gives a request or invalid_argument with the member that is wrong.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "leasehold/gate.h"
#include "leasehold/result.h"

namespace leasehold {

boost::json::object request_json(const Caller& caller);
boost::json::object request_json(const AcquireRequest& request);
boost::json::object request_json(const GateRequest& request);
boost::json::object request_json(const ReleaseRequest& request);
boost::json::object request_json(const RenewRequest& request);
boost::json::object request_json(const TransferRequest& request);
boost::json::object request_json(const ForceReleaseRequest& request);
boost::json::object request_json(const InstructRequest& request);
boost::json::object setting_json(const Setting& setting);

Result<Caller> caller_from(const boost::json::value& value);
Result<AcquireRequest> acquire_request_from(const boost::json::value& value);
Result<GateRequest> gate_request_from(const boost::json::value& value);
Result<ReleaseRequest> release_request_from(const boost::json::value& value);
Result<RenewRequest> renew_request_from(const boost::json::value& value);
Result<TransferRequest> transfer_request_from(const boost::json::value& value);
Result<ForceReleaseRequest> force_release_request_from(const boost::json::value& value);
Result<InstructRequest> instruct_request_from(const boost::json::value& value);
Result<Setting> setting_from(const boost::json::value& value);

// {"agent_id", "session_id", "path", "token"}: is the token still the current grant's?
struct CheckRequest {
  Caller caller;
  std::string path;
  Token token;
};
boost::json::object request_json(const CheckRequest& request);
Result<CheckRequest> check_request_from(const boost::json::value& value);

}  // namespace leasehold
