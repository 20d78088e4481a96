#include "cache/Store.h"

#include "cache/Counters.h"
#include "cache/Eviction.h"
#include "cache/Explanation.h"
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>

using namespace freestone::cache;

static constexpr const char *counterNames[] = {"hits",         "misses",         "code_hits", "code_misses",
                                               "program_hits", "program_misses", "waits",     "kept",
                                               "evicted",      "rejected",       "failures"};

Store::Store(Settings settings, FileSystem &system)
    : system(&system), chosen(std::move(settings)), spent(chosen.lockTimeoutSpent) {
  for (const char *name : counterNames)
    counts[name] = 0;
  if (chosen.mode == Mode::Off)
    return;
  try {
    opened = std::make_unique<Folder>(system, chosen.folder, chosen.mode == Mode::ReadWrite);
  } catch (const FileError &error) {
    // A missing folder is no error for a read-only cache: it is empty.
    if (error.code != ENOENT || chosen.mode == Mode::ReadWrite)
      fail(error.what());
  }
}

Store::~Store() {
  if (mayExceed)
    evict();
}

static Entry makeIn(File file, const Store::Maker &make) {
  std::string about = make(file.path());
  return Entry::unkept(std::move(file), std::move(about));
}

Entry Store::makeUnkept(const Maker &make, FileSystem &system) {
  std::error_code code;
  std::filesystem::path folder = std::filesystem::temp_directory_path(code);
  try {
    if (!code)
      return makeIn(File::unnamed(system, folder), make);
  } catch (const FileError &) {
    // Falls back to memory.
  } catch (const CannotWrite &) {
    // Too little space, for instance.
  }
  try {
    return makeIn(File::inMemory(system), make);
  } catch (const FileError &error) {
    throw CannotWrite(error.what());
  }
}

Entry Store::obtain(const Request &request, const Maker &make) {
  if (!opened)
    return makeUnkept(make, *system);
  std::string key = request.ingredients.key();
  if (std::optional<Entry> entry = lookUp(request.kind, key)) {
    countLookUp(request.kind, true);
    return std::move(*entry);
  }
  countLookUp(request.kind, false);
  explainMissOf(request.kind, request.ingredients);
  if (!opened->mayWrite())
    return makeUnkept(make, *system);
  KeyLock lock(*opened, key, chosen.lockTimeout, chosen.onWait, spent);
  if (lock.hasWaited())
    count("waits");
  if (std::optional<Entry> entry = lookUp(request.kind, key))
    return std::move(*entry);
  // A dead machine may hold nested locks as well: the waits share one timeout.
  struct Spending {
    Spending(std::chrono::milliseconds &spent, std::chrono::milliseconds more) : spent(spent), before(spent) {
      spent += more;
    }
    ~Spending() { spent = before; }
    std::chrono::milliseconds &spent;
    const std::chrono::milliseconds before;
  } spending(spent, lock.silence());
  return makeKept(request, key, make);
}

Claim Store::claim(Kind kind, const Ingredients &ingredients) {
  Claim claim;
  if (!opened)
    return claim;
  std::string key = ingredients.key();
  bool isThere = read(kind, key, claim);
  if (!isThere && opened->mayWrite()) {
    claim.turn = std::make_unique<KeyLock>(*opened, key, chosen.lockTimeout, chosen.onWait, spent);
    if (claim.turn->hasWaited())
      count("waits");
    if ((isThere = read(kind, key, claim)))
      claim.turn.reset();
  }
  countLookUp(kind, isThere);
  if (!isThere)
    explainMissOf(kind, ingredients);
  return claim;
}

Entry Store::makeKept(const Request &request, const std::string &key, const Maker &make) {
  try {
    StagingFolder staging(*opened);
    std::string unfinished = staging.name() + "/made";
    std::string about = make(opened->pathOf(unfinished));
    Entry entry = Entry::unkept(opened->open(unfinished, O_RDWR | O_APPEND), std::move(about));
    try {
      publish(request, key, unfinished, entry);
    } catch (const FileError &error) {
      fail(error.what());
    }
    evict();
    return entry;
  } catch (const FileError &error) {
    fail(error.what());
  } catch (const CannotWrite &error) {
    fail(error.what());
  }
  return makeUnkept(make, *system);
}

