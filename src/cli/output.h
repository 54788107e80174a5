// Where answers go: text or one JSON document on standard output, everything else on standard error.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

namespace leasehold {

enum class Paint { plain, bold, dim, red, green, yellow, blue, magenta, cyan };

struct OutputOptions {
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool colour_out = false;
  bool colour_err = false;
  bool terminal_err = false;  // Where a line can be written anew.
};

class Output {
 public:
  explicit Output(OutputOptions options) : options_(options) {}

  bool json() const { return options_.json; }
  bool quiet() const { return options_.quiet; }
  bool verbose() const { return options_.verbose; }
  // Whether somebody looks on who would want to know how it goes.
  bool shows_progress() const { return options_.terminal_err && !quiet() && !json(); }

  // The answer, as text with its line ends. Nothing with --quiet.
  void print(std::string_view text) const;
  // The answer as JSON, one document in a line. Also with --quiet: whoever asks for it wants to read it.
  void document(const boost::json::object& object) const;
  // Whether all of the answer so far went where it should.
  bool is_written() const;
  // For people; nothing with --quiet or --json.
  void note(std::string_view text) const;
  // An error, for people.
  void complain(std::string_view text) const;

  // For standard output, if it is to be coloured.
  std::string painted(Paint paint, std::string_view text) const;

 private:
  OutputOptions options_;
};

// To standard error. Nobody hears of it if that cannot be written: then there is nobody.
void write_error(std::string_view text);

}  // namespace leasehold
