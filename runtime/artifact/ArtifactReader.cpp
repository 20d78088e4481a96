#include "runtime/artifact/ArtifactLayout.h"
#include "runtime/artifact/abi.h"
#include <algorithm>
#include <cstring>
#include <type_traits>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace freestone::runtime;

Checksum freestone::runtime::checksum(std::span<const uint8_t> bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  Checksum result;
  std::memcpy(result.data(), canonical.digest, result.size());
  return result;
}

Checksum freestone::runtime::checksumOfTrailer(const ArtifactTrailer &trailer) {
  return checksum({reinterpret_cast<const uint8_t *>(&trailer), offsetof(ArtifactTrailer, trailerChecksum)});
}

namespace {

/// Whether the parts are contiguous up to alignment, so that their sizes determine every offset.
bool isConsistent(const ArtifactTrailer &trailer, uint64_t fileBytes) {
  uint64_t sum = 0;
  for (uint64_t part : {trailer.codeBytes, trailer.weightsBytes, trailer.descriptorBytes})
    if (part > fileBytes || __builtin_add_overflow(sum, part, &sum))
      return false;
  return trailer.weightsOffset == roundUp(trailer.codeBytes, weightsAlignment) &&
         trailer.descriptorOffset == roundUp(trailer.weightsOffset + trailer.weightsBytes, weightAlignment) &&
         trailer.descriptorOffset + trailer.descriptorBytes + sizeof(ArtifactTrailer) == fileBytes;
}

bool isZero(std::span<const uint8_t> bytes) {
  return std::ranges::all_of(bytes, [](uint8_t byte) { return byte == 0; });
}

Status checkWeightPlaces(const ArtifactParts &parts) {
  uint64_t begin = parts.weightsOffset, end = begin + parts.weights.size();
  for (const Weight &weight : parts.descriptor.weights) {
    if (weight.fileOffset < 0)
      continue;
    uint64_t offset = weight.fileOffset, bytes = weight.bytes;
    if (offset < begin || offset > end || bytes > end - offset)
      return {Code::BadArtifact,
              "the artifact's descriptor is wrong: weight '" + weight.name + "' lies outside the weights"};
  }
  return {};
}

} // namespace

Result<ArtifactParts> freestone::runtime::readArtifact(std::span<const uint8_t> file) {
  ArtifactTrailer trailer;
  if (file.size() < sizeof(trailer))
    return Status(Code::BadArtifact, "the file is too short for an artifact");
  std::memcpy(&trailer, file.data() + file.size() - sizeof(trailer), sizeof(trailer));
  if (trailer.magic != artifactMagic)
    return Status(Code::BadArtifact, "the file is not an artifact, or its end is missing");
  if (trailer.version != artifactVersion)
    return Status(Code::Incompatible, "the artifact has format " + std::to_string(trailer.version) +
                                          ", this runtime reads format " + std::to_string(artifactVersion) +
                                          "; compile the model again");
  if (trailer.trailerChecksum != checksumOfTrailer(trailer) || trailer.trailerBytes != sizeof(trailer) ||
      !isConsistent(trailer, file.size()))
    return Status(Code::BadArtifact, "the artifact is damaged: its trailer does not fit the file");

  ArtifactParts parts;
  parts.code = file.subspan(0, trailer.codeBytes);
  parts.weights = file.subspan(trailer.weightsOffset, trailer.weightsBytes);
  parts.weightsOffset = trailer.weightsOffset;
  auto descriptor = file.subspan(trailer.descriptorOffset, trailer.descriptorBytes);
  if (checksum(descriptor) != trailer.descriptorChecksum)
    return Status(Code::BadArtifact, "the artifact is damaged: the checksum of its descriptor is wrong");
  uint64_t weightsEnd = trailer.weightsOffset + trailer.weightsBytes;
  if (!isZero(file.subspan(trailer.codeBytes, trailer.weightsOffset - trailer.codeBytes)) ||
      !isZero(file.subspan(weightsEnd, trailer.descriptorOffset - weightsEnd)))
    return Status(Code::BadArtifact, "the artifact is damaged: there is something between its parts");
  if (checksum(parts.code) != trailer.codeChecksum)
    return Status(Code::BadArtifact, "the artifact is damaged: the checksum of its code is wrong");

  Result<Descriptor> decoded = decode(descriptor);
  if (!decoded.ok())
    return decoded.status();
  parts.descriptor = std::move(*decoded);
  if (parts.descriptor.abi != FREESTONE_ABI_VERSION)
    return Status(Code::Incompatible, "the artifact's code has ABI " + std::to_string(parts.descriptor.abi) +
                                          ", this runtime has ABI " + std::to_string(FREESTONE_ABI_VERSION) +
                                          "; compile the model again");
  if (Status status = checkWeightPlaces(parts); !status.ok())
    return status;
  return parts;
}
