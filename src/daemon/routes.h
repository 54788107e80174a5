// The HTTP API: every route there is, in the order of its documentation.
#pragma once

#include <span>
#include <string_view>

#include "daemon/exchange.h"

namespace leasehold::daemon {

struct Route {
  std::string_view method;
  std::string_view pattern;  // "/v1/leases/{id}"
  Role needs;
  std::string_view name;        // operationId.
  std::string_view summary;     // One line.
  std::string_view request;     // Name of the body's schema; empty: no body.
  std::string_view answer;      // Name of the schema of a success; empty: no body.
  std::string_view parameters;  // Of the query, with blanks between.
  std::string_view statuses;    // All it can answer with, besides what every route can.
  Work (*handle)(Exchange& exchange);
  bool grants = false;  // Somebody may get a lease by it that it did not have.
};

std::span<const Route> routes();

// Whether it changes one lease, which If-Match can be about.
bool heeds_if_match(const Route& route);

struct Match {
  const Route* route = nullptr;  // Null: there is none.
  std::vector<std::string> captured;
  std::string allowed;  // What else may be done with that path; with no route.
};
Match match(const Request& request);

// In files of their own.
namespace handlers {
// leases.cc
Work acquire(Exchange& exchange);
Work list(Exchange& exchange);
Work get_lease(Exchange& exchange);
Work renew_one(Exchange& exchange);
Work release_one(Exchange& exchange);
Work downgrade_one(Exchange& exchange);
Work upgrade_one(Exchange& exchange);
Work transfer_one(Exchange& exchange);
Work force_release_one(Exchange& exchange);
Work renew(Exchange& exchange);
Work release(Exchange& exchange);
Work downgrade(Exchange& exchange);
Work upgrade(Exchange& exchange);
Work transfer(Exchange& exchange);
Work force_release(Exchange& exchange);
Work poll(Exchange& exchange);
Work cancel(Exchange& exchange);
Work check(Exchange& exchange);
// people.cc
Work file(Exchange& exchange);
Work agents(Exchange& exchange);
Work turn(Exchange& exchange);
Work session(Exchange& exchange);
Work restore_session(Exchange& exchange);
Work end_session(Exchange& exchange);
Work room_busy(Exchange& exchange);
Work room_free(Exchange& exchange);
Work gate(Exchange& exchange);
Work blockers(Exchange& exchange);
Work instruct(Exchange& exchange);
// lfs.cc
Response for_git_lfs(const Response& problem);  // As git-lfs shows it: {"message": ...}.
Work lfs_lock(Exchange& exchange);
Work lfs_list(Exchange& exchange);
Work lfs_verify(Exchange& exchange);
Work lfs_unlock(Exchange& exchange);
// looking.cc
Work history(Exchange& exchange);
Work events(Exchange& exchange);
Work config(Exchange& exchange);
Work put_setting(Exchange& exchange);
Work erase_setting(Exchange& exchange);
Work pairs(Exchange& exchange);
Work sweep(Exchange& exchange);
Work cleanup(Exchange& exchange);
Work examine(Exchange& exchange);
}  // namespace handlers

}  // namespace leasehold::daemon
