// The container of an artifact:
//
//   offset 0         code: an ELF shared library
//   page aligned     weights, each at a multiple of 64 bytes, zeros between
//   64-byte aligned  descriptor: CBOR
//   after it         trailer, fixed size: magic, version, offsets, checksums of code and descriptor and of itself
//
// The parts leave no gap but zeros, so that every byte outside the weights is verified.
#ifndef FREESTONE_RUNTIME_ARTIFACT_ARTIFACTFILE_H
#define FREESTONE_RUNTIME_ARTIFACT_ARTIFACTFILE_H

#include "runtime/artifact/Descriptor.h"
#include <span>
#include <string>

namespace freestone::runtime {

constexpr uint32_t artifactVersion = 1;

/// Views into the bytes of one artifact.
struct ArtifactParts {
  std::span<const uint8_t> code;
  std::span<const uint8_t> weights; ///< empty if all are stripped
  int64_t weightsOffset = 0; ///< of `weights` in the file; `Weight::fileOffset` counts from the beginning of the file
  Descriptor descriptor;
};

/// Parses an artifact. Verifies everything but the weights, without executing anything: trailer, checksums of
/// descriptor and code, descriptor, padding, and that weights lie within their section.
Result<ArtifactParts> readArtifact(std::span<const uint8_t> file);

/// Writes an artifact: under a temporary name in the same folder, then renamed. `weights[i]` points to the bytes of
/// `descriptor.weights[i]`, or is null if that weight is stripped; offsets and checksums in the descriptor are filled
/// in. Equal arguments give equal bytes.
Status writeArtifact(const std::string &path, std::span<const uint8_t> code, Descriptor descriptor,
                     std::span<const void *const> weights);

/// As writeArtifact, into memory.
Result<std::vector<uint8_t>> packArtifact(std::span<const uint8_t> code, Descriptor descriptor,
                                          std::span<const void *const> weights);

/// xxh3-128 of `bytes`.
Checksum checksum(std::span<const uint8_t> bytes);

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_ARTIFACT_ARTIFACTFILE_H
