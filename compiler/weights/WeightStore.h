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
  /// Element type, as of `!graph.tensor`.
  mlir::Type elementType;
  std::vector<int64_t> dims;
  /// Empty if the model's weights were stripped. Not owned: see `WeightStore::keepAlive`.
  llvm::ArrayRef<char> bytes;
};

/// The tensors of a model by name, to which `graph.weight` refers. Their bytes are no part of the program, and stay in
/// place (the mapped file of the model) where possible. Addresses of weights are stable; concurrent reads are safe.
class WeightStore {
public:
  WeightStore() = default;
  WeightStore(const WeightStore &) = delete;

  /// Adds a weight whose bytes have another owner (see `keepAlive`). The name must be new.
  const Weight &add(llvm::StringRef name, mlir::Type elementType, llvm::ArrayRef<int64_t> dims,
                    llvm::ArrayRef<char> bytes);
  /// Adds a weight that owns its bytes.
  const Weight &addOwned(llvm::StringRef name, mlir::Type elementType, llvm::ArrayRef<int64_t> dims,
                         std::vector<char> bytes);
  /// Null if there is none of this name.
  const Weight *find(llvm::StringRef name) const;
  /// In the order in which they were added.
  llvm::ArrayRef<std::unique_ptr<Weight>> getWeights() const { return weights; }

  /// Keeps the owner of weights' bytes, such as a mapped file, alive as long as this store.
  void keepAlive(std::shared_ptr<void> owner) { owners.push_back(std::move(owner)); }

private:
  std::vector<std::unique_ptr<Weight>> weights;
  llvm::StringMap<const Weight *> byName;
  std::vector<std::shared_ptr<void>> owners;
};

} // namespace freestone

#endif // FREESTONE_COMPILER_WEIGHTS_WEIGHTSTORE_H
