// https:// as it should be, and in all the ways it should not be.
#include <gtest/gtest.h>

#include <cstdlib>

#include "daemon_scene.h"

namespace leasehold {
namespace {

class Tls : public DaemonScene {
 protected:
  // A CA of this name, and certificates of it: for a server called localhost, and for the client ann.
  void make_ca(const std::string& ca) const {
    const std::string script = "cd " + root() +
                               " && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=" + ca +
                               " -keyout " + ca + ".key -out " + ca +
                               ".pem 2>>log && printf 'subjectAltName=DNS:localhost' > name"
                               " && for who in localhost ann; do"
                               " openssl req -newkey rsa:2048 -nodes -subj /CN=$who -keyout " +
                               ca +
                               "-$who.key -out $who.csr 2>>log"
                               " && openssl x509 -req -in $who.csr -CA " +
                               ca + ".pem -CAkey " + ca + ".key -CAcreateserial -days 2 -extfile name -out " +
                               ca + "-$who.pem 2>>log || exit 1; done";
    ASSERT_EQ(std::system(script.c_str()), 0) << script;
  }
  void install_server_certificate(const std::string& ca) const {
    for (const char* kind : {".pem", ".key"}) {
      std::filesystem::copy_file(root() + "/" + ca + "-localhost" + kind, root() + "/server" + kind,
                                 std::filesystem::copy_options::overwrite_existing);
    }
  }
  // With `certificates`, clients need one of the first CA.
  void serve_tls(bool certificates) {
    make_ca("first");
    make_ca("second");
    install_server_certificate("first");
    std::vector<std::string> arguments = {"--tls-cert", root() + "/server.pem", "--tls-key",
                                          root() + "/server.key"};
    if (certificates) {
      arguments.insert(arguments.end(), {"--client-ca", root() + "/first.pem"});
    } else {
      arguments.emplace_back("--open-to-loopback");
    }
    serve(arguments, true);
  }
  std::string url(const std::string& ca, const std::string& client = {}, const std::string& more = {}) const {
    std::string text = "https://localhost:" + std::to_string(port()) + "?ca=" + root() + "/" + ca + ".pem";
    if (!client.empty())
      text += "&cert=" + root() + "/" + client + "-ann.pem&key=" + root() + "/" + client + "-ann.key";
    return text + more;
  }
  Ran over(const std::string& store, const std::string& agent = "ann") const {
    auto variables = environment(agent);
    variables.push_back("LEASE_STORE=" + store);
    return run_lease({"acquire", "src/a.ts"}, {.environment = variables, .out = {}, .cwd = root(), .in = {}});
  }
};

TEST_F(Tls, AServerIsTrustedByItsCaAndItsName) {
  serve_tls(false);

  const Ran wrong_ca = over(url("second"));
  const Ran wrong_name = over(url("first", {}, "&server_name=elsewhere"));
  const Ran plain = over("http://localhost:" + std::to_string(port()));
  const Ran right = over(url("first"));

  EXPECT_EQ(wrong_ca.exit, 78) << wrong_ca.err;
  EXPECT_TRUE(contains(wrong_ca.err, "is not to be trusted")) << wrong_ca.err;
  EXPECT_EQ(wrong_name.exit, 78) << wrong_name.err;
  EXPECT_TRUE(contains(wrong_name.err, "elsewhere")) << wrong_name.err;
  EXPECT_NE(plain.exit, 0);
  EXPECT_TRUE(contains(plain.err, "https://")) << plain.err;
  EXPECT_EQ(right.exit, 0) << right.err;
}

TEST_F(Tls, AServerThatDiesIsNotTakenForOneThatWantsACertificate) {
  serve_tls(false);
  ASSERT_EQ(over(url("first"), "bob").exit, 0);
  auto variables = environment("ann");
  variables.push_back("LEASE_STORE=" + url("first"));
  // Long enough to try once more after the server's death, however slow the machine is.
  StartedLease waiting({"acquire", "src/a.ts", "--wait", "5s"}, variables, root());
  ASSERT_TRUE(eventually([&] { return contains(ask("GET", "/v1/leases").body, "\"pending\""); }));

  kill_it();

  const Ran ended = waiting.wait();
  EXPECT_EQ(ended.exit, 69) << ended.err;
  EXPECT_TRUE(contains(ended.err, "Cannot connect")) << ended.err;
}

TEST_F(Tls, ACertificateOfTheClientsCaIsAnAgentAndNobodyElse) {
  serve_tls(true);

  const Ran none = over(url("first"));
  const Ran of_another = over(url("first", "second"));
  EXPECT_NE(none.exit, 0);
  EXPECT_NE(of_another.exit, 0);
  const Ran forged = over(url("first", "first"), "bob");
  EXPECT_EQ(forged.exit, 77) << forged.err;
  EXPECT_FALSE(contains(ask("GET", "/v1/leases").body, "a.ts"));

  const Ran right = over(url("first", "first"));
  EXPECT_EQ(right.exit, 0) << right.err;
}

TEST_F(Tls, ANewCertificateIsUsedAfterSighup) {
  serve_tls(false);
  EXPECT_EQ(over(url("first")).exit, 0);
  install_server_certificate("second");
  EXPECT_EQ(over(url("second")).exit, 78);

  daemon().signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return contains(daemon().err(), "read the certificates again"); }));

  EXPECT_EQ(over(url("second")).exit, 0);
  EXPECT_EQ(over(url("first")).exit, 78);

  std::ofstream(root() + "/server.pem") << "nonsense";
  daemon().signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return contains(daemon().err(), "kept the old certificates"); }));
  EXPECT_EQ(over(url("second")).exit, 0);
}

}  // namespace
}  // namespace leasehold
