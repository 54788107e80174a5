#pragma once

#include <string>
#include <string_view>

#include "leasehold/gate.h"

namespace leasehold {

inline constexpr std::size_t kReasonMost = 390;  // Hosts may cut what is longer, and models read no further.

// Why a write was denied, for a model that reads it and acts on it: who, since when, until when, when to try
// again, what to do instead. At most `most` bytes. `self` is who reads it, and works in the tree at its top
// (`tree` is empty), anywhere else in it ("file:"), or in none or another one (the root of this one).
std::string short_reason(const GateAnswer& answer, const Denied& denied, const Owner& self,
                         const std::string& tree, std::size_t most = kReasonMost);

// Two sessions of one agent have one name. `self` is who reads it.
std::string name_of(const Owner& owner, const Owner& self);

// A key as a sentence names it, from the top of its tree. The end of one that is longer than that.
std::string short_path(const std::string& key, std::size_t most = 90);
// The same of a path of the machine, as it is.
std::string short_name(const std::string& path, std::size_t most);

// No more than `most` bytes of a text whose end says what to do: its longest word, most often a path, gives
// way.
std::string with_short_path(const std::string& text, std::size_t most);

// No more than `most` bytes of it, cut where a character begins.
std::string_view shortened(std::string_view text, std::size_t most);

}  // namespace leasehold
