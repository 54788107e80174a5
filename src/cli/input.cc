#include "cli/input.h"

namespace leasehold {
namespace {

// There is one standard input.
std::string& text_read() {
  static std::string text;
  return text;
}

}  // namespace

const std::string& input_read() { return text_read(); }
void remember_input(std::string text) { text_read() = std::move(text); }

}  // namespace leasehold
