// A PostgreSQL server of our own, on a Unix socket in a folder of its own.
#pragma once

#include <sys/types.h>

#include <string>

#include "site.h"

namespace leasehold::bench {

class Postgres {
 public:
  // Ends the process if it cannot be started.
  Postgres();
  Postgres(const Postgres&) = delete;
  Postgres& operator=(const Postgres&) = delete;
  ~Postgres();

  std::string connection() const;

 private:
  Folder folder_;
  pid_t server_ = -1;
};

}  // namespace leasehold::bench
