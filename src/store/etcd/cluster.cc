#include "store/etcd/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "store/etcd/failure.h"
#include "store/etcd/member.h"
#include "util/read_file.h"
#include "util/utf8.h"

namespace leasehold::etcd {
namespace {

using namespace std::chrono_literals;

// A member that does not answer for so long is passed over; an election takes one to two seconds.
constexpr Duration kLongestTry = 2s;
// Who leads is not worth more: a member that does not say so by then is not asked further.
constexpr Duration kLongestLook = 250ms;
// Between two tries, so that a cluster without a leader is not asked without a pause.
constexpr Duration kPause = 50ms;

constexpr std::size_t kCertificateBytesMax = 1 << 20;

Result<std::shared_ptr<grpc::ChannelCredentials>> credentials_for(const Address& address) {
  if (!address.tls) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions options;
  const auto take = [&](const std::string& file, std::string& to) -> Result<void> {
    if (file.empty()) return {};
    auto text = read_file(file, kCertificateBytesMax);
    if (!text) {
      return fail(Code::config_error, fmt::format("Cannot read {}, which the etcd URL names. Check the file.",
                                                  in_sentence(file)));
    }
    to = std::move(*text);
    return {};
  };
  if (auto taken = take(address.ca_file, options.pem_root_certs); !taken) return fail(taken.error());
  if (auto taken = take(address.certificate, options.pem_cert_chain); !taken) return fail(taken.error());
  if (auto taken = take(address.key, options.pem_private_key); !taken) return fail(taken.error());
  return grpc::SslCredentials(options);
}

grpc::ChannelArguments arguments_for(const Address& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);  // etcd has a limit for what it takes, and none for what it sends.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS,
                   2'000);  // Also how long one attempt to connect may take.
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1'000);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // Meant for the web; a cluster is near.
  // A connection that went silent (a cut cable) is noticed by those who only listen.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 3'000);
  if (!address.server_name.empty()) arguments.SetSslTargetNameOverride(address.server_name);
  return arguments;
}

// It is over; or users or rights were changed since, which those that carry their rights in themselves do not
// outlive.
bool is_bad_token(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAUTHENTICATED ||
         status.error_message().find("revision of auth store is old") != std::string::npos;
}

// Whether the member, or the cluster, could not do it just now; another try may succeed.
bool may_pass(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::UNKNOWN:
    case grpc::StatusCode::INTERNAL:
      return true;
    default:
      return false;
  }
}

Error error_of(const grpc::Status& status, const Address& address) {
  const std::string& said = status.error_message();
  const auto says = [&](std::string_view part) { return said.find(part) != std::string::npos; };
  if (says("too many operations")) {
    return {Code::limit_exceeded,
            fmt::format(
                "This is more than etcd at {} takes in one transaction. Ask for less at once, or start etcd "
                "with a greater --max-txn-ops and say so in the URL (?max_txn_ops=).",
                address.shown())};
  }
  if (says("request is too large") || status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED) {
    if (says("database space exceeded")) {
      return {Code::unavailable,
              fmt::format(
                  "etcd at {} has no space left and takes no more writes. Compact and defragment it, then "
                  "run: etcdctl alarm disarm",
                  address.shown())};
    }
    return {Code::limit_exceeded,
            fmt::format("This is more than etcd at {} takes in one request ({}). Ask for less at once.",
                        address.shown(), in_sentence(said))};
  }
  if (says("authentication is not enabled")) {
    return {
        Code::config_error,
        fmt::format("etcd at {} has no users ({}). Take user and password out of the URL, or enable them.",
                    address.shown(), in_sentence(said))};
  }
  if (status.error_code() == grpc::StatusCode::UNAUTHENTICATED ||
      status.error_code() == grpc::StatusCode::PERMISSION_DENIED || says("authentication failed") ||
      says("user name is empty")) {
    return {Code::config_error,
            fmt::format("etcd at {} does not let us in: {}. Check user and password in the URL.",
                        address.shown(), in_sentence(said))};
  }
  if (address.tls && (says("handshake") || says("certificate") || says("Peer name"))) {
    return {
        Code::config_error,
        fmt::format("There is no TLS with etcd at {}: {}. Check ca, cert, key and server_name in the URL.",
                    address.shown(), in_sentence(said))};
  }
  return {
      Code::unavailable,
      fmt::format("etcd at {} does not answer: {}. Check that a majority of its members runs, and ask again.",
                  address.shown(), in_sentence(said))};
}

}  // namespace

Cluster::Cluster(Address address, Duration timeout) : address_(std::move(address)), timeout_(timeout) {}
Cluster::~Cluster() = default;

Result<std::unique_ptr<Cluster>> Cluster::open(Address address, Duration timeout) {
  const auto credentials = credentials_for(address);
  if (!credentials) return fail(credentials.error());
  std::unique_ptr<Cluster> cluster(new Cluster(std::move(address), timeout));
  const grpc::ChannelArguments arguments = arguments_for(cluster->address_);
  for (const std::string& endpoint : cluster->address_.endpoints) {
    cluster->members_.push_back(
        std::make_unique<Member>(grpc::CreateCustomChannel(endpoint, *credentials, arguments)));
  }
  return cluster;
}

const Member& Cluster::current() const { return *members_[current_ % members_.size()]; }

