#pragma once

#include "engine/ledger.h"
#include "engine/survey.h"

namespace leasehold {

// Gives a request everything it asked for; the survey found nothing in its way. A path the caller
// already holds keeps its lease, token and group, and is extended, never shortened; a shared one
// that is now wanted exclusively is upgraded in place, with the new token.
//
// One token for all that is new. Returns the leases in the order of the request's paths.
std::vector<Lease> give(Ledger& ledger, const std::string& workspace, const AcquireRequest& request,
                        const GroupId& group, const Survey& survey, const Ticket* waited = nullptr);

// Records what a survey met on the way: endings, failed waiters, proofs of life.
void record(Ledger& ledger, const Survey& survey);

// Ends everything that `first_look` found lapsed, lets those go who can, and looks again until
// nothing changes. The last survey holds.
Survey survey_and_record(Ledger& ledger, const AcquireRequest& request);

// Grants every waiter who can go now, in order, until nobody else can. Call it last in every
// operation that took something away.
void settle(Ledger& ledger);

}  // namespace leasehold
