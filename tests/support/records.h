// Plausible records. Tests take one and change what they are about.
#pragma once

#include <string>
#include <vector>

#include "leasehold/gate.h"
#include "store/records.h"
#include "support/print.h"

namespace leasehold {

inline constexpr const char* kWorkspace = "here";

// UUIDs that can be told apart at a glance: the last digits are the number.
LeaseId lease_id(int number);
GroupId group_id(int number);
std::string notice_id(int number);

Owner ann();
Owner bob();

// An active exclusive lease on one file, granted at ManualClock::kStart for five minutes.
Lease make_lease(int number, const std::string& path, const Owner& owner = ann());

// A pending request for files, made at ManualClock::kStart by one who waits up to a minute.
Ticket make_ticket(int number, const std::vector<std::string>& paths, const Owner& owner = bob());

// The answer that granted `leases` to their owner. To be kept until an hour after ManualClock::kStart.
Answer make_answer(const std::string& key, const std::vector<Lease>& leases);

// Tells the owner that an operator ended its lease. Worth telling for an hour.
Notice make_notice(int number, const Lease& lease);

// Denied once: `lease` is in the way of its owner's path.
Contention make_contention(const Owner& owner, const std::string& path, const Lease& lease);

// The event that made the lease what it is.
Event make_event(const Lease& lease);

// Every field is set, and differs from its default and from its neighbours: for codecs.
Lease filled_lease();
Ticket filled_ticket();
Answer filled_answer();
Notice filled_notice();
Event filled_event();
Contention filled_contention();

// Every field is at an end of what it can be: as long, large or far below zero as can be, or with
// characters that mean something to somebody.
Lease extreme_lease();
Ticket extreme_ticket();
Answer extreme_answer();
Notice extreme_notice();
Event extreme_event();

// Text with all that a format might trip over: quotes, wildcards, separators, line ends, unicode.
std::string awkward_text();

}  // namespace leasehold