void Cluster::failed(const Member& member) const {
  std::size_t was = current_;
  // Others may have gone on already.
  if (members_[was % members_.size()].get() == &member) current_.compare_exchange_strong(was, was + 1);
}

void Cluster::prefer_leader() const {
  const std::size_t first = current_;
  for (std::size_t i = 0; members_.size() > 1 && i < members_.size(); ++i) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kLongestLook);
    pb::StatusResponse said;
    const grpc::Status status =
        members_[(first + i) % members_.size()]->maintenance->Status(&context, {}, &said);
    if (!status.ok() || said.leader() != said.header().member_id()) continue;
    std::size_t was = first;
    current_.compare_exchange_strong(was, first + i);
    return;
  }
}

// gRPC minds its connections only while somebody is inside of it. Who slept elsewhere between two calls that
// fail at once would never see one of them come up.
void Cluster::pause(Duration how_long) const {
  grpc::Channel& channel = *current().channel;
  if (channel.GetState(true) == GRPC_CHANNEL_READY) {
    std::this_thread::sleep_for(how_long);
  } else {
    channel.WaitForConnected(std::chrono::system_clock::now() + how_long);
  }
}

void Cluster::forget_token() const {
  const std::lock_guard lock(mutex_);
  token_.clear();
}

grpc::Status Cluster::authenticate(const Member& member, grpc::ClientContext& context,
                                   Clock::time_point end) const {
  if (address_.user.empty()) return {};
  const std::lock_guard lock(mutex_);
  if (token_.empty()) {
    grpc::ClientContext asking;
    asking.set_deadline(std::chrono::system_clock::now() + (end - Clock::now()));
    pb::AuthenticateRequest request;
    request.set_name(address_.user);
    request.set_password(address_.password);
    pb::AuthenticateResponse response;
    grpc::Status status = member.auth->Authenticate(&asking, request, &response);
    if (!status.ok()) return status;
    token_ = response.token();
  }
  context.AddMetadata("token", token_);
  return {};
}

// Calls with a new context each time, until there is an answer.
template <class Response, class Call>
Response Cluster::patiently(const Call& call) const {
  const Clock::time_point end = Clock::now() + timeout_;
  bool was_refused = false;
  std::optional<Error> certain;  // What waiting does not mend.
  for (;;) {
    const Member& member = current();
    const Clock::time_point try_end = std::min(end, Clock::now() + kLongestTry);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + (try_end - Clock::now()));
    context.AddMetadata("hasleader", "true");
    Response response;
    grpc::Status status = authenticate(member, context, try_end);
    if (status.ok()) status = call(member, context, response);
    if (status.ok()) return response;
    if (is_bad_token(status) && !was_refused && !address_.user.empty()) {
      was_refused = true;  // It grew old, or the member has not heard of it.
      forget_token();
      continue;
    }
    if (status.error_message().find("compacted") != std::string::npos) throw Conflict();
    if (status.error_message().find("future revision") != std::string::npos) throw Conflict();
    const Error error = error_of(status, address_);
    if (!may_pass(status)) throw Failure{error};
    if (error.code == Code::config_error) certain = error;
    failed(member);
    if (Clock::now() + kPause >= end) throw Failure{certain.value_or(error)};
    pause(kPause);
  }
}

pb::TxnResponse Cluster::read(const pb::TxnRequest& request) const {
  return patiently<pb::TxnResponse>(
      [&](const Member& member, grpc::ClientContext& context, pb::TxnResponse& response) {
        return member.kv->Txn(&context, request, &response);
      });
}

pb::RangeResponse Cluster::range(const pb::RangeRequest& request) const {
  return patiently<pb::RangeResponse>(
      [&](const Member& member, grpc::ClientContext& context, pb::RangeResponse& response) {
        return member.kv->Range(&context, request, &response);
      });
}

pb::LeaseGrantResponse Cluster::grant(const pb::LeaseGrantRequest& request) const {
  return patiently<pb::LeaseGrantResponse>(
      [&](const Member& member, grpc::ClientContext& context, pb::LeaseGrantResponse& response) {
        return member.lease->LeaseGrant(&context, request, &response);
      });
}

std::optional<pb::TxnResponse> Cluster::write(const pb::TxnRequest& request) const {
  const Member& member = current();
  const Clock::time_point end = Clock::now() + std::min(timeout_, kLongestTry);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + (end - Clock::now()));
  context.AddMetadata("hasleader", "true");
  pb::TxnResponse response;
  grpc::Status status = authenticate(member, context, end);
  if (status.ok()) status = member.kv->Txn(&context, request, &response);
  if (status.ok()) return response;
  if (is_bad_token(status)) {
    forget_token();
    return std::nullopt;
  }
  if (status.error_message().find("requested lease not found") != std::string::npos) throw LeaseGone();
  if (!may_pass(status)) throw Failure{error_of(status, address_)};
  failed(member);
  return std::nullopt;
}

const Member& Cluster::prepare(grpc::ClientContext& context) const {
  const Member& member = current();
  context.AddMetadata("hasleader", "true");
  const grpc::Status status = authenticate(member, context, Clock::now() + kLongestTry);
  if (!status.ok()) throw Failure{error_of(status, address_)};
  return member;
}

}  // namespace leasehold::etcd
