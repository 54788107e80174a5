// What can be read and followed: lease://board, and lease://file/PATH for one file or folder.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mcp/desk.h"

namespace leasehold::mcp {

json::array resource_list();
json::array resource_templates();

// The path that a URI names: empty for the whole board. Nothing: it is no resource of ours.
std::optional<std::string> path_of(std::string_view uri);

// What of the board it is. Errors: invalid_path, those of the workspace.
Result<Listing> listing_of(const std::string& path, Desk& desk);

// The document, as `lease status --json` gives it. Errors: those of the workspace.
Result<json::object> read_resource(const std::string& path, Desk& desk);

// Which of the resources are about these places; and where events happened.
std::vector<Scope> places_of(const std::vector<Event>& events);
std::vector<std::string> concerned(const std::vector<std::string>& uris, const std::vector<Scope>& places,
                                   OpenWorkspace& workspace, const std::string& place);

// What changes, from when it is made. For one thread at a time.
class Changes {
 public:
  explicit Changes(Desk& desk);

  // Which of the resources changed since the last call. Blocks until one did or `cancelled` becomes readable.
  // May return early, with none. `uris` may say more by then than in the beginning.
  std::vector<std::string> next(const std::function<std::vector<std::string>()>& uris, int cancelled);

 private:
  Client* client();
  std::vector<Scope> ended();  // Since it was asked last, and not recorded.

  Desk& desk_;
  std::shared_ptr<Client> client_;
  std::optional<std::uint64_t> after_;  // Nothing: there is no store yet, so all that will be in it is new.
  std::set<LeaseId> over_;              // What was known to have ended, and is not recorded.
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();  // For what ended.
};

}  // namespace leasehold::mcp
