#include "compiler/task/AwaitedWorkers.h"

#include "compiler/task/Meetings.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

Dealing Dealing::deal(ProgramOp program, int64_t workers, Valuation valueOf, Cut cut) {
  Dealing dealing;
  dealing.workers = workers;
  DenseMap<int64_t, Operation *> dealt;
  for (PhaseOp phase : program.getPhases())
    for (SpaceOp space : phase.getSpaces()) {
      SmallVector<int64_t> own;
      auto first = space.getDeal() ? dealt.try_emplace(*space.getDeal(), space).first->second : space;
      if (first == space)
        own = cut(std::max<int64_t>(0, space.getTiles().getExpr().evaluate(valueOf).value_or(0)));
      else
        own = dealing.firsts.lookup(first);
      dealing.firsts[space] = std::move(own);
    }
  return dealing;
}

Dealing Dealing::evenly(ProgramOp program, int64_t workers, Valuation valueOf) {
  return deal(program, workers, valueOf, [&](int64_t tiles) {
    SmallVector<int64_t> firsts;
    for (int64_t worker = 0; worker <= workers; ++worker)
      firsts.push_back((worker * tiles + workers - 1) / workers);
    return firsts;
  });
}

Dealing Dealing::randomly(ProgramOp program, int64_t workers, Valuation valueOf,
                          llvm::function_ref<int64_t(int64_t)> random) {
  return deal(program, workers, valueOf, [&](int64_t tiles) {
    SmallVector<int64_t> firsts = {0, tiles};
    while (static_cast<int64_t>(firsts.size()) <= workers)
      firsts.push_back(random(tiles));
    llvm::sort(firsts);
    return firsts;
  });
}

AwaitedWorkers::AwaitedWorkers(ProgramOp program, const Dealing &dealing, ArrayRef<int64_t> offsets,
                               Dealing::Valuation valueOf, bool claims)
    : workers(dealing.getNumWorkers()) {
  SmallVector<PhaseOp, 8> phases = program.getPhases();
  wide.resize(phases.size());
  findWide(program, offsets, valueOf);
  auto blocksOf = [&](const OperandTouch &touch) {
    auto [each, tiles] = touch.getBlocks();
    return each ? runtime::TileBlocks{each.evaluate(valueOf).value_or(INT64_MAX), tiles.evaluate(valueOf).value_or(1)}
                : runtime::TileBlocks();
  };
  using Meetings = SmallVector<Meeting, 2>;
  auto addWindow = [&](int64_t number, int64_t before, bool isClaimed, const Meetings &meetings) {
    auto &own = ranges[{number, before}];
    own.resize(dealing.getNumWorkers());
    if (isClaimed)
      return llvm::fill(own, runtime::WorkerRange{0, static_cast<int32_t>(workers)});
    for (const Meeting &meeting : meetings)
      for (auto [worker, range] : llvm::enumerate(own)) {
        ArrayRef<int64_t> firsts = dealing.of(meeting.later.space), others = dealing.of(meeting.earlier.space);
        runtime::addMeeting(range, firsts[worker], firsts[worker + 1], blocksOf(meeting.later), others,
                            blocksOf(meeting.earlier));
      }
  };
  for (auto [number, phase] : llvm::enumerate(phases)) {
    for (int64_t before : phase.getAwaitedWindows())
      addWindow(number, before, claims && (phase.getClaimed() || phases[before].getClaimed()),
                findMeetings(phase, phases[before]).value_or(Meetings()));
    for (int64_t before : phase.getWindowsAgain())
      addWindow(number, ~before, claims, findMeetingsAgain(phase, phases[before]).value_or(Meetings()));
  }
}

void AwaitedWorkers::findWide(ProgramOp program, ArrayRef<int64_t> offsets, Dealing::Valuation valueOf) {
  std::vector<runtime::NarrowWait> waits;
  DenseMap<Operation *, int64_t> last;
  for (auto [number, phase] : llvm::enumerate(program.getPhases())) {
    if (!phase.getAwaitedWindows().empty())
      waits.push_back({static_cast<int64_t>(number), *llvm::max_element(phase.getAwaitedWindows())});
    for (SpaceOp space : phase.getSpaces())
      for (Value operand : space->getOperands())
        last[findBuffer(operand)] = number;
  }
  std::vector<runtime::PlacedBuffer> placed;
  for (BufferOp buffer : program.getBuffers()) {
    if (buffer.getKind() != BufferKind::arena)
      continue;
    int64_t bytes = buffer.getBytes().evaluate(valueOf).value_or(0), offset = offsets.front();
    offsets = offsets.drop_front();
    if (bytes > 0)
      placed.push_back({static_cast<int64_t>(buffer.getFirst().value_or(0)),
                        static_cast<int64_t>(buffer.getFreed().value_or(INT64_MAX)),
                        static_cast<int64_t>(buffer.getReleasedOrFreed().value_or(INT64_MAX)), last.lookup(buffer),
                        offset, offset + bytes});
  }
  runtime::WideWaits wideWaits;
  for (auto [wait, isWide] : llvm::zip_equal(waits, wideWaits.choose(waits, placed)))
    if (isWide)
      wide.set(wait.phase);
}
