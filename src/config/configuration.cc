#include "config/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "util/number.h"
#include "util/utf8.h"

namespace leasehold {
namespace {

constexpr std::string_view kSession = "session";
constexpr std::array<std::string_view, 5> kTypes = {"int", "float", "bool", "string", "json"};

struct Found {
  std::string text;
  std::string source;
};

const char* variable(const ConfigSources& sources, const std::string& name) {
  const char* value = sources.environment ? sources.environment(name.c_str()) : nullptr;
  // An empty variable is how a shell says "not set".
  return value == nullptr || *value == '\0' ? nullptr : value;
}

// What a file says, as text. Numbers and flags may stand there as such.
std::optional<std::string> text_of(const TomlValue& value) {
  if (const auto* text = value.as<std::string>()) return *text;
  if (const auto* number = value.as<std::int64_t>()) return std::to_string(*number);
  if (const auto* flag = value.as<bool>()) return *flag ? "true" : "false";
  return std::nullopt;
}

Result<std::optional<Found>> in_file(const std::optional<SettingsFile>& file, std::string_view name) {
  const TomlValue* value = file ? file->table.find(name) : nullptr;
  if (value == nullptr) return std::nullopt;
  const auto place = fmt::format("{}:{}", file->name, value->line);
  auto text = text_of(*value);
  if (!text) {
    return fail(Code::config_error,
                fmt::format("{}: {} has to be a text, a number, true or false", place, name));
  }
  return Found{std::move(*text), place};
}

// What the user says about a setting before the store is asked.
Result<std::optional<Found>> find(const ConfigSources& sources, std::string_view name,
                                  const std::vector<std::string>& variables) {
  if (const auto flag = sources.flags.find(std::string(name)); flag != sources.flags.end()) {
    return Found{flag->second, "flag"};
  }
  for (const std::string& one : variables) {
    if (const char* value = variable(sources, one)) return Found{value, "environment " + one};
  }
  auto project = in_file(sources.project, name);
  if (!project || *project) return project;
  return in_file(sources.user, name);
}

// An error that says where the value stands.
Error at(const Found& found, const Error& error) {
  const bool flag = found.source == "flag";
  return {flag ? Code::invalid_argument : Code::config_error,
          flag ? fmt::format("{}.", error.message) : fmt::format("{}: {}", found.source, error.message)};
}

// It would say which leases these are, and must not be passed over as a setting of another version may be.
Result<void> must_not_name_namespace(const std::optional<SettingsFile>& file) {
  const TomlValue* const value = file ? file->table.find("namespace") : nullptr;
  if (value == nullptr) return {};
  return fail(Code::config_error,
              fmt::format("{}:{}: namespace is no setting, but a part of the store's URL: store = "
                          "\"redis://HOST?namespace=NAME\"",
                          file->name, value->line));
}

bool is_setting(std::string_view name) {
  const SettingSpec* const spec = find_setting(name);
  return spec != nullptr && spec->name == name;
}

std::string no_setting(std::string_view name) {
  const SettingSpec* const spec = find_setting(name);
  if (spec == nullptr) return fmt::format("There is no setting {}.", in_quotes(name));
  return fmt::format("The setting {} is called so in a store only. Here it is {}.", in_quotes(name),
                     spec->name);
}

const Setting* find_row(std::span<const Setting> stored, std::string_view key, std::string_view profile) {
  const Setting* global = nullptr;
  for (const Setting& one : stored) {
    if (one.key != key) continue;
    if (one.scope == "profile" && one.resource == profile) return &one;
    if (one.scope == "global") global = &one;
  }
  return global;
}

}  // namespace

std::vector<std::string> unknown_settings(std::string_view file, const TomlTable& table) {
  constexpr std::array<std::string_view, 5> kOthers = {"pairs", "profile", "scope", "store", "workspace"};
  std::vector<std::string> notes;
  for (const TomlEntry& entry : table.entries) {
    if (std::ranges::find(kOthers, entry.key) != kOthers.end() || is_setting(entry.key)) continue;
    notes.push_back(
        fmt::format("{}:{}: {} See: lease config list", file, entry.value.line, no_setting(entry.key)));
  }
  return notes;
}

Result<std::unique_ptr<Configuration>> Configuration::read(const ConfigSources& sources) {
  for (const auto* file : {&sources.project, &sources.user}) {
    if (auto checked = must_not_name_namespace(*file); !checked) return fail(checked.error());
  }
  auto config = std::unique_ptr<Configuration>(new Configuration);
  config->profile_ = {.name = "profile",
                      .value = "agent",
                      .source = "built-in",
                      .description = "Named set of defaults: agent, session or job"};
  if (auto done = config->read_text(sources, "profile", {"LEASE_PROFILE"}, config->profile_); !done) {
    return fail(done.error());
  }
  const auto profile = profile_named(config->profile_.value);
  if (!profile) return fail(at({{}, config->profile_.source}, profile.error()));
  config->built_in_ = profile->policy;

  std::vector<const char*> urls = {"LEASE_STORE", "LOCK_REDIS_URL"};
  if (config->profile_.value == kSession) urls.push_back("REDIS_URL");
  config->store_ = {
      .name = "store", .source = "built-in", .description = "Where leases are kept; empty: in the workspace"};
  if (auto done = config->read_text(sources, "store", urls, config->store_); !done) return fail(done.error());

  for (const SettingSpec& spec : setting_specs()) {
    auto known = config->from_sources(sources, spec);
    if (!known) return fail(known.error());
    if (*known) config->known_.emplace(spec.name, std::move(**known));
  }
  for (const auto& [name, value] : sources.flags) {
    if (name == "profile" || name == "store" || is_setting(name)) continue;
    return fail(Code::invalid_argument, no_setting(name));
  }
  return config;
}

Result<void> Configuration::read_text(const ConfigSources& sources, std::string_view name,
                                      const std::vector<const char*>& variables,
                                      EffectiveSetting& setting) const {
  auto found = find(sources, name, {variables.begin(), variables.end()});
  if (!found) return fail(found.error());
  if (!*found) return {};
  setting.value = std::move((*found)->text);
  setting.source = std::move((*found)->source);
  return {};
}

Result<std::optional<Configuration::Known>> Configuration::from_sources(const ConfigSources& sources,
                                                                        const SettingSpec& spec) const {
  std::vector<std::string> variables = {environment_name(spec)};
  const std::string session_name(spec.session_name);
  const bool has_session_name = profile_.value == kSession && !session_name.empty();
  if (has_session_name) variables.push_back(session_name);
  auto found = find(sources, spec.name, variables);
  if (!found) return fail(found.error());
  if (!*found) return std::nullopt;
  const bool older = has_session_name && (*found)->source == "environment " + session_name;
  const auto value =
      older ? parse_setting(spec, (*found)->text, spec.session_unit) : parse_setting(spec, (*found)->text);
  if (!value) return fail(at(**found, value.error()));
  return Known{*value, std::move((*found)->source)};
}

std::optional<Configuration::Known> Configuration::from_store(const SettingSpec& spec,
                                                              std::span<const Setting> stored) const {
  const Setting* row = spec.is_local ? nullptr : find_row(stored, spec.stored_key, profile_.value);
  if (row == nullptr) return std::nullopt;
  const auto value = parse_setting(spec, row->value, spec.stored_unit);
  if (!value) return std::nullopt;
  return Known{*value, "store " + row->stored_key()};
}

void Configuration::keep_what_needs_restart(std::vector<Setting>& stored) {
  const std::lock_guard lock(mutex_);
  if (in_force_) {
    const auto row_of = [](const std::vector<Setting>& rows, const Setting& like) {
      return std::ranges::find(rows, like.stored_key(), &Setting::stored_key);
    };
    std::vector<Setting> now;
    for (const Setting& row : stored) {
      const auto before = row_of(*in_force_, row);
      if (!row.requires_restart) {
        now.push_back(row);
      } else if (before != in_force_->end()) {
        now.push_back(*before);
      }
    }
    for (const Setting& row : *in_force_) {
      if (row.requires_restart && row_of(stored, row) == stored.end()) now.push_back(row);
    }
    stored = std::move(now);
  }
  in_force_ = stored;
}

Policy Configuration::policy(std::vector<Setting> stored) {
  keep_what_needs_restart(stored);
  return policy_of(stored);
}

Policy Configuration::policy_without_store() const { return policy_of({}); }

bool Configuration::is_on(std::string_view name) const {
  if (const auto known = known_.find(name); known != known_.end()) return known->second.value != 0;
  const SettingSpec* const spec = find_setting(name);
  return spec != nullptr && spec->field.current(built_in_) != 0;
}

Result<std::vector<std::string>> Configuration::leave_to_server() {
  std::vector<std::string> notes;
  for (const SettingSpec& spec : setting_specs()) {
    const auto known = known_.find(spec.name);
    if (known == known_.end() || spec.is_local || spec.is_in_requests) continue;
    if (known->second.source == "flag")
      return fail(Code::invalid_argument,
                  fmt::format("{} is for the lease server to say, which goes by its own settings. Leave it "
                              "out, or store it there: lease config set {} {}",
                              spec.name, spec.name, setting_text(spec, known->second.value)));
    notes.push_back(
        fmt::format("{} ({}) does not count: the lease server goes by its own settings. To store "
                    "it there: lease config set {} {}",
                    spec.name, known->second.source, spec.name, setting_text(spec, known->second.value)));
    known_.erase(known);
  }
  return notes;
}

std::optional<std::int64_t> Configuration::said(std::string_view name) const {
  const auto known = known_.find(name);
  return known != known_.end() ? std::optional(known->second.value) : std::nullopt;
}

std::string Configuration::fingerprint() const {
  std::string text = "profile=" + profile_.value;
  for (const auto& [name, known] : known_) text += fmt::format(";{}={}", name, known.value);
  return text;
}

Policy Configuration::policy_of(std::span<const Setting> stored) const {
  Policy policy = built_in_;
  for (const SettingSpec& spec : setting_specs()) {
    if (const auto known = known_.find(spec.name); known != known_.end()) {
      spec.field.apply(policy, known->second.value);
    } else if (const auto row = from_store(spec, stored)) {
      spec.field.apply(policy, row->value);
    }
  }
  // Nobody asked for the built-in term. One that somebody set is cut by each acquire, which says so.
  if (policy.ttl == built_in_.ttl) policy.ttl = std::min(policy.ttl, policy.ttl_max);
  return policy;
}

std::vector<EffectiveSetting> Configuration::explain(std::vector<Setting> stored) {
  keep_what_needs_restart(stored);
  std::vector<EffectiveSetting> all = {profile_, store_};
  for (const SettingSpec& spec : setting_specs()) {
    Known known = {spec.field.current(built_in_), "built-in, profile " + profile_.value};
    if (const auto said = known_.find(spec.name); said != known_.end()) {
      known = said->second;
    } else if (auto row = from_store(spec, stored)) {
      known = std::move(*row);
    }
    const Setting* row = find_row(stored, spec.stored_key, profile_.value);
    all.push_back({.name = std::string(spec.name),
                   .value = setting_text(spec, known.value),
                   .source = std::move(known.source),
                   .description = std::string(spec.description),
                   .requires_restart = row != nullptr && row->requires_restart});
  }
  return all;
}

namespace {

// Any text is a string; whether it is JSON is for those who read it to see.
bool is_of_type(std::string_view value, std::string_view type) {
  if (type == "int") return parse_number<std::int64_t>(value).has_value();
  if (type == "float") return parse_number<double>(value).has_value();
  if (type == "bool") return value == "true" || value == "false";
  return true;
}

std::unexpected<Error> cannot_store(const Setting& setting, std::string_view why) {
  return fail(Code::invalid_argument,
              fmt::format("The setting {} cannot be stored: {}.", in_quotes(setting.stored_key()), why));
}

// As check_setting(), but that it may be one that no store should have: an old row has to be named to go.
Result<Setting> well_formed(Setting setting) {
  const auto refuse = [&](std::string_view why) { return cannot_store(setting, why); };
  if (setting.key.empty() || setting.key.contains('@')) return refuse("its key is empty or has an @");
  if (setting.scope.empty() || setting.scope.contains(':'))
    return refuse("its scope is empty or has a colon");
  if ((setting.scope == "global") != setting.resource.empty()) {
    return refuse("a resource belongs to every scope but global, and to no global one");
  }
  for (const std::string* text :
       {&setting.key, &setting.scope, &setting.resource, &setting.value, &setting.description}) {
    if (text->size() > 4096 || text->contains('\0') || invalid_utf8_at(*text)) {
      return refuse("its texts have to be UTF-8 without NUL, of at most 4096 bytes");
    }
  }
  const SettingSpec* spec = find_setting(setting.key);
  if (spec != nullptr && spec->stored_key == setting.key) {
    const auto value = parse_setting(*spec, setting.value, spec->stored_unit);
    if (!value) return refuse(value.error().message);
    setting.type = spec->kind == SettingKind::flag ? "bool" : "int";
    if (setting.description.empty()) setting.description = spec->description;
  }
  if (spec != nullptr && spec->stored_key != setting.key)
    return refuse(fmt::format("stores keep it as {}", spec->stored_key));
  if (std::ranges::find(kTypes, setting.type) == kTypes.end()) {
    return refuse("its type has to be int, float, bool, string or json");
  }
  if (!is_of_type(setting.value, setting.type))
    return refuse(fmt::format("{} is no {}", in_quotes(setting.value), setting.type));
  return setting;
}

}  // namespace

Result<Setting> check_setting(Setting setting) {
  const SettingSpec* const spec = find_setting(setting.key);
  if (spec == nullptr || !spec->is_local) return well_formed(std::move(setting));
  return cannot_store(setting, "hooks go by it without asking the store. Write it into .leasehold.toml");
}

Result<Setting> stored_setting(std::string_view name, std::string_view value, std::string_view profile) {
  const SettingSpec* spec = find_setting(name);
  if (spec == nullptr) {
    std::string names;
    for (const SettingSpec& one : setting_specs())
      names += fmt::format("{}{}", names.empty() ? "" : ", ", one.name);
    return fail(
        Code::invalid_argument,
        fmt::format("There is no setting {} that a store keeps. There are: {}.", in_quotes(name), names));
  }
  const bool seeds_name = name == spec->stored_key && spec->kind == SettingKind::duration;
  const auto parsed =
      seeds_name ? parse_setting(*spec, value, spec->stored_unit) : parse_setting(*spec, value);
  if (!parsed) return fail(Code::invalid_argument, parsed.error().message + ".");
  if (spec->kind == SettingKind::duration && *parsed % spec->stored_unit.count() != 0) {
    return fail(
        Code::invalid_argument,
        fmt::format("{} is kept in {}, as {}; {} is no whole number of them.", spec->name,
                    setting_text(*spec, spec->stored_unit.count()), spec->stored_key, in_quotes(value)));
  }
  Setting setting = {.key = std::string(spec->stored_key), .value = stored_text(*spec, *parsed)};
  if (!profile.empty()) {
    if (auto known = profile_named(profile); !known) return fail(known.error());
    setting.scope = "profile";
    setting.resource = profile;
  }
  return well_formed(std::move(setting));
}

}  // namespace leasehold
