#include "durable_peers.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <hiredis/hiredis.h>
#include <libpq-fe.h>

#include "etcd.grpc.pb.h"
#include "postgres.h"
#include "site.h"
#include "support/etcd_cluster.h"
#include "support/redis_server.h"

namespace leasehold::bench {
namespace {

namespace pb = etcdserverpb;

// --- Redis ---

constexpr const char* kCompareAndDelete =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

using RedisContext = std::shared_ptr<redisContext>;

void redis_call(redisContext* context, std::initializer_list<std::string_view> words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string_view word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  void* const reply = redisCommandArgv(context, static_cast<int>(texts.size()), texts.data(), sizes.data());
  if (reply == nullptr) give_up("Redis hung up");
  const int type = static_cast<redisReply*>(reply)->type;
  freeReplyObject(reply);
  if (type == REDIS_REPLY_ERROR || type == REDIS_REPLY_NIL) give_up("Redis refused");
}

PeerClient connect_redis(const std::string& socket, int number) {
  const RedisContext context(redisConnectUnix(socket.c_str()), redisFree);
  if (!context || context->err != 0) give_up("cannot connect to Redis");
  const std::string key = fmt::format("lease:{}", number);
  const std::string owner = fmt::format("agent-{}", number);
  return {[context, key, owner] { redis_call(context.get(), {"SET", key, owner, "NX", "PX", "300000"}); },
          [context, key, owner] { redis_call(context.get(), {"EVAL", kCompareAndDelete, "1", key, owner}); }};
}

// --- PostgreSQL ---

using PgConnection = std::shared_ptr<PGconn>;

void pg_call(PGconn* connection, const char* statement, std::initializer_list<const char*> values) {
  const std::vector<const char*> all(values);
  PGresult* const result =
      PQexecPrepared(connection, statement, static_cast<int>(all.size()), all.data(), nullptr, nullptr, 0);
  const bool done =
      PQresultStatus(result) == PGRES_COMMAND_OK && std::string_view(PQcmdTuples(result)) == "1";
  PQclear(result);
  if (!done) give_up(std::string("PostgreSQL refused: ") + PQerrorMessage(connection));
}

void pg_do(PGconn* connection, const char* text) {
  PGresult* const result = PQexec(connection, text);
  const bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
  PQclear(result);
  if (!done) give_up(std::string("PostgreSQL refused: ") + PQerrorMessage(connection));
}

PgConnection connect_pg(const std::string& where) {
  PgConnection connection(PQconnectdb(where.c_str()), PQfinish);
  if (PQstatus(connection.get()) != CONNECTION_OK) give_up("cannot connect to PostgreSQL");
  return connection;
}

PeerClient connect_postgres(const std::string& where, int number) {
  const PgConnection connection = connect_pg(where);
  PQclear(PQprepare(
      connection.get(), "take",
      "INSERT INTO lease VALUES ($1, $2, now() + interval '5 min') ON CONFLICT (path) DO UPDATE SET "
      "owner = $2, ends = now() + interval '5 min' WHERE lease.ends < now()",
      2, nullptr));
  PQclear(
      PQprepare(connection.get(), "give", "DELETE FROM lease WHERE path = $1 AND owner = $2", 2, nullptr));
  const std::string path = fmt::format("/services/api/src/file_{}.ts", number);
  const std::string owner = fmt::format("agent-{}", number);
  return {[connection, path, owner] { pg_call(connection.get(), "take", {path.c_str(), owner.c_str()}); },
          [connection, path, owner] { pg_call(connection.get(), "give", {path.c_str(), owner.c_str()}); }};
}

// --- etcd ---

class EtcdClient {
 public:
  EtcdClient(const std::string& endpoint, std::string key)
      : channel_(grpc::CreateChannel(endpoint, grpc::InsecureChannelCredentials())),
        kv_(pb::KV::NewStub(channel_)),
        key_(std::move(key)) {
    grpc::ClientContext context;
    pb::LeaseGrantRequest request;
    request.set_ttl(300);
    pb::LeaseGrantResponse response;
    must(pb::Lease::NewStub(channel_)->LeaseGrant(&context, request, &response));
    lease_ = response.id();
  }

  void take() {
    grpc::ClientContext context;
    pb::TxnRequest request;
    pb::Compare& compare = *request.add_compare();
    compare.set_key(key_);
    compare.set_target(pb::Compare::CREATE);
    compare.set_create_revision(0);
    pb::PutRequest& put = *request.add_success()->mutable_request_put();
    put.set_key(key_);
    put.set_value("agent");
    put.set_lease(lease_);
    pb::TxnResponse response;
    must(kv_->Txn(&context, request, &response));
    if (!response.succeeded()) give_up("the key was there");
  }

  void give_back() {
    grpc::ClientContext context;
    pb::DeleteRangeRequest request;
    request.set_key(key_);
    pb::DeleteRangeResponse response;
    must(kv_->DeleteRange(&context, request, &response));
  }

 private:
  static void must(const grpc::Status& status) {
    if (!status.ok()) give_up(status.error_message());
  }

  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<pb::KV::Stub> kv_;
  const std::string key_;
  std::int64_t lease_ = 0;
};

}  // namespace

std::vector<Peer> durable_peers() {
  // Not where tests have theirs, which is in memory.
  static Folder disk;
  static RedisServer redis(
      {"--dir", disk.path(), "--appendonly", "yes", "--appendfsync", "always", "--save", ""});
  static Postgres postgres;
  static EtcdCluster etcd(1, {"--data-dir", disk.path() + "/etcd"});
  pg_do(connect_pg(postgres.connection()).get(),
        "CREATE TABLE lease (path text PRIMARY KEY, owner text NOT NULL, ends timestamptz NOT NULL)");
  return {{"Redis, appendfsync always", [](int number) { return connect_redis(redis.socket(), number); }},
          {"PostgreSQL", [](int number) { return connect_postgres(postgres.connection(), number); }},
          {"etcd", [](int number) {
             const auto client =
                 std::make_shared<EtcdClient>(etcd.endpoint(0), fmt::format("lease/{}", number));
             return PeerClient{[client] { client->take(); }, [client] { client->give_back(); }};
           }}};
}

}  // namespace leasehold::bench
