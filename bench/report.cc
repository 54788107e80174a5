#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>

namespace leasehold::bench {

void Report::add(Figure figure) {
  // As they come: a long run shows that it is alive.
  std::fputs(fmt::format("{:<58} {:>12.2f} {:<9}", figure.what, figure.value, figure.unit).c_str(), stdout);
  if (figure.ratio)
    std::fputs(fmt::format(" {:>7.2f}x of {}", *figure.ratio, figure.against).c_str(), stdout);
  if (!figure.goal.empty()) std::fputs(fmt::format("  (goal: {})", figure.goal).c_str(), stdout);
  std::puts("");
  std::fflush(stdout);
  figures_.push_back(std::move(figure));
}

bool Report::finish(const std::string& json_path) const {
  if (json_path.empty()) return true;
  boost::json::array rows;
  for (const Figure& figure : figures_) {
    boost::json::object row = {{"what", figure.what}, {"value", figure.value}, {"unit", figure.unit}};
    if (figure.ratio) {
      row["against"] = figure.against;
      row["ratio"] = *figure.ratio;
    }
    if (!figure.goal.empty()) row["goal"] = figure.goal;
    rows.push_back(std::move(row));
  }
  std::ofstream file(json_path);
  file << boost::json::serialize(rows) << '\n';
  return file.good();
}

double quantile(std::vector<double>& samples, double part) {
  if (samples.empty()) return 0;
  std::ranges::sort(samples);
  const auto last = static_cast<double>(samples.size() - 1);
  return samples[static_cast<std::size_t>(std::lround(part * last))];
}

}  // namespace leasehold::bench
