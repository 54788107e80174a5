#include "daemon/store_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_to.hpp>
#include <filesystem>

#include "env/system_random.h"
#include "util/number.h"
#include "util/read_file.h"
#include "util/replace_file.h"
#include "util/utf8.h"

namespace leasehold::daemon {
namespace {

namespace json = boost::json;

// Rows of the store's settings; they mean nothing to anybody else.
constexpr const char* kIdKey = "served_store_id";
constexpr const char* kTokenKey = "served_highest_token";
constexpr std::size_t kFileMax = 64 * 1024;

struct OnFile {
  std::string store_id;
  Token token{};
  Duration longest{};
};

std::unexpected<Error> unreadable(const std::string& file, std::string_view why) {
  return fail(
      Code::config_error,
      fmt::format("{} cannot be read: {}. Restore it; or, if nobody can hold a lease of this store any "
                  "more, remove it.",
                  file, why));
}

Result<std::optional<OnFile>> read(const std::string& file) {
  const auto text = read_file(file, kFileMax);
  if (!text && text.error() == std::errc::no_such_file_or_directory) return std::nullopt;
  if (!text) return unreadable(file, std::make_error_code(text.error()).message());
  boost::system::error_code failed;
  const json::value document = json::parse(*text, failed);
  const auto* const object = failed ? nullptr : document.if_object();
  const auto* const id = object == nullptr ? nullptr : object->if_contains("store_id");
  const auto* const token = object == nullptr ? nullptr : object->if_contains("highest_token");
  const auto* const longest = object == nullptr ? nullptr : object->if_contains("longest_ttl_ms");
  if (id == nullptr || !id->is_string() || token == nullptr || !token->is_int64() || longest == nullptr ||
      !longest->is_int64())
    return unreadable(file, "it is not what lease serve writes");
  return OnFile{std::string(std::string_view(id->get_string())),
                Token{static_cast<std::uint64_t>(token->get_int64())}, Duration(longest->get_int64())};
}

Result<void> write(const std::string& file, const std::string& text) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), ignored);
  if (auto replaced = replace_file(file, text); !replaced) {
    return fail(Code::unavailable,
                fmt::format("Cannot write {}: {}.", file, std::make_error_code(replaced.error()).message()));
  }
  return {};
}

const Setting* row(const std::vector<Setting>& settings, std::string_view key) {
  const auto found = std::ranges::find(settings, key, &Setting::key);
  return found == settings.end() ? nullptr : &*found;
}

Token token_in(const Setting* setting) {
  return {setting == nullptr ? 0 : parse_number<std::uint64_t>(setting->value).value_or(0)};
}

Setting text_row(const char* key, std::string value) {
  return {.key = key, .value = std::move(value), .type = "string", .description = "Kept by lease serve"};
}

}  // namespace

Result<std::unique_ptr<StoreMemory>> StoreMemory::open(Services& services, std::string file) {
  auto memory = std::unique_ptr<StoreMemory>(new StoreMemory(services, std::move(file)));
  const auto manager = services.manager("", "");
  if (!manager) return fail(manager.error());
  const auto settings = (*manager)->settings();
  if (!settings) return fail(settings.error());
  const auto remembered = read(memory->file_);
  if (!remembered) return fail(remembered.error());
  const Setting* const id = row(*settings, kIdKey);
  if (id != nullptr) memory->store_id_ = id->value;
  memory->token_ = token_in(row(*settings, kTokenKey));
  if (!*remembered) return memory;
  memory->longest_ = (*remembered)->longest;
  memory->is_known_ = memory->store_id_ == (*remembered)->store_id && memory->token_ >= (*remembered)->token;
  if (!memory->is_known_) {
    memory->lost_ = true;
    memory->closed_until_ = Clock::now() + memory->longest_;
    services.grant_pause().last_until(memory->closed_until_);
  }
  return memory;
}

std::string StoreMemory::refusal() const {
  if (!lost_) return {};
  const auto left = std::chrono::ceil<std::chrono::seconds>(closed_until_ - Clock::now());
  if (left.count() <= 0) return {};
  return fmt::format(
      "The store has lost leases that may still be relied on: it is not the one that was served before, or "
      "an older "
      "copy. Nothing is granted for another {} s, until the last of them has ended. If nobody can hold one: "
      "stop the "
      "server, remove {}, start it again.",
      left.count(), in_sentence(file_));
}

// The terms that could be granted, by the profiles that are in use, and how long an owner may be silent.
Duration StoreMemory::longest_term() const {
  Duration longest{};
  for (const auto& [workspace, known] : services_.managers()) {
    const auto manager = known.lock();
    if (!manager) continue;
    const auto policy = manager->policy();
    longest = std::max({longest, policy->ttl_max, policy->silence_max});
  }
  return longest;
}

Result<void> StoreMemory::write_file() const {
  return write(file_, json::serialize(json::object{{"store_id", store_id_},
                                                   {"highest_token", token_.value},
                                                   {"longest_ttl_ms", longest_.count()}}) +
                          "\n");
}

Result<void> StoreMemory::save(Token highest) {
  if (!refusal().empty()) return {};
  // While leases that were forgotten may live, the file says how long; only then it is about this store.
  const Duration longest = lost_ ? longest_term() : std::max(longest_, longest_term());
  if (is_known_ && highest <= token_ && longest == longest_) return {};
  SystemRandom random;
  const std::string new_id = fmt::format("{:016x}{:016x}", random.next(), random.next());
  std::string id = store_id_;
  Token token;
  // First the store: what it has may be more than is remembered, never less. Other daemons may serve it too,
  // and what they noted stays.
  auto put = services_.store().transact(
      {.workspace = services_.default_workspace()}, [&](Transaction& transaction) -> Result<void> {
        const std::vector<Setting> settings = transaction.settings();
        if (store_id_.empty()) {
          const Setting* const there = row(settings, kIdKey);
          id = there != nullptr ? there->value : new_id;
          transaction.put(text_row(kIdKey, id));
        }
        token = std::max({highest, token_, token_in(row(settings, kTokenKey))});
        transaction.put(text_row(kTokenKey, std::to_string(token.value)));
        return {};
      });
  if (!put) return put;
  store_id_ = id;
  token_ = token;
  longest_ = longest;
  if (auto written = write_file(); !written) return written;
  is_known_ = true;
  lost_ = false;
  return {};
}

Result<void> rewrite_token(Store& store, const std::string& workspace) {
  return store.transact({.workspace = workspace}, [](Transaction& transaction) -> Result<void> {
    const Token token = token_in(row(transaction.settings(), kTokenKey));
    transaction.put(text_row(kTokenKey, std::to_string(token.value)));
    return {};
  });
}

}  // namespace leasehold::daemon
