// Certificates of our own, for one server name and one client.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/temp_folder.h"

namespace leasehold {

// ca.pem; server.pem and client.pem with their .key, both for leases.example.
struct Certificates {
  Certificates() {
    const std::string script =
        "cd " + folder.path() +
        " && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.pem 2>log"
        " && for who in server client; do"
        " openssl req -newkey rsa:2048 -nodes -subj /CN=$who -keyout $who.key -out $who.csr 2>>log"
        " && printf 'subjectAltName=DNS:leases.example\\n' >$who.ext"
        " && openssl x509 -req -in $who.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile "
        "$who.ext"
        " -out $who.pem 2>>log || exit 1; done";
    EXPECT_EQ(std::system(script.c_str()), 0);  // NOLINT(concurrency-mt-unsafe)
  }

  std::string file(const std::string& name) const { return folder.path() + "/" + name; }

  TempFolder folder;
};

}  // namespace leasehold
