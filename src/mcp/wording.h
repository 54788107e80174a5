// Messages say what to type next. Who has tools and no terminal is told which to call.
#pragma once

#include "mcp/json_rpc.h"

namespace leasehold::mcp {

// Every error in the document, and whatever else has a code and a message.
void name_tools(json::value& value);
void name_tools(json::object& document);

}  // namespace leasehold::mcp
