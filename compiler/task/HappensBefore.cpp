#include "compiler/task/HappensBefore.h"

#include "compiler/dialect/graph/GraphDialect.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace freestone::task {

namespace {

using Valuation = llvm::function_ref<std::optional<int64_t>(StringRef)>;

int64_t evaluate(sym::Expr expr, Valuation valueOf) { return expr.evaluate(valueOf).value_or(0); }

int64_t elementBytes(Value buffer) {
  Type element = cast<graph::TensorType>(buffer.getType()).getElementType();
  return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

/// First tile of `worker`: tile t of T belongs to worker floor(t*W/T).
int64_t firstTile(int64_t worker, int64_t workers, int64_t tiles) { return (worker * tiles + workers - 1) / workers; }

} // namespace

std::vector<Access> collectAccesses(ProgramOp program, int64_t workers, ArrayRef<int64_t> offsets, Valuation valueOf) {
  DenseMap<Value, std::pair<int64_t, int64_t>> places; // memory, offset
  DenseMap<Value, int64_t> bytes;
  size_t arena = 0;
  for (auto [index, buffer] : llvm::enumerate(program.getBuffers())) {
    bool planned = buffer.getKind() == BufferKind::arena;
    places[buffer.getBuffer()] = planned ? std::pair<int64_t, int64_t>(-1, offsets[arena++]) : std::pair<int64_t, int64_t>(index, 0);
    bytes[buffer.getBuffer()] = evaluate(buffer.getBytes(), valueOf);
  }

  std::vector<Access> accesses;
  for (auto [index, phase] : llvm::enumerate(program.getPhases())) {
    for (SpaceOp space : phase.getSpaces()) {
      int64_t tiles = evaluate(space.getTiles().getExpr(), valueOf);
      auto add = [&](Value operand, Attribute elements, bool write) {
        auto [memory, offset] = places.lookup(operand);
        for (int64_t worker = 0; worker < workers; ++worker) {
          int64_t first = firstTile(worker, workers, tiles), last = firstTile(worker + 1, workers, tiles);
          if (first == last)
            continue;
          Access access{static_cast<int64_t>(index), worker, memory, 0, bytes.lookup(operand), write, false};
          if (auto count = dyn_cast<sym::ExprAttr>(elements)) {
            int64_t step = evaluate(count.getExpr(), valueOf) * elementBytes(operand);
            access.begin = std::min(first * step, access.end);
            access.end = std::min(last * step, access.end);
            access.exact = true;
          }
          access.begin += offset;
          access.end += offset;
          accesses.push_back(access);
        }
      };
      for (auto [input, elements] : llvm::zip_equal(space.getInputs(), space.getReads()))
        add(input, elements, false);
      for (auto [output, elements] : llvm::zip_equal(space.getOutputs(), space.getWrites()))
        add(output, elements, true);
    }
  }
  return accesses;
}

std::optional<std::string> findRace(ProgramOp program, ArrayRef<Access> accesses) {
  SmallVector<PhaseOp, 8> phases = program.getPhases();
  // known[q]: the last phase that all workers have finished when any worker is in phase q. Waits of a worker's earlier phases
  // hold in its later ones, and progress numbers only grow.
  SmallVector<int64_t> known;
  int64_t horizon = -1;
  for (PhaseOp phase : phases) {
    for (int64_t before : phase.getAllAfter())
      horizon = std::max(horizon, before);
    known.push_back(horizon);
  }

  for (const Access &one : accesses) {
    for (const Access &other : accesses) {
      bool candidates = one.phase <= other.phase && one.worker != other.worker && (one.write || other.write) &&
                        one.memory == other.memory && one.begin < other.end && other.begin < one.end;
      if (!candidates || one.phase <= known[other.phase])
        continue;
      // Tiles of one space never write the same bytes, though which ones they write may not be known here.
      if (one.phase == other.phase && one.write && other.write && !(one.exact && other.exact))
        continue;
      return ("phase " + Twine(one.phase) + " '" + phases[one.phase].getLabel() + "' of worker " + Twine(one.worker) + (one.write ? " writes" : " reads") +
              " what phase " + Twine(other.phase) + " '" + phases[other.phase].getLabel() + "' of worker " + Twine(other.worker) +
              (other.write ? " writes" : " reads") + ", in no order")
          .str();
    }
  }
  return std::nullopt;
}

} // namespace freestone::task
