#ifndef FREESTONE_RUNTIME_ARTIFACT_ARTIFACT_H
#define FREESTONE_RUNTIME_ARTIFACT_ARTIFACT_H

#include "runtime/artifact/ArtifactFile.h"
#include "runtime/artifact/abi.h"
#include "runtime/platform/File.h"
#include "runtime/platform/Memory.h"
#include "runtime/platform/SharedObject.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace freestone::runtime {

/// A loaded artifact: metadata, code and weights, shared by its instances. Immutable once all weights are present.
class Artifact {
public:
  /// Verifies everything but the weights before any code runs; with `checkWeights` the weights as well. `fileBytes`:
  /// the artifact is the first so many bytes of the file; 0: the whole file.
  static Result<std::shared_ptr<Artifact>> load(const std::string &path, bool checkWeights, uint64_t fileBytes = 0);
  /// Copies the needed parts of `bytes`.
  static Result<std::shared_ptr<Artifact>> loadMemory(std::span<const uint8_t> bytes, bool checkWeights);

  /// The file.
  std::span<const uint8_t> bytes() const { return whole; }
  const Descriptor &descriptor() const { return parts.descriptor; }
  const freestone_entry &function(const Entry &entry) const {
    return table->entries[&entry - descriptor().entries.data()];
  }

  /// The 64-byte aligned bytes of a weight; null while it is missing.
  const void *weight(size_t index) const { return weights[index]; }

  /// Lets the system reclaim the weight's mapped pages: it will not be read again soon.
  void releaseWeight(size_t index) const;

  /// Whether no weight is missing. WeightSupply completes an artifact.
  bool isComplete() const;

  /// Takes ownership of the bytes of a missing weight.
  void adoptWeight(size_t index, Block block);

  /// Errors: BadArtifact names the first stored weight with altered bytes.
  Status checkWeights() const;

private:
  Artifact() = default;
  Status open(std::span<const uint8_t> bytes, const std::string &path, bool withWeights);
  Status checkTarget() const;
  Status checkStripped() const;
  Status openCode(const std::string &path);

  platform::MappedFile file;
  Block copy; ///< for an artifact in memory
  std::span<const uint8_t> whole; ///< of one of these two
  ArtifactParts parts;
  platform::SharedObject code;
  const freestone_table *table = nullptr;
  std::vector<const void *> weights;
  std::vector<Block> madeWeights;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_ARTIFACT_ARTIFACT_H
