#include "daemon/mcp_headers.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <string>
#include <string_view>

#include "daemon/preferences.h"
#include "util/utf8.h"

namespace leasehold::daemon {
namespace {

constexpr std::string_view kEncoded = "=?base64?";
constexpr std::string_view kEnd = "?=";

// What is not plain text stands there in base64. What is none stays as it is, and fits nothing.
std::string decoded(std::string_view value) {
  if (value.size() < kEncoded.size() + kEnd.size() || !value.starts_with(kEncoded) || !value.ends_with(kEnd))
    return std::string(value);
  std::string_view text = value;
  text.remove_prefix(kEncoded.size());
  text.remove_suffix(kEnd.size());
  std::string plain(text.size(), '\0');
  const int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(plain.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) return std::string(value);
  const auto padding = text.ends_with("==") ? 2U : text.ends_with('=') ? 1U : 0U;
  plain.resize(static_cast<std::size_t>(size) - padding);
  return plain;
}

// Which member of the message's parameters Mcp-Name repeats. Empty: none.
std::string_view named_by(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  if (method == "resources/read") return "uri";
  return {};
}

std::optional<mcp::Fault> differs(const Request& request, const std::string& header, std::string_view said) {
  const std::string in_header = decoded(request.header(header));
  if (in_header == said) return std::nullopt;
  return mcp::Fault{mcp::kHeaderMismatch, fmt::format("The header {} says {}, and the message {}.", header,
                                                      in_quotes(in_header), in_quotes(said))};
}

}  // namespace

std::optional<mcp::Fault> header_mismatch(const Request& request, const mcp::Message& message) {
  // A message without a version lacks more than a header does.
  const std::string_view version = mcp::version_of(message);
  if (version.empty()) return std::nullopt;
  if (auto wrong = differs(request, "mcp-protocol-version", version)) return wrong;
  if (auto wrong = differs(request, "mcp-method", message.method)) return wrong;
  const std::string_view member = named_by(message.method);
  const mcp::json::string* const name =
      member.empty() ? nullptr : mcp::text_at(message.params, std::string(member));
  if (name == nullptr) return std::nullopt;
  return differs(request, "mcp-name", std::string_view(*name));
}

bool takes_streams(const Request& request) { return accepts(request.header("accept"), "text/event-stream"); }

}  // namespace leasehold::daemon
