// freestone cache: lists and prunes the user's cache.

#include "cache/Eviction.h"
#include "cache/Explanation.h"
#include "tools/freestone/Compiler.h"
#include "tools/freestone/Options.h"
#include "tools/freestone/Verbs.h"
#include <cerrno>
#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace freestone::tools {

using OrderedJson = nlohmann::ordered_json;
using cache::EntryFile;

namespace {

struct CacheArguments {
  bool json = false;
  std::vector<std::string> keys;
  std::string size;
};

/// The folder of the user's cache, opened even if FREESTONE_CACHE turns caching off.
class OpenCache {
public:
  explicit OpenCache(bool mayWrite) : settings(cacheSettings()) {
    settings.mode = mayWrite ? cache::Mode::ReadWrite : cache::Mode::ReadOnly;
    settings.say = [this](const std::string &sentence) { reason = sentence; };
    if (settings.folder.empty())
      throw Failure(Exit::Failed, "no folder for a cache is known; set FREESTONE_CACHE_DIR");
    store = std::make_unique<cache::Store>(settings);
    if (!reason.empty())
      throw Failure(Exit::Failed, reason);
  }
  /// Null if there is no cache yet.
  const cache::Folder *folder() const { return store->folder(); }

  OpenCache(const OpenCache &) = delete;
  OpenCache &operator=(const OpenCache &) = delete;

  cache::Settings settings;
  std::unique_ptr<cache::Store> store;

private:
  std::string reason; ///< why the cache is unusable
};

/// Turns errors of the cache into failures of the command.
template <typename Body> auto orFail(Body body) {
  try {
    return body();
  } catch (const cache::FileError &error) {
    throw Failure(Exit::Failed, error.what());
  }
}

} // namespace

static std::string ageOf(const EntryFile &entry) {
  int64_t now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  int64_t seconds = std::max<int64_t>(0, now - entry.lastUse) / 1'000'000'000;
  if (seconds < 120)
    return fmt::format("{} s", seconds);
  return seconds < 7200 ? fmt::format("{} min", seconds / 60) : fmt::format("{} h", seconds / 3600);
}

/// The ingredients that are short enough for one line; empty for an unreadable entry.
static cache::Ingredients ingredientsOf(const cache::Folder &folder, const EntryFile &file) {
  try {
    return cache::EntryReader(folder).open(file.kind, file.key, cache::Check::MetadataOnly).ingredients();
  } catch (const std::runtime_error &) {
    return {};
  }
}

/// A title of an entry for users: of long texts, the first line with content.
static std::string titleOf(const cache::Ingredients &ingredients) {
  constexpr size_t longest = 60;
  std::string title;
  for (const auto &[name, text] : ingredients.list())
    for (const char *told : {"name", "target", "shows", "program", "module"}) {
      if (name != told || text.empty())
        continue;
      size_t begin = name == "module" ? std::min(text.find("func.func "), text.size()) : 0;
      std::string line = text.substr(begin, text.find('\n', begin) - begin);
      title += (title.empty() ? "" : ", ") + (line.size() > longest ? line.substr(0, longest) + "…" : line);
    }
  return title.empty() ? "?" : title;
}

static void list(const CacheArguments &arguments) {
  OpenCache cache(false);
  OrderedJson json = OrderedJson::array();
  if (const cache::Folder *folder = cache.folder())
    for (const EntryFile &file : cache::listEntries(*folder)) {
      cache::Ingredients ingredients = ingredientsOf(*folder, file);
      if (arguments.json)
        json.push_back({{"kind", nameOf(file.kind)},
                        {"key", file.key},
                        {"bytes", file.bytes},
                        {"last_use_ns", file.lastUse},
                        {"ingredients", ingredients.toJson()}});
      else
        fmt::print("{:<8}{}  {:>10.1f} KiB  used {:>6} ago  {}\n", nameOf(file.kind), file.key,
                   static_cast<double>(file.bytes) / 1024, ageOf(file), titleOf(ingredients));
    }
  if (arguments.json)
    fmt::print("{}\n", json.dump(2, ' ', false, OrderedJson::error_handler_t::replace));
}

static void stat(const CacheArguments &arguments) {
  OpenCache cache(false);
  std::map<std::string, std::pair<uint64_t, uint64_t>> kinds; // number of entries, and bytes
  for (cache::Kind kind : cache::allKinds)
    kinds[nameOf(kind)] = {};
  uint64_t bytes = 0;
  if (cache.folder())
    for (const EntryFile &file : cache::listEntries(*cache.folder())) {
      auto &[count, sum] = kinds[nameOf(file.kind)];
      ++count;
      sum += file.bytes;
      bytes += file.bytes;
    }
  std::map<std::string, uint64_t> totals = cache.store->totals();
  if (arguments.json) {
    OrderedJson json = {{"folder", cache.settings.folder}, {"bytes", bytes}, {"max_bytes", cache.settings.maxBytes}};
    for (const auto &[kind, entries] : kinds)
      json["entries"][kind] = {{"count", entries.first}, {"bytes", entries.second}};
    json["counters"] = totals;
    fmt::print("{}\n", json.dump(2));
    return;
  }
  constexpr double mebi = 1 << 20;
  fmt::print("{}: {:.1f} MiB of at most {:.0f} MiB\n", cache.settings.folder, static_cast<double>(bytes) / mebi,
             static_cast<double>(cache.settings.maxBytes) / mebi);
  for (const auto &[kind, entries] : kinds)
    fmt::print("{:<16}{:>8} entries {:>10.1f} MiB\n", kind, entries.first, static_cast<double>(entries.second) / mebi);
  for (const auto &[name, total] : totals)
    fmt::print("{:<16}{:>8}\n", name, total);
}

