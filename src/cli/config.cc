#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>

#include "cli/call.h"
#include "cli/commands.h"
#include "cli/did_you_mean.h"
#include "cli/render_text.h"
#include "cli/without_password.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

boost::json::object setting_json(const EffectiveSetting& setting) {
  return {{"name", setting.name},
          {"value", setting.value},
          {"source", setting.source},
          {"description", setting.description},
          {"requires_restart", setting.requires_restart}};
}

// Every setting. Where no store answers, those that it keeps are left out, and a note says so.
Result<std::vector<EffectiveSetting>> settings_of(Call& call) {
  const auto workspace = call.workspace();
  auto settings = workspace ? (*workspace)->settings() : fail(workspace.error());
  const bool has_store = settings || settings.error().code != Code::not_found;
  if (!settings && (!has_store || settings.error().code == Code::unavailable)) {
    if (has_store) call.out().note(fmt::format("Without what the store keeps: {}", settings.error().message));
    settings = call.settings_without_store();
  }
  if (!settings) return settings;
  const auto store = std::ranges::find(*settings, "store", &EffectiveSetting::name);
  store->value = without_password(store->value);
  if (!has_store) store->source = "none yet";
  return settings;
}

// It is the last but one column: quotes are only for what would disturb the terminal.
std::string source_text(const EffectiveSetting& setting) {
  const bool is_plain = !invalid_utf8_at(setting.source) && !has_control_character(setting.source);
  return is_plain ? setting.source : in_quotes(setting.source);
}

Result<int> list(Call& call) {
  const auto settings = settings_of(call);
  if (!settings) return fail(settings.error());
  if (call.out().json()) {
    boost::json::array all;
    for (const EffectiveSetting& one : *settings) all.push_back(setting_json(one));
    call.out().document({{"settings", std::move(all)}});
    return 0;
  }
  constexpr std::string_view kTitles[] = {"NAME", "VALUE", "SOURCE", "MEANING"};
  std::vector<std::vector<std::string>> rows;
  for (const EffectiveSetting& one : *settings)
    rows.push_back({one.name, in_sentence(one.value), source_text(one), one.description});
  call.out().print(table_text(kTitles, rows, call.out()));
  return 0;
}

Result<EffectiveSetting> find(const Result<std::vector<EffectiveSetting>>& settings,
                              const std::string& name) {
  if (!settings) return fail(settings.error());
  const auto found = std::ranges::find(*settings, name, &EffectiveSetting::name);
  if (found != settings->end()) return *found;
  std::vector<std::string_view> names;
  for (const EffectiveSetting& one : *settings) names.push_back(one.name);
  return fail(Code::invalid_argument, fmt::format("There is no setting {}.{} See: lease config list",
                                                  in_quotes(name), did_you_mean(name, names)));
}

int show(const Call& call, const EffectiveSetting& setting) {
  if (call.out().json()) {
    call.out().document(setting_json(setting));
  } else {
    call.out().print(fmt::format("{}\n", setting.value));
    if (call.out().verbose()) call.out().note(fmt::format("{} comes from: {}", setting.name, setting.source));
  }
  return 0;
}

// What counts now that the store was changed, and why if that is something else. `done`: what was.
Result<int> show_changed(const Call& call, const OpenWorkspace& workspace, const std::string& name,
                         const std::string& stored_key, std::string_view done) {
  const auto found = find(workspace.settings(), name);
  if (!found) return fail(found.error());
  if (found->source != "store " + stored_key) {
    call.out().note(fmt::format("{} {}. For you {} counts, from: {}", name, done, in_sentence(found->value),
                                found->source));
  }
  return show(call, *found);
}

// Returns the key that the store keeps it by.
Result<std::string> put(const Call& call, OpenWorkspace& workspace, const std::string& name,
                        const std::string& value) {
  if (const auto known = find(workspace.settings(), name); !known) return fail(known.error());
  const auto row = workspace.setting(name, value, call.arguments().text("for-profile").value_or(""));
  if (!row) return fail(row.error());
  if (const auto done = workspace.client()->put_setting(*row); !done) return fail(done.error());
  return row->stored_key();
}

