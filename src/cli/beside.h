#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace leasehold {

// Becomes a program that lies beside this one, and so was installed with it. `words`: its arguments. Returns
// only if that cannot be, with what went wrong as a clause: "/usr/bin/lease-etcd cannot be started: ...".
std::string become_program_beside(std::string_view name, std::vector<std::string> words);

}  // namespace leasehold
