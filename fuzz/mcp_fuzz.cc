// Whatever a client, or somebody in its place, writes in a line: it is answered, or refused. No tool is run.
#include <boost/json/serialize.hpp>
#include <cstdint>

#include "mcp/server.h"
#include "mcp/tool.h"

using namespace leasehold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto message = mcp::read_message(text);
  if (!message) {
    boost::json::serialize(mcp::fault_reply(message.error().id, message.error().fault));
    return 0;
  }
  // A place that cannot be opened: what tools are asked is read, and then nothing happens.
  mcp::Desk desk(
      {.open = [](bool, bool) -> Result<OpenWorkspace*> { return fail(Code::unavailable, "closed"); },
       .place = "/",
       .user = "u",
       .session = "s"});
  mcp::Server server(desk, {.version = "0", .keeps_client = false});
  // Those wait for ever.
  if (message->method == "subscriptions/listen") return 0;
  const auto answer = server.answer(*message, {.notify = [](const boost::json::object&) {}});
  if (answer.has_value() != message->is_request()) __builtin_trap();
  if (answer && !mcp::read_message(boost::json::serialize(*answer))) __builtin_trap();
  return 0;
}
