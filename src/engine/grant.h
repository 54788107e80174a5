#pragma once

#include "engine/ledger.h"
#include "engine/survey.h"

namespace leasehold {

struct Given {
  std::vector<Lease> leases;  // In the order of the request's paths.
  Token token;                // Of all that is new or raised; 0 if nothing is.
};

// Gives a request everything it asked for; the survey found nothing in its way. A path the caller
// already holds keeps its lease, token and group, and is extended, never shortened; a shared one
// that is now wanted exclusively is upgraded in place, with the new token.
Given give(Ledger& ledger, const std::string& workspace, const AcquireRequest& request, const GroupId& group,
           const Survey& survey, const Ticket* waited = nullptr);

// The same for a request that did not wait.
std::vector<Lease> give_at_once(Ledger& ledger, const std::string& workspace, const AcquireRequest& request,
                                const GroupId& group, const Survey& survey);

// The owner of what was granted to a waiter has come for it: what awaited it gets its full term.
void collect(Ledger& ledger, const std::vector<LeaseId>& leases);

// Records what a survey met on the way: endings, failed waiters, proofs of life.
void record(Ledger& ledger, const Survey& survey);
// It met nothing of that.
bool is_as_recorded(const Survey& survey);

// Surveys a request that arrives now. Whatever turns out to be over is recorded, those who waited for it
// go first, and it is surveyed again, until nothing changes. The last survey holds.
Survey survey_and_record(Ledger& ledger, const AcquireRequest& request);

// Grants every waiter who can go now, in order, until nobody else can. Call it last in every
// operation that took something away.
void settle(Ledger& ledger);

// What was given, as it is after settle(): another request of its owner's that went with it may have extended
// these leases, or upgraded them under another token.
void refetch(Transaction& transaction, std::vector<Lease>& given);

}  // namespace leasehold
