// The commands, each in its own file.
#pragma once

#include "cli/command.h"

namespace leasehold {

extern const Command kAcquire;
extern const Command kRelease;
extern const Command kRenew;
extern const Command kCheck;
extern const Command kUpgrade;
extern const Command kDowngrade;
extern const Command kTransfer;
extern const Command kForceRelease;
extern const Command kRun;
extern const Command kInit;
extern const Command kGate;
extern const Command kBlockers;
extern const Command kHook;
extern const Command kGitHook;
extern const Command kKeepSession;
extern const Command kStatus;
extern const Command kLs;
extern const Command kWatch;
extern const Command kHistory;
extern const Command kAgents;
extern const Command kPairs;
extern const Command kSession;
extern const Command kConfig;
extern const Command kGc;
extern const Command kDoctor;
extern const Command kServe;
extern const Command kToken;
extern const Command kRepoLock;
extern const Command kCompletion;
extern const Command kDemo;
extern const Command kVersion;
extern const Command kHelp;

}  // namespace leasehold
