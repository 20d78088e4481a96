#include "compiler/codegen/cpu/EmitOpaque.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

void codegen::emitOpaque(tile::ProgramOp program, Emission &emission) {
  tile::OpaqueOp opaque = *program.getBody()->getOps<tile::OpaqueOp>().begin();

  SmallVector<Value> memories;
  for (Value input : opaque.getInputs())
    memories.push_back(emission.getBuffer(input));
  for (Value result : opaque.getResults()) {
    Value memory = emission.getBuffer(result);
    auto type = cast<graph::TensorType>(result.getType());
    memories.push_back(
        memory ? memory
               : emission.takeScratch(tile::getStorageType(type.getElementType()), tile::getStorageElements(type)));
  }

  OpBuilder &builder = emission.builder;
  emission.forTiles([&](Value tile) {
    IRMapping mapping;
    mapping.map(opaque.getTileNumber(), tile);
    for (auto [argument, memory] : llvm::zip_equal(opaque.getBody()->getArguments().drop_front(), memories))
      mapping.map(argument, memory);
    for (Operation &op : opaque.getBody()->without_terminator())
      builder.clone(op, mapping);
  });

  // Sizes and checks of the body become values of this function; clones keep the order of their originals.
  SmallVector<tile::CheckOp> originals;
  opaque.walk([&](tile::CheckOp check) { originals.push_back(check); });
  SmallVector<Operation *> clones;
  builder.getInsertionBlock()->getParentOp()->walk([&](Operation *op) {
    if (isa<tile::SizeOp, tile::CheckOp>(op))
      clones.push_back(op);
  });
  size_t checks = 0;
  for (Operation *op : clones) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(op);
    if (auto size = dyn_cast<tile::SizeOp>(op))
      size.replaceAllUsesWith(emission.getSize(size.getSize().getExpr()));
    else
      emission.check(originals[checks++], cast<tile::CheckOp>(op).getCondition());
    op->erase();
  }
}
