#pragma once

#include <map>
#include <string>
#include <vector>

namespace leasehold::daemon {

struct ServeOptions {
  std::vector<std::string> listen;  // unix:PATH or HOST:PORT. Empty: the default socket.
  std::string place;                // Whose settings and embedded store are used.
  std::map<std::string, std::string> settings;
  std::string tls_certificate;  // Files in PEM form.
  std::string tls_key;
  std::string client_ca;           // Clients need a certificate of it.
  std::vector<std::string> hosts;  // Names that requests may be addressed to, besides where we listen.
  bool open_to_loopback = false;   // TCP without tokens, on loopback only.
  bool json_log = false;
  bool verbose = false;  // Also each lease's line.
};

}  // namespace leasehold::daemon