void Store::publish(const Request &request, const std::string &key, const std::string &unfinished, Entry &entry) {
  if (request.stillHolds && !request.stillHolds())
    return;
  if (entry.bytes > chosen.maxBytes)
    throw FileError::refusal("it is larger than FREESTONE_CACHE_SIZE", EFBIG);
  std::string seal =
      sealOf(Mapping(opened->system(), entry.file, entry.bytes).bytes(), request.ingredients, request.kind, entry.said);
  entry.file.append(seal);
  entry.file.protect();
  try {
    // Protects the new entry from eviction at once.
    entry.file.lock(LOCK_SH | LOCK_NB);
  } catch (const FileError &) {
    // Without locks the entry may be evicted while it is open; its bytes stay readable.
  }
  mayExceed = true;
  opened->rename(unfinished, std::string(nameOf(request.kind)) + "/" + key);
  count("kept");
}

std::optional<std::string> Store::find(Kind kind, const Ingredients &ingredients, std::string *about) {
  if (!opened)
    return std::nullopt;
  Claim claim;
  countLookUp(kind, read(kind, ingredients.key(), claim));
  if (about)
    *about = std::move(claim.about);
  return std::move(claim.payload);
}

void Store::keep(Kind kind, const Ingredients &ingredients, std::string_view payload, const std::string &about) {
  if (!opened || !opened->mayWrite() || payload.size() > chosen.maxBytes)
    return;
  std::span bytes(reinterpret_cast<const uint8_t *>(payload.data()), payload.size());
  mayExceed = true;
  try {
    opened->write(std::string(nameOf(kind)) + "/" + ingredients.key(),
                  std::string(payload) + sealOf(bytes, ingredients, kind, about));
    count("kept");
  } catch (const FileError &error) {
    fail(error.what());
  }
}

bool Store::read(Kind kind, const std::string &key, Claim &claim) {
  std::optional<Entry> entry = lookUp(kind, key);
  if (!entry)
    return false;
  try {
    claim.payload = entry->payload();
    claim.about = entry->about();
    return true;
  } catch (const FileError &error) {
    fail(error.what());
    return false;
  }
}

std::optional<Entry> Store::lookUp(Kind kind, const std::string &key) {
  std::string name = std::string(nameOf(kind)) + "/" + key;
  try {
    return EntryReader(*opened).open(kind, key, Check::UnlessStamped);
  } catch (const FileError &error) {
    if (error.code != ENOENT)
      fail(error.what());
  } catch (const DamagedEntry &error) {
    count("rejected");
    fail("the entry " + name + " is damaged: " + error.what());
    try {
      if (opened->mayWrite())
        opened->remove(name);
    } catch (const FileError &) {
      // The next maker replaces it.
    }
  }
  return std::nullopt;
}

void Store::countLookUp(Kind kind, bool isFound) {
  switch (kind) {
  case Kind::Code:
    return count(isFound ? "code_hits" : "code_misses");
  case Kind::Program:
    return count(isFound ? "program_hits" : "program_misses");
  case Kind::Model:
  case Kind::Text:
    return count(isFound ? "hits" : "misses");
  }
}

void Store::explainMissOf(Kind kind, const Ingredients &ingredients) {
  if (chosen.explain)
    chosen.explain(explainMiss(*opened, kind, ingredients));
}

void Store::evict() {
  mayExceed = false;
  try {
    count("evicted", freestone::cache::evict(*opened, chosen.maxBytes));
    forgetStamps(*opened, stampLife);
    opened->sweep();
  } catch (const FileError &error) {
    fail(error.what());
  }
}

void Store::count(const char *name, uint64_t times) {
  counts[name] += times;
  if (times == 0 || !opened || !opened->mayWrite())
    return;
  try {
    Counters(*opened).add(name, times);
  } catch (const FileError &) {
    // The total is then too small.
  }
}

std::map<std::string, uint64_t> Store::totals() const {
  std::map<std::string, uint64_t> totals;
  try {
    if (opened)
      totals = Counters(*opened).totals();
  } catch (const FileError &) {
    // Unreadable totals are 0.
  }
  for (const char *name : counterNames)
    totals.try_emplace(name, 0);
  return totals;
}

void Store::fail(const std::string &reason) {
  count("failures");
  if (!hasWarned && chosen.say)
    chosen.say("the cache can't be used for this: " + reason);
  hasWarned = true;
}
