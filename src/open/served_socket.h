#pragma once

#include <string>
#include <string_view>

namespace leasehold {

// Where a daemon that serves this embedded store listens for this machine's commands: in the store's folder.
// Empty: the store is no embedded one.
std::string served_socket(const std::string& store_url);

// The same if there is a socket of this user's own; else empty. Whether somebody listens is not known yet.
std::string own_served_socket(const std::string& store_url);

// The folder around the socket of a server's URL, where the store would be if it is that; empty: no socket.
std::string served_folder(std::string_view server_url);

}  // namespace leasehold
