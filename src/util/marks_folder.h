#pragma once

#include <string>

namespace leasehold {

// Where processes of one user on this machine leave marks for one another; made if it is not there. Empty:
// there is none that only this user can write to.
std::string marks_folder();

}  // namespace leasehold
