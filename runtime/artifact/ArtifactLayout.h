// The fixed trailer of every artifact, and the offsets of its parts.
#ifndef FREESTONE_RUNTIME_ARTIFACT_ARTIFACTLAYOUT_H
#define FREESTONE_RUNTIME_ARTIFACT_ARTIFACTLAYOUT_H

#include "runtime/artifact/ArtifactFile.h"
#include <array>
#include <cstdint>

namespace freestone::runtime {

constexpr std::array<char, 8> artifactMagic = {'F', 'R', 'S', 'T', 'O', 'N', 'E', '\n'};

/// The last bytes of the file, little-endian; all offsets count from its beginning.
struct ArtifactTrailer {
  std::array<char, 8> magic = artifactMagic;
  uint32_t version = artifactVersion;
  uint32_t trailerBytes = 0;
  uint64_t codeBytes = 0;
  uint64_t weightsOffset = 0;
  uint64_t weightsBytes = 0;
  uint64_t descriptorOffset = 0;
  uint64_t descriptorBytes = 0;
  Checksum codeChecksum = {};
  Checksum descriptorChecksum = {};
  Checksum trailerChecksum = {}; ///< of the preceding fields
};
static_assert(sizeof(ArtifactTrailer) == 104 && std::has_unique_object_representations_v<ArtifactTrailer>);

constexpr uint64_t weightsAlignment = 4096; ///< of the section; a page
constexpr uint64_t weightAlignment = 64;    ///< of each weight, and of the descriptor

constexpr uint64_t roundUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Checksum of all fields before `trailerChecksum`.
Checksum checksumOfTrailer(const ArtifactTrailer &trailer);

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_ARTIFACT_ARTIFACTLAYOUT_H
