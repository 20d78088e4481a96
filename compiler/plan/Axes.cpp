#include "compiler/plan/Axes.h"

#include "compiler/plan/ChainForm.h"
#include "compiler/plan/Classify.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/OuterLoopForm.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

bool tile::areConnected(ArrayRef<ComputeOp> computes) {
  return llvm::count_if(computes, [](ComputeOp compute) { return getContractionDims(compute).has_value(); }) > 1 ||
         areChained(computes) || shareOuterLoop(computes);
}

FailureOr<Axes> Axes::get(ArrayRef<ComputeOp> computes, std::string &why) {
  using Loop = std::pair<unsigned, unsigned>;
  llvm::EquivalenceClasses<Loop> classes;
  DenseMap<Operation *, unsigned> numberOf;
  for (unsigned number = 0; number < computes.size(); ++number) {
    ComputeOp compute = computes[number];
    numberOf[compute] = number;
    for (unsigned loop = 0; loop < compute.getNumLoops(); ++loop)
      classes.insert({number, loop});
    for (auto [input, tensor] : llvm::enumerate(compute.getInputs())) {
      auto producer = tensor.getDefiningOp<ComputeOp>();
      auto known = numberOf.find(producer);
      if (!producer || known == numberOf.end())
        continue;
      for (auto [dim, index] : llvm::enumerate(getIndices(compute, input))) {
        // A dimension of one element is no axis.
        if (index.isConstant(0) && producer.getExtents()[dim].isConstant(1))
          continue;
        std::optional<unsigned> loop = index.asSymbol() ? asLoop(*index.asSymbol()) : std::nullopt;
        bool isWhole = loop && compute.getExtents()[*loop] == producer.getExtents()[dim];
        if (!isWhole || compute.getFill(input)) {
          why = "a compute reads another's result elsewhere than at its own loops";
          return failure();
        }
        classes.unionSets({known->second, dim}, {number, *loop});
      }
    }
    if (llvm::any_of(compute.getReads(), [&](Value read) { return numberOf.contains(read.getDefiningOp()); })) {
      why = "a compute reads another's result at places that depend on data";
      return failure();
    }
  }

  Axes result;
  llvm::MapVector<Loop, unsigned> axisOf;
  for (unsigned number = 0; number < computes.size(); ++number) {
    ComputeOp compute = computes[number];
    SmallVector<unsigned> &loops = result.axes[compute];
    for (unsigned loop = 0; loop < compute.getNumLoops(); ++loop) {
      Loop leader = classes.getLeaderValue({number, loop});
      auto [entry, isNew] = axisOf.insert({leader, axisOf.size()});
      if (isNew)
        result.extents.push_back(compute.getExtents()[loop]);
      if (llvm::is_contained(loops, entry->second)) {
        why = "a compute reads another's result along a diagonal";
        return failure();
      }
      loops.push_back(entry->second);
    }
  }
  return result;
}
