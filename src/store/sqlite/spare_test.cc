#include "store/sqlite/spare.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "support/sqlite_place.h"

namespace leasehold::sqlite {
namespace {

namespace fs = std::filesystem;

class SpareTest : public testing::Test {
 public:
  // A store that was used, and a connection to it.
  void SetUp() override {
    (void)place.open();
    auto opened = Connection::open(place.database(), nullptr, false);
    ASSERT_TRUE(opened);
    connection = std::move(*opened);
    connection->execute("BEGIN IMMEDIATE; UPDATE store SET id = 1; COMMIT");
  }

  std::uintmax_t log() const { return fs::file_size(place.database() + "-wal"); }

  SqlitePlace place;
  const std::string reserve = place.folder() + "/reserve";
  std::unique_ptr<Connection> connection;
};

TEST_F(SpareTest, IsBehindTheLogFromTheBeginning) { EXPECT_GE(log(), 1U << 20); }

TEST_F(SpareTest, IsKeptWhenTheLogIsEmptied) {
  ASSERT_TRUE(connection->empty_log());
  EXPECT_EQ(log(), 0U);

  keep_spare(*connection);
  EXPECT_GE(log(), 1U << 20);
  const auto before = log();
  keep_spare(*connection);
  EXPECT_EQ(log(), before);
}

TEST_F(SpareTest, IsNotGivenUpForALittle) {
  const auto before = log();
  shrink_log(*connection);
  EXPECT_EQ(log(), before);

  fs::resize_file(place.database() + "-wal", 10 << 20);
  shrink_log(*connection);
  EXPECT_LT(log(), 2U << 20);
  EXPECT_GE(log(), 1U << 20);
}

TEST_F(SpareTest, TheReserveIsSpentOnceAndFilledAgain) {
  EXPECT_EQ(fs::file_size(reserve), 1U << 20);
  EXPECT_TRUE(fill_reserve(place.folder())) << "it is full already";
  const auto before = log();

  EXPECT_TRUE(spend_reserve(place.folder(), *connection));
  EXPECT_EQ(fs::file_size(reserve), 0U);
  EXPECT_EQ(log(), before + (1U << 19));
  EXPECT_FALSE(spend_reserve(place.folder(), *connection));

  EXPECT_TRUE(fill_reserve(place.folder()));
  EXPECT_EQ(fs::file_size(reserve), 1U << 20);
}

// What stands in its place is somebody's, and must neither grow nor shrink.
TEST_F(SpareTest, TheReserveIsNotWhatOtherNamesLeadTo) {
  const std::string mine = place.temp.path() + "/mine";
  std::ofstream(mine) << "precious";
  for (const bool is_hard : {false, true}) {
    fs::remove(reserve);
    is_hard ? fs::create_hard_link(mine, reserve) : fs::create_symlink(mine, reserve);

    EXPECT_FALSE(fill_reserve(place.folder()));
    EXPECT_FALSE(spend_reserve(place.folder(), *connection));
    EXPECT_EQ(fs::file_size(mine), 8U);
  }
}

TEST_F(SpareTest, NobodyWaitsForAPipeInPlaceOfTheReserve) {
  fs::remove(reserve);
  ASSERT_EQ(mkfifo(reserve.c_str(), 0600), 0);

  EXPECT_FALSE(fill_reserve(place.folder()));
  EXPECT_FALSE(spend_reserve(place.folder(), *connection));
}

}  // namespace
}  // namespace leasehold::sqlite
