#include "compiler/pipe/RecomputeStages.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::pipe;

namespace {

/// The copy of one stage's forward pass.
class StageCopy {
public:
  StageCopy(func::FuncOp function, FreeOperations &free, const PlacedOperations &placed, int64_t stage)
      : block(function.getBody().front()), free(free), places(placed.getPlaces()), stage(stage) {}

  void run(DenseMap<Operation *, Place> &copies);

private:
  bool isOwn(Operation *op, bool isForward) const {
    auto place = places.find(op);
    return place != places.end() && place->second.stage == stage &&
           (place->second.pass == PassKind::Forward) == isForward;
  }
  void findNeeded();
  bool isCopied(Value value);
  Value getCopy(Value value);
  void readCopies(Operation *op);

  Block &block;
  FreeOperations &free;
  const DenseMap<Operation *, Place> &places;
  int64_t stage;
  SmallVector<Operation *> needed, gradients; ///< in order
  IRMapping mapping;
};

void StageCopy::findNeeded() {
  DenseSet<Operation *> read;
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    bool isGradient = isOwn(&op, /*isForward=*/false);
    if (isGradient)
      gradients.push_back(&op);
    else if (read.contains(&op))
      needed.push_back(&op);
    else
      continue;
    for (Value source : free.getSources(&op))
      if (Operation *producer = source.getDefiningOp(); isOwn(producer, /*isForward=*/true))
        read.insert(producer);
  }
  std::reverse(needed.begin(), needed.end());
}

/// Whether a value is a copied one, or follows from one through free operations.
bool StageCopy::isCopied(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !free.isFree(op))
    return mapping.contains(value);
  return llvm::any_of(getOperandsFromOutside(op), [&](Value operand) { return isCopied(operand); });
}

Value StageCopy::getCopy(Value value) {
  if (!isCopied(value))
    return value;
  if (Value copy = mapping.lookupOrNull(value))
    return copy;
  Operation *op = value.getDefiningOp();
  for (Value operand : getOperandsFromOutside(op))
    if (Value copy = getCopy(operand); copy != operand)
      mapping.map(operand, copy);
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

void StageCopy::readCopies(Operation *op) {
  op->walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands())
      if (operand.get().getParentBlock() == &block)
        operand.set(getCopy(operand.get()));
  });
}

void StageCopy::run(DenseMap<Operation *, Place> &copies) {
  findNeeded();
  for (Operation *op : needed) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Operation *copy = builder.clone(*op);
    readCopies(copy);
    mapping.map(op->getResults(), copy->getResults());
    Place place = places.lookup(op);
    place.pass = PassKind::Recompute;
    copies[copy] = place;
  }
  for (Operation *op : gradients)
    readCopies(op);
}

} // namespace

DenseMap<Operation *, Place> pipe::copyForwardPasses(func::FuncOp function, FreeOperations &free,
                                                     const PlacedOperations &placed, ArrayRef<int64_t> stages) {
  DenseMap<Operation *, Place> copies;
  for (int64_t stage : stages)
    StageCopy(function, free, placed, stage).run(copies);
  return copies;
}
