#ifndef FREESTONE_COMPILER_WEIGHTS_WEIGHTSTORE_H
#define FREESTONE_COMPILER_WEIGHTS_WEIGHTSTORE_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <string>
#include <vector>

namespace freestone {

/// A tensor of the model: row-major, little-endian, bool as one byte 0/1 an element.
struct Weight {
  std::string name;
  /// An element type of `!graph.tensor`.
  mlir::Type elementType;
  std::vector<int64_t> dims;
  /// Empty where the model was stripped of its weights. Not owned: see `WeightStore::keepAlive`.
  llvm::ArrayRef<char> bytes;
};

/// The tensors of a model by name: what `graph.weight` refers to. Their bytes are no part of the program, and stay
/// where they are (the mapped file of the model) where possible. Weights keep their addresses; several threads may read
/// at the same time.
class WeightStore {
public:
  WeightStore() = default;
  WeightStore(const WeightStore &) = delete;

  /// Adds a weight whose bytes belong to someone else (see `keepAlive`). The name must be new.
  const Weight &add(llvm::StringRef name, mlir::Type elementType, llvm::ArrayRef<int64_t> dims,
                    llvm::ArrayRef<char> bytes);
  /// Adds a weight with bytes of its own.
  const Weight &addOwned(llvm::StringRef name, mlir::Type elementType, llvm::ArrayRef<int64_t> dims,
                         std::vector<char> bytes);
  /// Null if there is none of this name.
  const Weight *find(llvm::StringRef name) const;
  /// In the order in which they were added.
  llvm::ArrayRef<std::unique_ptr<Weight>> getWeights() const { return weights; }

  /// Holds what bytes of weights lie in, such as a mapped file, for as long as this store lives.
  void keepAlive(std::shared_ptr<void> owner) { owners.push_back(std::move(owner)); }

private:
  std::vector<std::unique_ptr<Weight>> weights;
  llvm::StringMap<const Weight *> byName;
  std::vector<std::shared_ptr<void>> owners;
};

} // namespace freestone

#endif // FREESTONE_COMPILER_WEIGHTS_WEIGHTSTORE_H
