#include "cache/Stamps.h"

#include "cache/Key.h"
#include <fcntl.h>

using namespace freestone::cache;

/// The identity as text, with which a stamp begins.
static std::string textOf(const FileIdentity &identity) {
  std::string text;
  for (uint64_t number : {identity.device, identity.inode, identity.bytes})
    text += std::to_string(number) + " ";
  for (int64_t number : {identity.changedSeconds, identity.changedNanoseconds, identity.attributesSeconds,
                         identity.attributesNanoseconds})
    text += std::to_string(number) + " ";
  return text;
}

std::string Stamps::recall(const std::string &name, const FileIdentity &identity) const {
  try {
    File file = folder.open("stamp/" + name, O_RDONLY);
    constexpr size_t hashBytes = 32, longest = 1024;
    size_t bytes = std::min(longest, static_cast<size_t>(file.status().st_size));
    std::string stamp = file.read(0, bytes), expected = textOf(identity);
    // A stamp is the identity, the hash, and the hash of these two.
    if (stamp.size() != expected.size() + 2 * hashBytes || !stamp.starts_with(expected) ||
        hashOf(std::string_view(stamp).substr(0, stamp.size() - hashBytes)) != stamp.substr(stamp.size() - hashBytes))
      return "";
    return stamp.substr(expected.size(), hashBytes);
  } catch (const FileError &) {
    return "";
  }
}

void Stamps::remember(const std::string &name, const FileIdentity &identity, const std::string &hash) const {
  if (!folder.mayWrite() || !identity.isSettled())
    return;
  try {
    std::string stamp = textOf(identity) + hash;
    folder.write("stamp/" + name, stamp + hashOf(stamp));
  } catch (const FileError &) {
    // The hash is computed again.
  }
}

void Stamps::refresh(const std::string &name) const {
  if (!folder.mayWrite())
    return;
  try {
    folder.touch("stamp/" + name);
  } catch (const FileError &) {
    // Only the stamp's recorded last use is too early.
  }
}
