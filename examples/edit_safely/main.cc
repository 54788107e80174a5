// Appends a line to a file, holding a lease on it and its test while it does.
//
//   edit_safely FILE LINE
//
// Built against an installed Leasehold, with CMakeLists.txt beside this file or with pkg-config:
//
//   g++ -std=c++23 main.cc $(pkg-config --cflags --static --libs leasehold)
#include <leasehold/keeper.h>
#include <leasehold/open.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>

using namespace std::chrono_literals;

namespace {

int complain(const leasehold::Error& error) {
  std::cerr << leasehold::info(error.code).name << ": " << error.message << '\n';
  return leasehold::info(error.code).exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: edit_safely FILE LINE\n";
    return 64;
  }
  const std::string file = std::filesystem::absolute(argv[1]);

  // The workspace the file belongs to, and its store.
  auto workspace = leasehold::open_workspace({.place = file});
  if (!workspace) return complain(workspace.error());

  // Who we are: each run is an owner of its own, or two of them would hold the file together. When this
  // process dies, so do its leases.
  leasehold::AcquireRequest request;
  request.caller.holder.owner = {"edit_safely", std::to_string(getpid())};
  request.caller.holder.process = (*workspace)->own_process();
  request.wait = 30s;
  request.reason = "appends a line";

  // The key of the file, and its tests.
  auto paths = (*workspace)->wanted({{.path = file}});
  if (!paths) return complain(paths.error());
  request.paths = *paths;

  // A keeper renews what it acquired for as long as it lives.
  auto keeper = leasehold::Keeper::start((*workspace)->client(), request.caller);
  if (!keeper) return complain(keeper.error());
  const auto answer = (*keeper)->acquire(request);
  if (!answer) return complain(answer.error());
  if (const auto* refused = std::get_if<leasehold::Refused>(&answer->decision)) {
    return complain({refused->code, refused->message});
  }

  // Asked right before the write: slept past our time, we would not write.
  const auto token = (*keeper)->use(paths->front().path);
  if (!token) return complain(token.error());
  std::ofstream out(file, std::ios::app);
  out << argv[2] << '\n';
  if (!out.flush()) {
    std::cerr << "cannot write to " << file << '\n';
    return 74;
  }
  std::cout << "wrote to " << paths->front().path << " under token " << token->value << '\n';

  std::vector<leasehold::LeaseId> ids;
  for (const leasehold::Lease& lease : (*keeper)->kept()) ids.push_back(lease.id);
  const auto released = (*keeper)->release(ids);
  if (!released) return complain(released.error());
  return 0;
}
