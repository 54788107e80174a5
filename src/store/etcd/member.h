// One member of a cluster, and all there is to be asked of it. Apart, because few need gRPC's headers.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>

#include "etcd.grpc.pb.h"

namespace leasehold::etcd {

namespace pb = etcdserverpb;

struct Member {
  explicit Member(const std::shared_ptr<grpc::Channel>& to)
      : channel(to),
        kv(pb::KV::NewStub(channel)),
        lease(pb::Lease::NewStub(channel)),
        watch(pb::Watch::NewStub(channel)),
        auth(pb::Auth::NewStub(channel)),
        maintenance(pb::Maintenance::NewStub(channel)) {}

  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<pb::KV::Stub> kv;
  std::unique_ptr<pb::Lease::Stub> lease;
  std::unique_ptr<pb::Watch::Stub> watch;
  std::unique_ptr<pb::Auth::Stub> auth;
  std::unique_ptr<pb::Maintenance::Stub> maintenance;
};

}  // namespace leasehold::etcd
