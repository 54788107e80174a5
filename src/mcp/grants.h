// Which request to blame a lease on when a client gives one up whose answer is on its way already.
#pragma once

#include <deque>
#include <vector>

#include "leasehold/lease.h"
#include "mcp/json_rpc.h"

namespace leasehold::mcp {

// Which leases an answer tells of.
struct Told {
  std::vector<LeaseId> held;     // The caller's,
  std::vector<LeaseId> granted;  // and which of those it has by this very call.
  std::vector<LeaseId> over;     // Not the caller's any more.
};

class Grants {
 public:
  // The request was answered. An id that is used again means the newer one.
  void note(const json::value& request_id, const Told& told);

  // The client gave the request up. Returns what is to go back: what it was granted, but for what another
  // request was told of, too. That goes back when the other one is given up as well.
  std::vector<LeaseId> give_up(const json::value& request_id);

 private:
  struct Answered {
    json::value request_id;
    std::vector<LeaseId> held;
    std::vector<LeaseId> granted;
  };
  // The latest. A client can give up only what it waits for, so a few are enough.
  std::deque<Answered> answered_;
};

}  // namespace leasehold::mcp
