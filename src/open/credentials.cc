#include "open/credentials.h"

#include <string_view>

namespace leasehold {
namespace {

constexpr const char* kCredential = "LEASE_CREDENTIAL";
constexpr const char* kTokenFile = "LEASE_TOKEN_FILE";

std::string value_of(const EnvironmentLookup& environment, const char* name) {
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

}  // namespace

std::string credential(const EnvironmentLookup& environment) {
  std::string token = value_of(environment, "LEASE_TOKEN");
  return token.empty() || is_number(token) ? value_of(environment, kCredential) : token;
}

std::string named_token_file(const EnvironmentLookup& environment) {
  std::string file = value_of(environment, "LEASE_TOKENS");
  return file.empty() || are_fencing_tokens(file) ? value_of(environment, kTokenFile) : file;
}

std::vector<std::pair<std::string, std::string>> credentials_for_command(
    const EnvironmentLookup& environment) {
  std::vector<std::pair<std::string, std::string>> variables;
  if (std::string secret = credential(environment); !secret.empty())
    variables.emplace_back(kCredential, std::move(secret));
  if (std::string file = named_token_file(environment); !file.empty())
    variables.emplace_back(kTokenFile, std::move(file));
  return variables;
}

}  // namespace leasehold
