#include "open/credentials.h"

#include <fmt/format.h>

#include <string_view>

#include "util/shell_word.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

constexpr const char* kCredential = "LEASE_CREDENTIAL";
constexpr const char* kTokenFile = "LEASE_TOKEN_FILE";

std::string value_of(const Variables& environment, const char* name) {
  const char* const value = environment ? environment(name) : nullptr;
  return value == nullptr ? "" : value;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// PATH=TOKEN, one per line. A path may have anything in it; the last line ends with a number.
bool are_fencing_tokens(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  return equals != std::string_view::npos && is_number(text.substr(equals + 1));
}

// Parameters count, too: they may say whose word to take for the server's name.
bool is_same_server(std::string_view said, std::string_view url) {
  const auto without_slash = [](std::string_view text) {
    if (text.ends_with('/')) text.remove_suffix(1);
    return text;
  };
  return without_slash(said) == without_slash(url);
}

}  // namespace

std::string credential(const Variables& environment) {
  std::string token = value_of(environment, "LEASE_TOKEN");
  return token.empty() || is_number(token) ? value_of(environment, kCredential) : token;
}

Result<std::string> credential_for(const Variables& environment, std::string_view url,
                                   std::string_view project_file) {
  std::string token = credential(environment);
  // A socket lets in by user.
  if (token.empty() || url.starts_with("http+unix:")) return "";
  if (is_same_server(value_of(environment, "LEASE_TOKEN_FOR"), url)) return token;
  return fail(Code::config_error,
              fmt::format("{} names the server {}, which is not told LEASE_TOKEN unless you say so, not the "
                          "project. If you trust it: export LEASE_TOKEN_FOR={}",
                          in_sentence(project_file), in_quotes(url), shell_word(url)));
}

std::string named_token_file(const Variables& environment) {
  std::string file = value_of(environment, "LEASE_TOKENS");
  return file.empty() || are_fencing_tokens(file) ? value_of(environment, kTokenFile) : file;
}

std::vector<std::pair<std::string, std::string>> credentials_for_command(const Variables& environment) {
  std::vector<std::pair<std::string, std::string>> variables;
  if (std::string secret = credential(environment); !secret.empty())
    variables.emplace_back(kCredential, std::move(secret));
  if (std::string file = named_token_file(environment); !file.empty())
    variables.emplace_back(kTokenFile, std::move(file));
  return variables;
}

}  // namespace leasehold