static void verify(const CacheArguments &arguments) {
  OpenCache cache(false);
  OrderedJson damaged = OrderedJson::array();
  uint64_t count = 0;
  if (const cache::Folder *folder = cache.folder())
    for (const EntryFile &file : cache::listEntries(*folder)) {
      ++count;
      try {
        cache::EntryReader(*folder).open(file.kind, file.key, cache::Check::Everything);
      } catch (const cache::FileError &error) {
        // Evicted meanwhile.
        if (error.code == ENOENT)
          --count;
        else
          damaged.push_back({{"kind", nameOf(file.kind)}, {"key", file.key}, {"reason", error.what()}});
      } catch (const cache::DamagedEntry &error) {
        damaged.push_back({{"kind", nameOf(file.kind)}, {"key", file.key}, {"reason", error.what()}});
      }
    }
  if (arguments.json)
    fmt::print("{}\n", OrderedJson{{"entries", count}, {"damaged", damaged}}.dump(2));
  for (const OrderedJson &entry : damaged)
    if (!arguments.json)
      fmt::print("{} {}: {}\n", entry["kind"].get<std::string>(), entry["key"].get<std::string>(),
                 entry["reason"].get<std::string>());
  if (!arguments.json)
    fmt::print("{} entries, {} damaged\n", count, damaged.size());
  if (!damaged.empty())
    throw Failure(Exit::Failed, "");
}

static void removeUntil(const CacheArguments &arguments, uint64_t maxBytes, std::chrono::hours unusedStamps) {
  OpenCache cache(true);
  uint64_t removed = cache::evict(*cache.folder(), maxBytes);
  cache::forgetStamps(*cache.folder(), unusedStamps);
  cache.folder()->sweep();
  size_t left = cache::listEntries(*cache.folder()).size();
  if (arguments.json)
    fmt::print("{}\n", OrderedJson{{"removed", removed}, {"left", left}}.dump());
  else
    fmt::print("{} entries removed, {} left\n", removed, left);
}

/// The entry with this prefix of a key.
static EntryFile findEntry(const cache::Folder &folder, const std::string &beginning) {
  std::vector<EntryFile> found;
  for (EntryFile &file : cache::listEntries(folder))
    if (file.key.starts_with(beginning))
      found.push_back(std::move(file));
  if (found.size() != 1)
    throw Failure(Exit::Usage, found.empty()
                                   ? fmt::format("no entry's key begins with {}", beginning)
                                   : fmt::format("the keys of {} entries begin with {}", found.size(), beginning));
  return found.front();
}

static void explain(const CacheArguments &arguments) {
  OpenCache cache(false);
  if (!cache.folder())
    throw Failure(Exit::Failed, fmt::format("the cache is empty: no key begins with {}", arguments.keys[0]));
  EntryFile one = findEntry(*cache.folder(), arguments.keys[0]), other = findEntry(*cache.folder(), arguments.keys[1]);
  std::vector<std::string> lines =
      one.kind == other.kind
          ? cache::differences(ingredientsOf(*cache.folder(), one), ingredientsOf(*cache.folder(), other))
          : std::vector{fmt::format("kind: {}, not {}", nameOf(one.kind), nameOf(other.kind))};
  if (arguments.json)
    fmt::print("{}\n", OrderedJson(lines).dump(2, ' ', false, OrderedJson::error_handler_t::replace));
  else
    for (const std::string &line : lines)
      fmt::print("{}\n", line);
}

void addCacheVerb(CLI::App &app) {
  CLI::App *verb = app.add_subcommand("cache", "Shows and clears what was compiled before (see docs/cache.md).");
  verb->require_subcommand(1);
  auto arguments = std::make_shared<CacheArguments>();
  auto add = [&](const char *name, const char *description, void (*act)(const CacheArguments &)) {
    CLI::App *action = verb->add_subcommand(name, description);
    action->add_flag("--json", arguments->json, "prints JSON");
    action->callback([arguments, act] { orFail([&] { act(*arguments); }); });
    return action;
  };
  add("list", "Lists all entries, those used last first.", list);
  add("stat", "Counts entries, bytes, hits and misses.", stat);
  add("verify", "Reads every entry and checks that nothing was altered.", verify);
  CLI::App *prune = add("prune", "Removes what was not used for the longest time.", [](const CacheArguments &given) {
    removeUntil(given, given.size.empty() ? cacheSettings().maxBytes : cache::parseBytes(given.size).value(),
                cache::stampLife);
  });
  auto takeSize = [arguments](const std::string &text) {
    if (!cache::parseBytes(text))
      refuseValue("--size", text, "must be a number of bytes, such as 500M or 8G");
    arguments->size = text;
  };
  prune
      ->add_option_function<std::string>("--size", takeSize, "what may stay: 500M, 8G; by default FREESTONE_CACHE_SIZE")
      ->type_name(formKind);
  add("clear", "Removes everything that no process has open.",
      [](const CacheArguments &given) { removeUntil(given, 0, std::chrono::hours(0)); });
  addTexts(*add("explain", "Says in what two entries differ.", explain), "keys", arguments->keys, nameKind,
           "the beginnings of their keys")
      ->expected(2)
      ->required();
}

} // namespace freestone::tools
