// What can be read and followed: lease://board, and lease://file/PATH for one file or folder.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mcp/desk.h"

namespace leasehold::mcp {

json::array resource_list();
json::array resource_templates();

// The path that a URI names: empty for the whole board. Nothing: it is no resource of ours.
std::optional<std::string> path_of(std::string_view uri);

// The document, as `lease status --json` gives it. Errors: those of the workspace.
Result<json::object> read_resource(const std::string& path, Desk& desk);

// Which of the resources these events are about.
std::vector<std::string> concerned(const std::vector<std::string>& uris, const std::vector<Event>& events,
                                   OpenWorkspace& workspace, const std::string& place);

// What changes, from when it is made. For one thread at a time.
class Changes {
 public:
  explicit Changes(Desk& desk);

  // Which of the resources changed since the last call. Blocks until one did or `cancelled` becomes readable.
  // May return early, with none.
  std::vector<std::string> next(const std::vector<std::string>& uris, int cancelled);

 private:
  Client* client();

  Desk& desk_;
  std::shared_ptr<Client> client_;
  std::optional<std::uint64_t> after_;  // Nothing: there is no store yet, so all that will be in it is new.
};

}  // namespace leasehold::mcp
