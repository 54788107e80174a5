#pragma once
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <unistd.h>
#include <vector>
namespace leasehold {
struct TTrace {
  std::mutex m; std::vector<std::pair<const char*, long>> v;
  static TTrace& get() { static TTrace* t = new TTrace; return *t; }
  void at(const char* w) { const long n = std::chrono::steady_clock::now().time_since_epoch().count(); std::lock_guard l(m); if (v.size() < 2000000) v.emplace_back(w, n); }
  void dump(int number) { if (!getenv("TT")) return; char f[64]; snprintf(f, 64, "/tmp/tt.%s.%d", getenv("TT"), number); FILE* o = fopen(f, "w"); for (auto& [w, n] : v) fprintf(o, "%ld %d %.90s\n", n, number, w); fclose(o); }
};
inline void tt(const char* w) { TTrace::get().at(w); }
}
