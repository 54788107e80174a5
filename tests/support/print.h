// How GoogleTest shows records: every field, so that a failed comparison says which one differs.
#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "leasehold/error.h"
#include "leasehold/lease.h"
#include "store/records.h"

namespace leasehold {

// Every field's name and value, those of records inside with the names in between: "holder.host".
using FieldTexts = std::vector<std::pair<std::string, std::string>>;
FieldTexts fields(const Lease& lease);
FieldTexts fields(const Ticket& ticket);
FieldTexts fields(const Answer& answer);
FieldTexts fields(const Notice& notice);
FieldTexts fields(const Event& event);

void PrintTo(const Error& error, std::ostream* out);
void PrintTo(const LeaseId& id, std::ostream* out);
void PrintTo(const GroupId& id, std::ostream* out);
void PrintTo(const Token& token, std::ostream* out);
void PrintTo(const Owner& owner, std::ostream* out);
void PrintTo(const Lease& lease, std::ostream* out);
void PrintTo(const Ticket& ticket, std::ostream* out);
void PrintTo(const Answer& answer, std::ostream* out);
void PrintTo(const Notice& notice, std::ostream* out);
void PrintTo(const Event& event, std::ostream* out);

}  // namespace leasehold
