#include "leasehold/error.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace leasehold {
namespace {

TEST(Codes, EveryCodeOfTheDesignIsThereUnderItsName) {
  const std::set<std::string_view> designed = {"busy",
                                               "timeout",
                                               "deadlock",
                                               "rate_limited",
                                               "limit_exceeded",
                                               "not_found",
                                               "not_owner",
                                               "max_renewals_exceeded",
                                               "lost",
                                               "transferred",
                                               "stale_token",
                                               "retry_later",
                                               "halted",
                                               "locked",
                                               "transaction_conflict",
                                               "invalid_argument",
                                               "invalid_path",
                                               "invalid_session",
                                               "config_error",
                                               "unavailable",
                                               "outcome_unknown",
                                               "corrupt"};

  std::set<std::string_view> named;
  for (const CodeInfo& row : code_table()) named.insert(row.name);

  EXPECT_EQ(named, designed);
  EXPECT_EQ(code_table().size(), designed.size()) << "two codes share a name";
}

TEST(Codes, ANameLeadsBackToItsCode) {
  for (const CodeInfo& row : code_table()) {
    EXPECT_EQ(code_named(row.name), row.code) << row.name;
    EXPECT_EQ(info(row.code).name, row.name);
  }
}

TEST(Codes, AnUnknownNameIsNoCode) {
  for (const std::string_view name : {"", "Busy", "busy ", "ok", "none", "not-owner"}) {
    EXPECT_EQ(code_named(name), std::nullopt) << name;
  }
}

TEST(Codes, EveryCodeIsAnErrorInHttp) {
  for (const CodeInfo& row : code_table()) {
    EXPECT_GE(row.http_status, 400) << row.name;
    EXPECT_LE(row.http_status, 599) << row.name;
  }
}

// 0 would be success; 1 and 2 are what any program says that crashed or was called wrongly, and what a
// hook's own failure looks like; from 126 on shells speak themselves.
TEST(Codes, NoExitCodeCanBeTakenForSomethingElse) {
  for (const CodeInfo& row : code_table()) {
    EXPECT_GT(row.exit_code, 2) << row.name;
    EXPECT_LT(row.exit_code, 126) << row.name;
  }
}

TEST(Codes, ExitCodesAreThoseOfTheDesign) {
  const std::map<Code, int> designed = {
      {Code::busy, 75},         {Code::retry_later, 75},
      {Code::rate_limited, 75}, {Code::locked, 75},
      {Code::deadlock, 75},     {Code::transaction_conflict, 75},
      {Code::unavailable, 69},  {Code::outcome_unknown, 69},
      {Code::not_owner, 77},    {Code::invalid_argument, 64},
      {Code::invalid_path, 64}, {Code::invalid_session, 64},
      {Code::config_error, 78}, {Code::timeout, 124},
  };

  for (const auto& [code, exit_code] : designed)
    EXPECT_EQ(info(code).exit_code, exit_code) << info(code).name;
}

// Scripts act on it: what may be tried again, what was lost, what an operator has to look at.
TEST(Codes, WhatCallsForDifferentActionsExitsDifferently) {
  EXPECT_NE(info(Code::lost).exit_code, info(Code::busy).exit_code);
  EXPECT_NE(info(Code::halted).exit_code, info(Code::retry_later).exit_code);
  EXPECT_NE(info(Code::not_found).exit_code, info(Code::not_owner).exit_code);
  EXPECT_NE(info(Code::timeout).exit_code, info(Code::busy).exit_code);
}

}  // namespace
}  // namespace leasehold
