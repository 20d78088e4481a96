// Nothing in a file may crash the reader. The first byte of an input is its kind: 'a' a whole artifact, 'f' an artifact
// whose checksums are corrected first (so that the checks after them are reached), 'd' a descriptor.
#include "runtime/artifact/ArtifactLayout.h"
#include "runtime/sizes/SizePlan.h"

#include <cstdlib>
#include <cstring>

using namespace freestone::runtime;

namespace {

void repairChecksums(std::vector<uint8_t> &file) {
  ArtifactTrailer trailer;
  if (file.size() < sizeof(trailer))
    return;
  uint8_t *end = file.data() + file.size() - sizeof(trailer);
  std::memcpy(&trailer, end, sizeof(trailer));
  auto part = [&](uint64_t offset, uint64_t bytes) {
    bool isInside = offset <= file.size() && bytes <= file.size() - offset;
    return checksum(isInside ? std::span<const uint8_t>(file.data() + offset, bytes) : std::span<const uint8_t>());
  };
  trailer.codeChecksum = part(0, trailer.codeBytes);
  trailer.descriptorChecksum = part(trailer.descriptorOffset, trailer.descriptorBytes);
  trailer.trailerChecksum = checksumOfTrailer(trailer);
  std::memcpy(end, &trailer, sizeof(trailer));
}

int64_t slotCount = 0;
int64_t seed = 0;

/// Stands in for compiled code: arbitrary sizes.
int32_t bindAnything(int64_t *sizes) {
  for (int64_t slot = 0; slot < slotCount; ++slot)
    sizes[slot] = (seed + slot * 7) % 5 == 0 ? seed << (slot % 40) : slot % 64;
  return 0;
}

void checkDescriptor(const Descriptor &descriptor, int64_t input) {
  std::vector<uint8_t> bytes = encode(descriptor);
  Result<Descriptor> again = decode(bytes);
  if (!again.ok() || encode(*again) != bytes)
    std::abort();
  for (const Entry &entry : descriptor.entries) {
    if (entry.slotCount > 10000)
      continue;
    slotCount = entry.slotCount;
    seed = input;
    std::vector<int64_t> symbols(entry.symbols.size(), input % 1000);
    SizePlanner planner(entry, bindAnything, Dealer(entry, 2));
    (void)planner.plan(symbols);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1)
    return 0;
  // A copy, so that reads past the end are detected.
  std::vector<uint8_t> bytes(data + 1, data + size);
  if (data[0] == 'd') {
    Result<Descriptor> descriptor = decode(bytes);
    if (descriptor.ok())
      checkDescriptor(*descriptor, size);
    return 0;
  }
  if (data[0] == 'f')
    repairChecksums(bytes);
  (void)readArtifact(bytes);
  return 0;
}
