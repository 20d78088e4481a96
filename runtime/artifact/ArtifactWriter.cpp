#include "runtime/artifact/ArtifactLayout.h"
#include "runtime/platform/File.h"

using namespace freestone::runtime;

namespace {

/// The bytes of an artifact as a list of pieces, so that weights need no copy.
struct Pieces {
  std::vector<uint8_t> descriptor;
  ArtifactTrailer trailer;
  std::vector<std::span<const uint8_t>> list;

  void add(std::span<const uint8_t> piece) {
    list.push_back(piece);
    bytes += piece.size();
  }
  void padTo(uint64_t alignment) {
    static constexpr uint8_t zeros[weightsAlignment] = {};
    add({zeros, roundUp(bytes, alignment) - bytes});
  }

  uint64_t bytes = 0;
};

Status layOut(Pieces &pieces, std::span<const uint8_t> code, Descriptor &descriptor,
              std::span<const void *const> weights) {
  if (weights.size() != descriptor.weights.size())
    return {Code::InvalidArgument, "an artifact needs one address for each weight of its descriptor"};
  ArtifactTrailer &trailer = pieces.trailer;
  trailer.trailerBytes = sizeof(trailer);
  trailer.codeBytes = code.size();
  trailer.codeChecksum = checksum(code);
  pieces.add(code);
  pieces.padTo(weightsAlignment);

  trailer.weightsOffset = pieces.bytes;
  uint64_t weightsEnd = pieces.bytes;
  for (size_t i = 0; i < weights.size(); ++i) {
    Weight &weight = descriptor.weights[i];
    weight.fileOffset = -1;
    weight.checksum = {};
    // A null address means a stripped weight, unless it has no bytes.
    if (!weights[i] && weight.bytes > 0)
      continue;
    std::span<const uint8_t> bytes(static_cast<const uint8_t *>(weights[i]), weight.bytes);
    pieces.padTo(weightAlignment);
    weight.fileOffset = pieces.bytes;
    weight.checksum = checksum(bytes);
    pieces.add(bytes);
    weightsEnd = pieces.bytes;
  }
  trailer.weightsBytes = weightsEnd - trailer.weightsOffset;
  pieces.padTo(weightAlignment);

  if (Status status = validate(descriptor); !status.ok())
    return status;
  pieces.descriptor = encode(descriptor);
  trailer.descriptorOffset = pieces.bytes;
  trailer.descriptorBytes = pieces.descriptor.size();
  trailer.descriptorChecksum = checksum(pieces.descriptor);
  trailer.trailerChecksum = checksumOfTrailer(trailer);
  pieces.add(pieces.descriptor);
  pieces.add({reinterpret_cast<const uint8_t *>(&trailer), sizeof(trailer)});
  return {};
}

} // namespace

Result<std::vector<uint8_t>> freestone::runtime::packArtifact(std::span<const uint8_t> code, Descriptor descriptor,
                                                              std::span<const void *const> weights) {
  Pieces pieces;
  if (Status status = layOut(pieces, code, descriptor, weights); !status.ok())
    return status;
  std::vector<uint8_t> file;
  file.reserve(pieces.bytes);
  for (std::span<const uint8_t> piece : pieces.list)
    file.insert(file.end(), piece.begin(), piece.end());
  return file;
}

Status freestone::runtime::writeArtifact(const std::string &path, std::span<const uint8_t> code, Descriptor descriptor,
                                         std::span<const void *const> weights) {
  Pieces pieces;
  if (Status status = layOut(pieces, code, descriptor, weights); !status.ok())
    return status;
  return platform::writeFileAtomically(path, pieces.list);
}