Result<int> set(Call& call, const std::string& name, const std::string& value) {
  const auto workspace = call.workspace_to_begin([&](OpenWorkspace& empty) -> Result<void> {
    if (const auto done = put(call, empty, name, value); !done) return fail(done.error());
    return {};
  });
  if (!workspace) return fail(workspace.error());
  const auto stored_key = put(call, **workspace, name, value);
  if (!stored_key) return fail(stored_key.error());
  return show_changed(call, **workspace, name, *stored_key, "in the store is changed");
}

Result<int> unset(Call& call, OpenWorkspace& workspace, const std::string& name) {
  const auto now = find(workspace.settings(), name);
  if (!now) return fail(now.error());
  // Only its key in the store matters; any value that it can have leads there.
  const auto row = workspace.setting(name, now->value, call.arguments().text("for-profile").value_or(""));
  if (!row) return fail(row.error());
  const auto stored = workspace.client()->settings();
  if (!stored) return fail(stored.error());
  if (std::ranges::find(*stored, row->stored_key(), &Setting::stored_key) == stored->end()) {
    call.out().note(fmt::format("{} is not set in the store.", name));
    return show(call, *now);
  }
  if (const auto done = workspace.client()->erase_setting(row->stored_key()); !done)
    return fail(done.error());
  return show_changed(call, workspace, name, row->stored_key(), "is removed from the store");
}

Result<int> run(Call& call) {
  const std::vector<std::string>& words = call.arguments().operands();
  const std::string verb = words.empty() ? "list" : words.front();
  const std::size_t needed = verb == "list" ? 0 : verb == "set" ? 2 : 1;
  constexpr std::string_view kVerbs[] = {"list", "get", "set", "unset"};
  if (std::ranges::find(kVerbs, verb) == std::end(kVerbs)) {
    return fail(Code::invalid_argument, fmt::format("lease config cannot {}.{} See: lease help config",
                                                    in_quotes(verb), did_you_mean(verb, kVerbs)));
  }
  if (!words.empty() && words.size() != needed + 1) {
    return fail(Code::invalid_argument, fmt::format("It is: lease config {}{} See: lease help config", verb,
                                                    needed == 0   ? "."
                                                    : needed == 1 ? " NAME."
                                                                  : " NAME VALUE."));
  }
  if (verb == "list") return list(call);
  if (verb == "set") return set(call, words[1], words[2]);
  if (verb == "get") {
    const auto found = find(settings_of(call), words[1]);
    return found ? Result<int>(show(call, *found)) : fail(found.error());
  }
  auto workspace = call.workspace();
  // Where there is no store yet, nothing is set.
  if (!workspace && workspace.error().code == Code::not_found) workspace = call.workspace_without_store();
  return workspace ? unset(call, **workspace, words[1]) : fail(workspace.error());
}

constexpr OptionSpec kOptions[] = {
    {"--for-profile", "NAME", "Set it only for those who use this profile", "agent session job"}};

constexpr Example kExamples[] = {{"lease config", "every setting, and where its value comes from"},
                                 {"lease config set ttl 10m", "for everybody who uses this store"}};

}  // namespace

const Command kConfig = {
    .name = "config",
    .synopsis = "[list]\nget NAME\nset NAME VALUE [--for-profile NAME]\nunset NAME [--for-profile NAME]",
    .summary = "Show settings and where they come from, or change the store's",
    .description =
        "The first that says something counts: a flag, the environment, .leasehold.toml, the user's file, "
        "the store, "
        "the profile. set and unset change what the store keeps, for everybody who uses it.",
    .operands = {"VERB", "list, get, set or unset, and what belongs to it", 0, 3},
    .options = kOptions,
    .examples = kExamples,
    .takes_numbers = true,
    .run = run,
};

}  // namespace leasehold
