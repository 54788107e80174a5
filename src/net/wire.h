// Bytes to and from a server: TCP, a Unix socket, or TLS over TCP. Who speaks what over it is no matter here.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "leasehold/result.h"
#include "net/endpoint.h"
#include "util/descriptor.h"

namespace leasehold::net {

using Deadline = std::chrono::steady_clock::time_point;

// What a step could do without waiting. Every step is repeated when the descriptor is ready.
enum class Step { done, needs_read, needs_write, closed, failed };

class Wire {
 public:
  virtual ~Wire() = default;

  virtual int fd() const = 0;
  // Move at least one byte, or say what is missing for it. `moved` is how many.
  virtual Step read(char* to, std::size_t size, std::size_t& moved) = 0;
  virtual Step write(const char* from, std::size_t size, std::size_t& moved) = 0;
};

// `called` is the server in messages: "Redis at host:6379". Errors: unavailable, config_error (a certificate
// or its name cannot be used).
Result<std::unique_ptr<Wire>> connect(const Endpoint& server, std::string_view called, Deadline deadline);

// TLS over a connected descriptor, which it owns from now on. The server's certificate must be signed by the
// CA and carry the server's name.
Result<std::unique_ptr<Wire>> secure(Descriptor socket, const Endpoint& server, std::string_view called,
                                     Deadline deadline);

// True once `fd` is ready for `step`; false at the deadline.
bool wait_for(int fd, Step step, Deadline deadline);

}  // namespace leasehold::net
