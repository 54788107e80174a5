#include "site.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace leasehold::bench {

Folder::Folder() : path_((std::filesystem::temp_directory_path() / "leasehold-bench-XXXXXX").string()) {
  if (mkdtemp(path_.data()) == nullptr) give_up("cannot make " + path_);
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Site::Site(const std::string& folder) {
  auto store = open_sqlite_store({.folder = folder, .machine_id = "bench", .boot_id = "bench"}, clock_);
  if (!store) give_up(store.error().message);
  store_ = std::move(*store);
  Policy policy = profile_named("agent")->policy;
  policy.leases_per_owner_max = 10'000'000;
  manager_ = std::make_unique<LeaseManager>(Environment{liveness_, random_}, *store_, kWorkspaceId, policy,
                                            options_here());
}

ManagerOptions options_here() {
  return {.own_process = [machine = read_machine()] { return own_process(machine); }};
}

Caller caller(int number) {
  return {{.owner = {fmt::format("claude-{:04}", number), "7d0c5b0e-52a1-4c1f-9a55-2f6d1f0a8f11"},
           .host = "workstation",
           .process = Process{"4c3b0f0e6a7d4d0fb1a2c3d4e5f60718", "0f8fad5b-d9cb-469f-a165-70867728950e",
                              4026531836, 4242, 123456}}};
}

double microseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

void give_up(const std::string& why) {
  std::fprintf(stderr, "bench: %s\n", why.c_str());
  std::exit(1);
}

Granted must_grant(Result<AcquireAnswer> answer) {
  if (!answer) give_up(answer.error().message);
  auto* granted = std::get_if<Granted>(&answer->decision);
  if (granted == nullptr) give_up("a request was not granted");
  return std::move(*granted);
}

}  // namespace leasehold::bench
