// What a step was answered, as words and pairs, and whether that is what the script expects.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/script.h"

namespace leasehold::scenario {

// The head is what an answer comes to; the rows are its parts: one for each lease, obstacle or line of
// history. A pair of the rows counts as one of the head too, with each different value once:
// `release ann all -> released path=src/a,src/b` is an answer of two rows.
struct Answer {
  Phrase head;
  std::vector<Phrase> rows;
  std::string message;  // For people. `says="..."` looks into it.
};

// Adds one row, and its word to the head's if it is a new one.
void add_row(Answer& answer, Phrase row);

// Both lists in the order given, joined by commas; each different value once.
void join(std::string& list, std::string_view value);

// The answer in as many words as the step's expectation has, or, where that says nothing yet, in all;
// ready to be pasted into the script. Equal to the expectation iff the answer is as expected.
//
// What happened to others is never left out: who was woken, and which notices were handed over.
std::vector<std::string> answer_lines(const Step& step, const Answer& answer);

// The expectation in the same form.
std::vector<std::string> expected_lines(const Step& step);

// Everything, for a reader who looks for what else could be expected.
std::string all_of(const Answer& answer);

}  // namespace leasehold::scenario
