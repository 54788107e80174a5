// What comes with the ring of a bell: the grant itself, so that the one it is for need not read it; and who
// is next in line, so that whoever gives a path back reads at once what it takes to let that one go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "leasehold/lease.h"
#include "store/records.h"

namespace leasehold {

struct NextInLine {
  std::string workspace;
  std::string path;
  Owner owner;                  // Without a name: nobody.
  std::vector<LeaseId> leases;  // That it waits for; none if it is for many.
};

struct Ring {
  std::string origin;            // Of which data on its server it tells, where that is not clear.
  std::optional<Ticket> ticket;  // Nothing: there is more to be told than this, and it has to be read.
  std::vector<Lease> leases;     // That the ticket has got.
  NextInLine next;
  std::int64_t revision = 0;  // Of the commit, in etcd.
};

}  // namespace leasehold
