#include "compiler/weights/WeightStore.h"

#include <cassert>

namespace freestone {

const Weight &WeightStore::add(llvm::StringRef name, mlir::Type elementType, llvm::ArrayRef<int64_t> dims,
                               llvm::ArrayRef<char> bytes) {
  weights.push_back(std::make_unique<Weight>(Weight{name.str(), elementType, dims.vec(), bytes}));
  [[maybe_unused]] bool isNew = byName.try_emplace(name, weights.back().get()).second;
  assert(isNew && "weights have names of their own");
  return *weights.back();
}

const Weight &WeightStore::addOwned(llvm::StringRef name, mlir::Type elementType, llvm::ArrayRef<int64_t> dims,
                                    std::vector<char> bytes) {
  auto owner = std::make_shared<std::vector<char>>(std::move(bytes));
  const Weight &weight = add(name, elementType, dims, *owner);
  keepAlive(std::move(owner));
  return weight;
}

const Weight *WeightStore::find(llvm::StringRef name) const { return byName.lookup(name); }

} // namespace freestone
