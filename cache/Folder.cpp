#include "cache/Folder.h"

#include "cache/Key.h"
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <random>
#include <sys/file.h>
#include <unistd.h>

using namespace freestone::cache;

/// Marks the folder for backup programs to skip.
static constexpr std::string_view tag =
    "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of freestone; it may be removed at any time.\n";

/// Opens a folder; if it is missing and `mayMake`, makes it with its parents.
static File openRoot(FileSystem &system, const std::string &path, bool mayMake) {
  constexpr int flags = O_RDONLY | O_DIRECTORY;
  try {
    return File(system, AT_FDCWD, path, flags);
  } catch (const FileError &error) {
    if (error.code != ENOENT || !mayMake)
      throw;
  }
  for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    system.makeFolder(AT_FDCWD, path.substr(0, slash).c_str(), 0700);
  if (system.makeFolder(AT_FDCWD, path.c_str(), 0700) != 0 && errno != EEXIST)
    throw FileError("can't make '" + path + "'");
  return File(system, AT_FDCWD, path, flags);
}

static std::vector<std::string> foldersWithin() {
  std::vector<std::string> folders = {"new", "stamp", "lock", "count", "machine"};
  for (Kind kind : allKinds)
    folders.push_back(nameOf(kind));
  return folders;
}

static void requireTrust(const std::string &path, const struct stat &status) {
  if (!S_ISDIR(status.st_mode))
    throw FileError::refusal("'" + path + "' is no folder", ENOTDIR);
  if (status.st_uid != geteuid() && status.st_uid != 0)
    throw FileError::refusal("'" + path + "' belongs to another user, whose code would run", EPERM);
  if (status.st_mode & (S_IWGRP | S_IWOTH))
    throw FileError::refusal("others can write '" + path + "', and their code would run (chmod go-w makes it safe)",
                             EPERM);
}

Folder::Folder(FileSystem &system, const std::string &path, bool mayWrite)
    : fileSystem(&system), name(path), writable(mayWrite), root(openRoot(system, path, mayWrite)) {
  requireTrust(path, root.status());
  std::vector<std::string> within = foldersWithin();
  struct stat found;
  for (const std::string &folder : within) {
    bool isThere = status(folder, found);
    if (!isThere && mayWrite) {
      if (system.makeFolder(root.get(), folder.c_str(), 0700) != 0 && errno != EEXIST)
        throw FileError("can't make '" + path + "/" + folder + "'");
      isThere = status(folder, found);
    }
    // The folder may have been made by others, at a time when they could write the cache's folder.
    if (isThere)
      requireTrust(path + "/" + folder, found);
  }
  if (mayWrite && !status("CACHEDIR.TAG", found))
    write("CACHEDIR.TAG", tag);
}

bool Folder::status(const std::string &file, struct stat &status) const {
  if (fileSystem->statusAt(root.get(), file.c_str(), &status) == 0)
    return true;
  if (errno == ENOENT)
    return false;
  throw FileError("can't look at '" + file + "'");
}

bool Folder::remove(const std::string &file, int flags) const {
  if (fileSystem->remove(root.get(), file.c_str(), flags) == 0)
    return true;
  if (errno == ENOENT)
    return false;
  throw FileError("can't remove '" + file + "'");
}

void Folder::rename(const std::string &from, const std::string &to) const {
  if (fileSystem->rename(root.get(), from.c_str(), root.get(), to.c_str()) != 0)
    throw FileError("can't rename '" + from + "' to '" + to + "'");
}

void Folder::touch(const std::string &file) const {
  if (fileSystem->touch(root.get(), file.c_str()) != 0)
    throw FileError("can't touch '" + file + "'");
}

void Folder::write(const std::string &file, std::string_view bytes) const {
  std::string unfinished = unfinishedName();
  try {
    open(unfinished, O_WRONLY | O_CREAT | O_EXCL).append(bytes);
    rename(unfinished, file);
  } catch (const FileError &) {
    fileSystem->remove(root.get(), unfinished.c_str(), 0);
    throw;
  }
}

std::string Folder::unfinishedName() {
  static thread_local std::random_device random;
  uint64_t number = uint64_t(random()) << 32 | random();
  return "new/" + std::to_string(getpid()) + "." + std::to_string(number);
}

std::string Folder::pathOf(const std::string &file) const {
  return "/proc/self/fd/" + std::to_string(root.get()) + "/" + file;
}

// In seconds. Younger folders may be about to be locked, younger files about to be renamed.
static constexpr time_t youngest = 10, oldest = 3600;

void Folder::sweep() const {
  auto sweepAll = [&](const std::string &folder, void (Folder::*sweepOne)(const std::string &) const) {
    for (const std::string &child : list(folder)) {
      try {
        (this->*sweepOne)(folder + "/" + child);
      } catch (const FileError &error) {
        // Its own process or another sweep has removed it already.
        if (error.code != ENOENT)
          throw;
      }
    }
  };
  sweepAll("new", &Folder::sweepUnfinished);
  sweepAll("lock", &Folder::sweepLock);
}

void Folder::sweepUnfinished(const std::string &unfinished) const {
  struct stat found;
  if (!status(unfinished, found))
    return;
  time_t age = std::time(nullptr) - found.st_mtime;
  if (!S_ISDIR(found.st_mode)) {
    if (age > oldest)
      remove(unfinished);
    return;
  }
  if (age < youngest)
    return;
  File handle = open(unfinished, O_RDONLY | O_DIRECTORY);
  try {
    if (!handle.lock(LOCK_EX | LOCK_NB))
      return;
  } catch (const FileError &) {
    // Without locks, age decides.
    if (age < 24 * oldest)
      return;
  }
  for (const std::string &file : list(unfinished))
    remove(unfinished + "/" + file);
  remove(unfinished, AT_REMOVEDIR);
}

void Folder::sweepLock(const std::string &lock) const {
  struct stat found;
  // A live holder touches its lock regularly.
  if (!status(lock, found) || std::time(nullptr) - found.st_mtime < oldest)
    return;
  File handle = open(lock, O_RDWR | O_NOFOLLOW);
  try {
    if (!handle.lock(LOCK_EX | LOCK_NB))
      return;
  } catch (const FileError &) {
    // Without locks there is no holder.
  }
  remove(lock);
}

StagingFolder::StagingFolder(const Folder &folder) : folder(folder), own(Folder::unfinishedName()) {
  if (folder.system().makeFolder(AT_FDCWD, folder.pathOf(own).c_str(), 0700) != 0)
    throw FileError("can't make '" + own + "'");
  try {
    handle = folder.open(own, O_RDONLY | O_DIRECTORY);
    handle.lock(LOCK_SH | LOCK_NB);
  } catch (const FileError &) {
    // Without locks the folder is swept by its age.
  }
}

StagingFolder::~StagingFolder() {
  try {
    for (const std::string &file : folder.list(own))
      folder.remove(own + "/" + file);
    folder.remove(own, AT_REMOVEDIR);
  } catch (const FileError &) {
    // A later sweep removes it.
  }
}
