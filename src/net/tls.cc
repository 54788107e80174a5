// TLS by OpenSSL.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <climits>

#include "net/wire.h"

namespace leasehold::net {
namespace {

using Context = std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)>;
using Session = std::unique_ptr<SSL, void (*)(SSL*)>;

std::string last_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "the connection was closed";
  char text[256];
  ERR_error_string_n(code, text, sizeof text);
  return text;
}

// A socket as OpenSSL's own, but that a connection which is gone does not end the process (SIGPIPE).
int quiet_write(BIO* bio, const char* from, int size) {
  int fd = -1;
  BIO_get_fd(bio, &fd);
  BIO_clear_retry_flags(bio);
  const auto sent = static_cast<int>(send(fd, from, static_cast<std::size_t>(size), MSG_NOSIGNAL));
  if (sent < 0 && BIO_sock_should_retry(sent) != 0) BIO_set_retry_write(bio);
  return sent;
}

const BIO_METHOD* quiet_socket() {
  static const BIO_METHOD* const kMethod = [] {
    const BIO_METHOD* socket = BIO_s_socket();
    BIO_METHOD* method = BIO_meth_new(BIO_TYPE_SOCKET, "quiet socket");
    BIO_meth_set_write(method, quiet_write);
    BIO_meth_set_read(method, BIO_meth_get_read(socket));
    BIO_meth_set_ctrl(method, BIO_meth_get_ctrl(socket));
    BIO_meth_set_create(method, BIO_meth_get_create(socket));
    BIO_meth_set_destroy(method, BIO_meth_get_destroy(socket));
    return method;
  }();
  return kMethod;
}

// True if the session speaks over the descriptor from now on, which it does not own.
bool set_socket(SSL* session, int fd) {
  BIO* bio = BIO_new(quiet_socket());
  if (bio == nullptr) return false;
  BIO_set_fd(bio, fd, BIO_NOCLOSE);
  SSL_set_bio(session, bio, bio);
  return true;
}

Step outcome(SSL* session, int result, std::size_t& moved) {
  if (result > 0) {
    moved = static_cast<std::size_t>(result);
    return Step::done;
  }
  switch (SSL_get_error(session, result)) {
    case SSL_ERROR_WANT_READ:
      return Step::needs_read;
    case SSL_ERROR_WANT_WRITE:
      return Step::needs_write;
    case SSL_ERROR_ZERO_RETURN:
    case SSL_ERROR_SYSCALL:
      return Step::closed;
    default:
      return Step::failed;
  }
}

int length(std::size_t size) { return static_cast<int>(std::min<std::size_t>(size, INT_MAX)); }

class SecureSocket final : public Wire {
 public:
  SecureSocket(Descriptor socket, Context context, Session session)
      : socket_(std::move(socket)), context_(std::move(context)), session_(std::move(session)) {}

  int fd() const override { return socket_.number(); }

  // What another connection of this thread left in OpenSSL's queue of errors would count as this one's.
  Step read(char* to, std::size_t size, std::size_t& moved) override {
    ERR_clear_error();
    return outcome(session_.get(), SSL_read(session_.get(), to, length(size)), moved);
  }

  Step write(const char* from, std::size_t size, std::size_t& moved) override {
    ERR_clear_error();
    return outcome(session_.get(), SSL_write(session_.get(), from, length(size)), moved);
  }

 private:
  Descriptor socket_;
  Context context_;
  Session session_;
};

std::unexpected<Error> unusable(std::string_view what, const std::string& name) {
  return fail(Code::config_error,
              fmt::format("The {} {} cannot be used for TLS: {}.", what, name, last_error()));
}

Result<Context> make_context(const Endpoint& server) {
  Context context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (!context) return fail(Code::unavailable, fmt::format("TLS cannot be used: {}.", last_error()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  // What is spoken inside says itself where an answer ends. A server that died is no fault of TLS.
  SSL_CTX_set_options(context.get(), SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (server.ca_file.empty()) {
    SSL_CTX_set_default_verify_paths(context.get());
  } else if (SSL_CTX_load_verify_locations(context.get(), server.ca_file.c_str(), nullptr) != 1) {
    return unusable("CA file", server.ca_file);
  }
  if (server.certificate.empty()) return context;
  if (SSL_CTX_use_certificate_chain_file(context.get(), server.certificate.c_str()) != 1)
    return unusable("certificate", server.certificate);
  const std::string& key = server.key.empty() ? server.certificate : server.key;
  if (SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) != 1)
    return unusable("key", key);
  return context;
}

bool is_ip(const std::string& name) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, name.c_str(), bytes) == 1 || inet_pton(AF_INET6, name.c_str(), bytes) == 1;
}

// The name the certificate must carry. An address is compared as one, and never sent as a name.
void expect_name(SSL* session, const std::string& name) {
  if (is_ip(name)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), name.c_str());
    return;
  }
  SSL_set1_host(session, name.c_str());
  SSL_set_tlsext_host_name(session, name.c_str());
}

}  // namespace

Result<std::unique_ptr<Wire>> secure(Descriptor socket, const Endpoint& server, std::string_view called,
                                     Deadline deadline) {
  auto context = make_context(server);
  if (!context) return fail(context.error());
  Session session(SSL_new(context->get()), SSL_free);
  if (!session || !set_socket(session.get(), socket.number()))
    return fail(Code::unavailable, fmt::format("TLS cannot be used: {}.", last_error()));
  const std::string& name = server.server_name.empty() ? server.host : server.server_name;
  expect_name(session.get(), name);
  for (;;) {
    std::size_t ignored = 0;
    ERR_clear_error();
    const Step step = outcome(session.get(), SSL_connect(session.get()), ignored);
    if (step == Step::done) break;
    if ((step == Step::needs_read || step == Step::needs_write) && wait_for(socket.number(), step, deadline))
      continue;
    if (const long verdict = SSL_get_verify_result(session.get()); verdict != X509_V_OK) {
      return fail(Code::config_error,
                  fmt::format("The certificate of {} is not to be trusted as {}'s: {}. Name its CA with "
                              "?ca=FILE, and its name with &server_name=NAME.",
                              called, name, X509_verify_cert_error_string(verdict)));
    }
    return fail(
        Code::unavailable,
        fmt::format("Cannot begin TLS with {}: {}. Ask again, or check that "
                    "the server speaks TLS on this port.",
                    called,
                    step == Step::failed || step == Step::closed ? last_error() : "it did not answer"));
  }
  return std::make_unique<SecureSocket>(std::move(socket), std::move(*context), std::move(session));
}

}  // namespace leasehold::net
