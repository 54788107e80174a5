// The members of an etcd cluster, and calls to whichever of them answers.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "etcd.pb.h"
#include "leasehold/result.h"
#include "store/etcd/address.h"

namespace grpc {
class ClientContext;
class Status;
}  // namespace grpc

namespace leasehold::etcd {

namespace pb = etcdserverpb;

struct Member;

// Thread-safe. All calls use one member; when it fails the next one is tried.
class Cluster {
 public:
  // Errors: config_error (a certificate cannot be read).
  static Result<std::unique_ptr<Cluster>> open(Address address, Duration timeout);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  ~Cluster();

  // What may be done twice: members are tried until one answers or the time is up.
  // Throws Failure: unavailable; limit_exceeded, config_error.
  pb::TxnResponse read(const pb::TxnRequest& request) const;
  pb::LeaseGrantResponse grant(const pb::LeaseGrantRequest& request) const;
  pb::RangeResponse range(const pb::RangeRequest& request) const;

  // What may be sent once. Nothing: it is not known whether it was done. Throws Failure or LeaseGone if it
  // was not.
  std::optional<pb::TxnResponse> write(const pb::TxnRequest& request) const;

  // Prepares a call that lasts: no deadline. The member is to be told by `failed` when it ends.
  const Member& prepare(grpc::ClientContext& context) const;
  void failed(const Member& member) const;
  // The user has to log in anew: what the members gave him does not do any more.
  void forget_token() const;
  // From now on calls use the member that leads, if one says so soon: the others pass every commit on to it,
  // and hear of it later. For who stays; it takes longer than to ask once.
  void prefer_leader() const;
  // Before the next try: so long, or until a member is there again that was not.
  void pause(Duration how_long) const;

  const Address& address() const { return address_; }
  Duration timeout() const { return timeout_; }

 private:
  using Clock = std::chrono::steady_clock;

  Cluster(Address address, Duration timeout);

  const Member& current() const;
  grpc::Status authenticate(const Member& member, grpc::ClientContext& context, Clock::time_point end) const;
  template <class Response, class Call>
  Response patiently(const Call& call) const;

  const Address address_;
  const Duration timeout_;
  std::vector<std::unique_ptr<Member>> members_;
  mutable std::atomic<std::size_t> current_ = 0;
  mutable std::mutex mutex_;
  mutable std::string token_;  // Guarded by mutex_. Of the user; empty: none yet.
};

}  // namespace leasehold::etcd
