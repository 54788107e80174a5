// Leases, obstacles, notices and history as rows of an answer. Times are told from now: expires_in=4m.
#pragma once

#include "leasehold/calls.h"
#include "scenarios/answer.h"
#include "scenarios/world.h"

namespace leasehold::scenario {

Phrase row_of(std::string word, const Lease& lease, World& world);
Phrase row_of(const Blocked& blocked, World& world);
Phrase row_of(const Notice& notice, World& world);
Phrase row_of(const Event& event, World& world);
Phrase row_of(std::string done, const Outcome& outcome, World& world);

// One row for each, by path; the head says what became of all, `nothing` if there was none.
Answer answer_of(const std::string& done, Result<Outcomes> outcomes, World& world);

// One row for each obstacle: holders, then waiters, the oldest first.
void add_obstacles(Answer& answer, std::vector<Blocked> blocked, World& world);

// The code is the word.
Answer answer_of(const Error& error);

// notices=forced:src/a.h; nothing is added if there are none.
void add_notices(Answer& answer, const std::vector<Notice>& notices);

// Stores keep them in no particular order. The oldest first.
std::vector<Notice> in_order(std::vector<Notice> notices);

std::string yes_or_no(bool value);

}  // namespace leasehold::scenario
