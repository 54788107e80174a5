// What a command has read of its standard input: another program that goes on in its place has to read it
// again.
#pragma once

#include <string>

namespace leasehold {

const std::string& input_read();
void remember_input(std::string text);

}  // namespace leasehold
