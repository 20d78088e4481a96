#include "compiler/codegen/cpu/Epilogue.h"

#include "compiler/tile/CutContraction.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

void freestone::codegen::emitEpilogue(Emission &emission, Value value, const LanePoints &points) {
  SmallVector<tile::ComputeOp> computes = emission.program.getComputes();
  llvm::MapVector<Value, Value> elements;
  llvm::DenseMap<Value, LanePoints> places;
  Value first = computes.front().getResult(0);
  elements[first] = value;
  places[first] = points;
  for (tile::ComputeOp compute : ArrayRef(computes).drop_front()) {
    LanePoints here = points;
    for (Value operand : compute.getInputs())
      if (auto place = places.find(operand); place != places.end()) {
        unsigned rank = cast<graph::TensorType>(operand.getType()).getShape().size();
        here.loops = *tile::getLoopsAt(compute, operand, ArrayRef(place->second.loops).take_front(rank));
      }
    BodyVectorizer body(emission, compute, here);
    for (auto [operand, argument] : llvm::zip_equal(compute.getInputs(), compute.getInputArgs()))
      if (Value known = elements.lookup(operand))
        body.set(argument, known);
    for (auto [result, lanes] : llvm::zip_equal(compute.getResults(), body.getYielded())) {
      elements[result] = lanes;
      places[result] = here;
    }
  }
  for (auto [number, result] : llvm::enumerate(emission.program.getBody()->getTerminator()->getOperands())) {
    auto compute = result.getDefiningOp<tile::ComputeOp>();
    BodyVectorizer(emission, compute, places.lookup(result))
        .store(elements.lookup(result), cast<graph::TensorType>(result.getType()), emission.getResultBuffer(number));
  }
}
