#include <array>
#include <span>

#include "leasehold/gate.h"

namespace leasehold {
namespace {

// Indexed by the enumerator's value.
constexpr std::array<std::string_view, 2> kModes = {"shared", "exclusive"};
constexpr std::array<std::string_view, 5> kStatuses = {"pending", "active", "released", "expired", "failed"};
constexpr std::array<std::string_view, 13> kCauses = {
    "none",   "released",    "expired",   "silent",    "idle",     "owner_dead", "recalled",
    "forced", "transferred", "timed_out", "cancelled", "deadlock", "merged"};
constexpr std::array<std::string_view, 12> kEvents = {"queued",     "acquired",  "renewed",  "upgraded",
                                                      "downgraded", "recalled",  "released", "expired",
                                                      "failed",     "contended", "halted",   "instructed"};
constexpr std::array<std::string_view, 3> kLiveness = {"alive", "dead", "unknown"};
constexpr std::array<std::string_view, 3> kContentionStates = {"scheduled", "halted", "abandoned"};
constexpr std::array<std::string_view, 4> kInstructions = {"retry", "force", "transfer", "abandon"};
constexpr std::array<std::string_view, 3> kTellings = {"told", "kept", "only"};

static_assert(kModes.size() == static_cast<std::size_t>(Mode::exclusive) + 1);
static_assert(kStatuses.size() == static_cast<std::size_t>(Status::failed) + 1);
static_assert(kCauses.size() == static_cast<std::size_t>(EndCause::merged) + 1);
static_assert(kEvents.size() == static_cast<std::size_t>(EventType::instructed) + 1);
static_assert(kLiveness.size() == static_cast<std::size_t>(Liveness::unknown) + 1);
static_assert(kContentionStates.size() == static_cast<std::size_t>(ContentionState::abandoned) + 1);
static_assert(kTellings.size() == static_cast<std::size_t>(Telling::only) + 1);
static_assert(kInstructions.size() == static_cast<std::size_t>(Instruction::abandon) + 1);

template <class Enum>
std::optional<Enum> find(std::span<const std::string_view> words, std::string_view word) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view word(Mode value) { return kModes[static_cast<std::size_t>(value)]; }
std::string_view word(Status value) { return kStatuses[static_cast<std::size_t>(value)]; }
std::string_view word(EndCause value) { return kCauses[static_cast<std::size_t>(value)]; }
std::string_view word(EventType value) { return kEvents[static_cast<std::size_t>(value)]; }
std::string_view word(Liveness value) { return kLiveness[static_cast<std::size_t>(value)]; }
std::string_view word(ContentionState value) { return kContentionStates[static_cast<std::size_t>(value)]; }
std::string_view word(Instruction value) { return kInstructions[static_cast<std::size_t>(value)]; }
std::string_view word(Telling value) { return kTellings[static_cast<std::size_t>(value)]; }

template <>
std::optional<Mode> from_word(std::string_view word) {
  return find<Mode>(kModes, word);
}
template <>
std::optional<Status> from_word(std::string_view word) {
  return find<Status>(kStatuses, word);
}
template <>
std::optional<EndCause> from_word(std::string_view word) {
  return find<EndCause>(kCauses, word);
}
template <>
std::optional<EventType> from_word(std::string_view word) {
  return find<EventType>(kEvents, word);
}
template <>
std::optional<Liveness> from_word(std::string_view word) {
  return find<Liveness>(kLiveness, word);
}
template <>
std::optional<ContentionState> from_word(std::string_view word) {
  return find<ContentionState>(kContentionStates, word);
}
template <>
std::optional<Instruction> from_word(std::string_view word) {
  return find<Instruction>(kInstructions, word);
}
template <>
std::optional<Telling> from_word(std::string_view word) {
  return find<Telling>(kTellings, word);
}

}  // namespace leasehold
