#include "daemon/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace leasehold::daemon {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;

const Histogram::BucketBoundaries kSeconds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                              0.025,  0.05,    0.1,    0.25,  0.5,    1,     2.5,
                                              5,      10,      30,     60,    300};
const Histogram::BucketBoundaries kCounts = {1, 2, 4, 8, 16, 32, 64, 128, 256};

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double open_descriptors() {
  std::error_code failed;
  const std::filesystem::directory_iterator all("/proc/self/fd", failed);
  return failed ? 0 : static_cast<double>(std::distance(begin(all), end(all)));
}

}  // namespace

struct Metrics::Families {
  std::shared_ptr<Registry> registry = std::make_shared<Registry>();

  Family<Counter>& requests =
      BuildCounter().Name("lease_http_requests_total").Help("Answered requests.").Register(*registry);
  Family<Histogram>& request_seconds = BuildHistogram()
                                           .Name("lease_http_request_seconds")
                                           .Help("Time to answer a request, waiting included.")
                                           .Register(*registry);
  Family<Histogram>& acquire_seconds = BuildHistogram()
                                           .Name("lease_acquire_seconds")
                                           .Help("Time to decide an acquire request, without its wait.")
                                           .Register(*registry);
  Family<Counter>& refusals =
      BuildCounter().Name("lease_acquires_total").Help("Decided acquire requests.").Register(*registry);
  Histogram& wait_seconds = BuildHistogram()
                                .Name("lease_wait_seconds")
                                .Help("Time that granted requests waited in the queue.")
                                .Register(*registry)
                                .Add({}, kSeconds);
  Histogram& commit_seconds = BuildHistogram()
                                  .Name("lease_store_transaction_seconds")
                                  .Help("Time of one commit to the store, with all calls in it.")
                                  .Register(*registry)
                                  .Add({}, kSeconds);
  Histogram& batch_size = BuildHistogram()
                              .Name("lease_store_batch_size")
                              .Help("Calls that shared one commit.")
                              .Register(*registry)
                              .Add({}, kCounts);
  Family<Counter>& events = BuildCounter()
                                .Name("lease_events_total")
                                .Help("What happened to leases, whichever process did it.")
                                .Register(*registry);
  Family<Counter>& endings =
      BuildCounter().Name("lease_endings_total").Help("Leases that ended, by cause.").Register(*registry);
  Counter& renewals =
      BuildCounter().Name("lease_renewals_total").Help("Renewed leases.").Register(*registry).Add({});
  Counter& timeouts = BuildCounter()
                          .Name("lease_acquisition_timeouts_total")
                          .Help("Requests that waited in vain.")
                          .Register(*registry)
                          .Add({});
  Family<Counter>& cleanup = BuildCounter()
                                 .Name("lease_cleanup_records_total")
                                 .Help("Records that the sweeper ended or forgot.")
                                 .Register(*registry);
  Gauge& leases = BuildGauge().Name("lease_active_leases").Help("Live leases.").Register(*registry).Add({});
  Gauge& waiters = BuildGauge().Name("lease_waiters").Help("Leases waited for.").Register(*registry).Add({});
  Gauge& agents = BuildGauge()
                      .Name("lease_active_agents")
                      .Help("Owners that hold a lease or wait for one.")
                      .Register(*registry)
                      .Add({});
  Gauge& connections =
      BuildGauge().Name("lease_http_connections").Help("Open connections.").Register(*registry).Add({});
  Gauge& resident =
      BuildGauge().Name("process_resident_memory_bytes").Help("Resident memory.").Register(*registry).Add({});
  Gauge& descriptors =
      BuildGauge().Name("process_open_fds").Help("Open descriptors.").Register(*registry).Add({});
  Gauge& started = BuildGauge()
                       .Name("process_start_time_seconds")
                       .Help("When this process began, in Unix time.")
                       .Register(*registry)
                       .Add({});
};

Metrics::Metrics() : all_(std::make_unique<Families>()) {
  all_->started.Set(
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
}
Metrics::~Metrics() = default;

void Metrics::answered(std::string_view operation, int status, std::chrono::nanoseconds took) {
  const std::string name(operation);
  all_->requests.Add({{"operation", name}, {"status", std::to_string(status)}}).Increment();
  all_->request_seconds.Add({{"operation", name}}, kSeconds).Observe(seconds(took));
}

void Metrics::acquired(std::string_view outcome, std::chrono::nanoseconds took, Duration waited) {
  const std::string name(outcome);
  all_->refusals.Add({{"outcome", name}}).Increment();
  all_->acquire_seconds.Add({{"outcome", name}}, kSeconds)
      .Observe(seconds(std::max<std::chrono::nanoseconds>(took - waited, std::chrono::nanoseconds(0))));
  if (outcome == "granted") all_->wait_seconds.Observe(seconds(waited));
}

void Metrics::committed(std::size_t jobs, std::chrono::nanoseconds took) {
  all_->commit_seconds.Observe(seconds(took));
  all_->batch_size.Observe(static_cast<double>(jobs));
}

void Metrics::happened(const std::vector<Event>& events) {
  for (const Event& event : events) {
    all_->events.Add({{"type", std::string(word(event.type))}}).Increment();
    if (event.type == EventType::renewed) all_->renewals.Increment(static_cast<double>(event.count));
    if (event.type == EventType::released || event.type == EventType::expired)
      all_->endings.Add({{"cause", std::string(word(event.cause))}}).Increment();
    if (event.cause == EndCause::timed_out) all_->timeouts.Increment();
  }
}

void Metrics::swept(const Swept& swept) {
  const auto add = [&](const char* kind, std::size_t count) {
    if (count > 0) all_->cleanup.Add({{"kind", kind}}).Increment(static_cast<double>(count));
  };
  add("ended", swept.ended);
  add("dropped", swept.dropped);
  add("forgotten", swept.forgotten);
}

std::string Metrics::text(const Standing& now) {
  all_->leases.Set(static_cast<double>(now.leases));
  all_->waiters.Set(static_cast<double>(now.waiters));
  all_->agents.Set(static_cast<double>(now.agents));
  all_->connections.Set(static_cast<double>(now.connections));
  all_->resident.Set(resident_bytes());
  all_->descriptors.Set(open_descriptors());
  return prometheus::TextSerializer().Serialize(all_->registry->Collect());
}

}  // namespace leasehold::daemon
