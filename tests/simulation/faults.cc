#include "simulation/faults.h"

#include <string_view>

namespace leasehold::simulation {
namespace {

struct Entry {
  std::string_view name;
  bool Faults::* member;
  unsigned percent;  // Of the runs that have it.
};

constexpr Entry kFaults[] = {
    {"lost_answers", &Faults::lost_answers, 35}, {"lost_commits", &Faults::lost_commits, 25},
    {"outages", &Faults::outages, 25},           {"conflicts", &Faults::conflicts, 25},
    {"lost_bells", &Faults::lost_bells, 25},     {"slow_requests", &Faults::slow_requests, 40},
    {"slow_answers", &Faults::slow_answers, 40}, {"crashes", &Faults::crashes, 50},
    {"blind_probe", &Faults::blind_probe, 15},   {"wall_steps", &Faults::wall_steps, 40},
    {"restarts", &Faults::restarts, 40},         {"data_loss", &Faults::data_loss, 8},
};

}  // namespace

Faults draw_faults(Dice& dice) {
  Faults faults;
  for (const Entry& fault : kFaults) faults.*fault.member = dice.chance(fault.percent);
  return faults;
}

std::string describe(const Faults& faults) {
  std::string text;
  for (const Entry& fault : kFaults) {
    if (!(faults.*fault.member)) continue;
    if (!text.empty()) text += ", ";
    text += fault.name;
  }
  return text.empty() ? "none" : text;
}

}  // namespace leasehold::simulation
