#include "cli/output.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <cstdio>

namespace leasehold {
namespace {

std::string with_colour(Paint paint, std::string_view text) {
  constexpr std::string_view kCodes[] = {"0", "1", "2", "31", "32", "33", "34", "35", "36"};
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<std::size_t>(paint)], text);
}

// What a Progress may have left on this line.
std::string_view wiped(const OutputOptions& options) { return options.terminal_err ? "\r\x1b[K" : ""; }

}  // namespace

void write_error(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void Output::print(std::string_view text) const {
  if (!options_.quiet) std::fwrite(text.data(), 1, text.size(), stdout);
}

void Output::document(const boost::json::object& object) const {
  const std::string text = boost::json::serialize(object) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

bool Output::is_written() const { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

void Output::note(std::string_view text) const {
  if (!options_.quiet && !options_.json) write_error(fmt::format("{}lease: {}\n", wiped(options_), text));
}

void Output::complain(std::string_view text) const {
  write_error(fmt::format("{}{} {}\n", wiped(options_),
                          options_.colour_err ? with_colour(Paint::red, "lease:") : "lease:", text));
}

std::string Output::painted(Paint paint, std::string_view text) const {
  if (!options_.colour_out || paint == Paint::plain) return std::string(text);
  return with_colour(paint, text);
}

}  // namespace leasehold
