#include "compiler/codegen/cpu/EmitOpaque.h"

#include "compiler/codegen/cpu/TreeWalker.h"
#include "compiler/plan/FormTrees.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

namespace {

class OpaqueEmitter : TreeWalker {
public:
  OpaqueEmitter(Emission &emission)
      : TreeWalker(emission, ranges), opaque(*emission.program.getBody()->getOps<tile::OpaqueOp>().begin()),
        ranges(SmallVector<AxisRange>(1)) {}
  void emit();

private:
  void emitWrittenOut() override;
  void resolveClones();

  tile::OpaqueOp opaque;
  AxisRanges ranges;
  SmallVector<Value> memories;
};

} // namespace

void OpaqueEmitter::emit() {
  for (Value input : opaque.getInputs())
    memories.push_back(emission.getBuffer(input));
  for (Value result : opaque.getResults()) {
    Value memory = emission.getBuffer(result);
    auto type = cast<graph::TensorType>(result.getType());
    memories.push_back(
        memory ? memory
               : emission.takeScratch(tile::getStorageType(type.getElementType()), tile::getStorageElements(type)));
  }
  Positions outer;
  sym::Expr one = sym::Expr::constant(builder.getContext(), 1);
  walkTiles(tile::getFormTree(emission.program), {}, outer, {{opaque.getTiles(), one, opaque.getTiles()}});
  resolveClones();
}

/// The body at the current tile.
void OpaqueEmitter::emitWrittenOut() {
  IRMapping mapping;
  mapping.map(opaque.getTileNumber(), tile);
  for (auto [argument, memory] : llvm::zip_equal(opaque.getBody()->getArguments().drop_front(), memories))
    mapping.map(argument, memory);
  for (Operation &op : opaque.getBody()->without_terminator())
    builder.clone(op, mapping);
}

/// Sizes and checks of the body become values of this function; clones keep the order of their originals.
void OpaqueEmitter::resolveClones() {
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

void codegen::emitOpaque(tile::ProgramOp, Emission &emission) { OpaqueEmitter(emission).emit(); }
