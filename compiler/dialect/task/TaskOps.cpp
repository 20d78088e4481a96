#include "compiler/dialect/task/TaskDialect.h"

#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "compiler/dialect/task/TaskOps.cpp.inc"

using namespace mlir;

namespace freestone::task {

SmallVector<BufferOp, 8> ProgramOp::getBuffers() { return llvm::to_vector<8>(getBody().getOps<BufferOp>()); }
SmallVector<PhaseOp, 8> ProgramOp::getPhases() { return llvm::to_vector<8>(getBody().getOps<PhaseOp>()); }
SmallVector<SpaceOp, 8> PhaseOp::getSpaces() { return llvm::to_vector<8>(getBody().getOps<SpaceOp>()); }

sym::Expr BufferOp::getBytes() {
  auto type = cast<graph::TensorType>(getBuffer().getType());
  unsigned bits = tile::getStorageType(type.getElementType()).getIntOrFloatBitWidth();
  return tile::getStorageElements(type) * (bits / 8);
}

LogicalResult ProgramOp::verify() {
  for (auto [index, phase] : llvm::enumerate(getPhases())) {
    for (ArrayRef<int64_t> edges : {phase.getAllAfter(), phase.getSameAfter()})
      for (int64_t before : edges)
        if (before < 0 || before >= static_cast<int64_t>(index))
          return phase.emitOpError("is phase ") << index << " and can't come after phase " << before;
    for (SpaceOp space : phase.getSpaces()) {
      if (space.getReads().size() != space.getInputs().size() || space.getWrites().size() != space.getOutputs().size())
        return space.emitOpError("needs one access per operand");
      for (Value output : space.getOutputs()) {
        auto buffer = output.getDefiningOp<BufferOp>();
        if (!buffer)
          return space.emitOpError("writes a value that is no task.buffer");
        if (buffer.getKind() == BufferKind::input || buffer.getKind() == BufferKind::weight)
          return space.emitOpError("writes ") << stringifyBufferKind(buffer.getKind()) << " '" << buffer.getName().value_or("")
                                              << "', which is read only";
      }
    }
  }
  return success();
}

} // namespace freestone::task
