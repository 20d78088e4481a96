#include "compiler/task/Releases.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

Releases::Releases(ProgramOp program, const AssumedSizes &sizes) {
  llvm::MapVector<Operation *, llvm::SetVector<int64_t>> touches;
  auto phases = program.getPhases();
  for (auto [number, phase] : llvm::enumerate(phases))
    for (SpaceOp space : phase.getSpaces())
      for (Value operand : space->getOperands())
        if (BufferOp buffer = findBuffer(operand); buffer.getKind() == BufferKind::arena)
          touches[buffer].insert(number);
  touched.resize(phases.size());
  double all = 0;
  for (const auto &[buffer, by] : touches) {
    double bytes = double(sizes.evaluate(cast<BufferOp>(buffer).getBytes()));
    all += bytes;
    for (int64_t phase : by)
      touched[phase].push_back({by.back(), bytes});
  }
  for (auto &ofPhase : touched)
    for (Touched &buffer : ofPhase)
      buffer.part /= std::max(1.0, all);
}

double Releases::getPart(int64_t phase, int64_t now) const {
  double part = 0;
  for (const Touched &buffer : touched[phase])
    part += buffer.last < now ? buffer.part : 0;
  return part;
}
