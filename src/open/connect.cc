#include "http_client/http_client.h"
#include "leasehold/open.h"
#include "open/stores.h"

namespace leasehold {

Result<std::shared_ptr<Client>> connect(const std::string& url, const ConnectOptions& options) {
  const auto scheme = store_scheme(url);
  if (!scheme) return fail(scheme.error());
  if ((*scheme)->open != nullptr) {
    return fail(Code::config_error,
                "This is the URL of a store, not of a server. Give http://HOST:PORT, https://HOST:PORT or "
                "http+unix:/SOCKET, or open the store with open_workspace().");
  }
  return open_http_client(
      url, {.workspace = options.workspace, .profile = options.profile, .token = options.token});
}

}  // namespace leasehold
