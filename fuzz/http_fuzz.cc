// Whatever comes over a connection: it is refused, or a route does it and says how it went.
#include <boost/asio/buffer.hpp>
#include <boost/json/parse.hpp>
#include <cstdlib>
#include <random>

#include "daemon/http_request.h"
#include "daemon/routes.h"
#include "store/memory/memory_store.h"

using namespace leasehold;

namespace {

class StoppedClock final : public StoreClock {
 public:
  Time now() const override { return Time(std::chrono::seconds(1'000)); }
  WallTime wall() const override { return WallTime(std::chrono::seconds(1'770'000'000)); }
};

class NoLiveness final : public LivenessProbe {
 public:
  Verdict look_at(const Process&) override { return {}; }
};

class SeededRandom final : public Random {
 public:
  std::uint64_t next() override { return engine_(); }

 private:
  std::mt19937_64 engine_{1};
};

struct World {
  StoppedClock clock;
  NoLiveness liveness;
  SeededRandom random;
  std::unique_ptr<Store> store = open_memory_store(clock);
  daemon::WriteHealth health{[](LogLevel, const std::string&) {}};
  daemon::Services services{
      {.store = *store,
       .health = health,
       .liveness = liveness,
       .url = "memory:",
       .default_workspace = "here",
       .make_manager = [this](const std::string& workspace, const std::string&) -> Result<daemon::Served> {
         return daemon::Served{
             std::make_unique<LeaseManager>(Environment{liveness, random}, *store, workspace, Policy()), {}};
       }}};
};

// As the daemon does it, without its loop: nobody waits.
daemon::Response respond(World& world, const daemon::Request& request) {
  const daemon::Match found = daemon::match(request);
  if (found.route == nullptr) return daemon::problem(404, "no_such_route", "There is nothing.");
  const auto manager = world.services.manager(request.parameter("workspace").value_or(""), "");
  if (!manager) return daemon::problem(manager.error());
  daemon::Exchange exchange = {.services = world.services,
                               .request = request,
                               .manager = **manager,
                               .workspace = "here",
                               .captured = found.captured};
  const daemon::Work work = found.route->handle(exchange);
  if (work.events) return {};
  if (work.waiter) {
    work.waiter->look();
    if (!work.waiter->answer() && !work.keeps_place) work.waiter->give_up();
  } else if (work.call) {
    work.call();
  }
  return work.respond();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  World world;
  boost::asio::const_buffer rest(data, size);
  while (rest.size() > 0) {  // Several may follow each other.
    daemon::RequestParser parser;
    parser.eager(true);
    boost::beast::error_code failed;
    rest += parser.put(rest, failed);
    if (failed) (void)daemon::complaint(failed);
    if (failed || !parser.is_done()) return 0;
    auto request = daemon::read_request(parser.get());
    if (!request) continue;
    request->principal = {.role = daemon::Role::op, .agent_id = {}, .is_local = true, .name = {}};
    const daemon::Response response = respond(world, *request);
    if (response.status < 200 || response.status > 599) std::abort();
    boost::system::error_code no_json;
    if (!response.body.empty()) boost::json::parse(response.body, no_json);
    if (no_json) std::abort();
  }
  return 0;
}
