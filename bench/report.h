// What a comparison found: a table for people, JSON for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace leasehold::bench {

// One line: a figure, and where there is something to compare with, its ratio to that.
struct Figure {
  std::string what;
  double value = 0;
  std::string unit;
  std::string against;  // What the ratio compares with; empty: nothing.
  std::optional<double> ratio;
  std::string goal;  // Of the ratio, or of the figure itself; empty: none.
};

class Report {
 public:
  void add(Figure figure);
  // Prints the table, and with `json_path` writes the JSON there. False: it could not.
  bool finish(const std::string& json_path) const;

 private:
  std::vector<Figure> figures_;
};

// The middle one, or any other part of the way through. Sorts. 0 of nothing.
double quantile(std::vector<double>& samples, double part);

}  // namespace leasehold::bench
