#include "compiler/device/DeviceDescription.h"
#include "compiler/task/AssumedSizes.h"
#include "compiler/task/Meetings.h"
#include "compiler/task/Passes.h"
#include "compiler/tile/Counters.h"
#include "runtime/sizes/ClaimGrain.h"
#include "llvm/ADT/DenseSet.h"

namespace freestone::task {
#define GEN_PASS_DEF_CLAIMPHASES
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// Sizes at which phases are long if they are so at any.
constexpr int64_t largeSize = 4096;

class ClaimPhases : public task::impl::ClaimPhasesBase<ClaimPhases> {
public:
  using ClaimPhasesBase::ClaimPhasesBase;

  void runOnOperation() override {
    if (!enable)
      return;
    FailureOr<DeviceDescription> device = DeviceDescription::getFor(getOperation(), target);
    if (failed(device))
      return signalPassFailure();
    int64_t claimed = 0;
    for (auto program : getOperation().getOps<ProgramOp>())
      claimed += claimIn(program, std::max(2u, device->units));
    tile::count(getOperation(), "claimed", claimed);
  }

private:
  static int64_t claimIn(ProgramOp program, int64_t workers) {
    SmallVector<PhaseOp, 8> phases = program.getPhases();
    DenseMap<int64_t, int64_t> spacesOfDeals;
    // Of which, or by which, a worker reads its own writes only.
    llvm::DenseSet<Operation *> areDealtAlike;
    for (PhaseOp phase : phases) {
      for (SpaceOp space : phase.getSpaces())
        if (std::optional<int64_t> deal = space.getDeal())
          ++spacesOfDeals[*deal];
      for (ArrayRef<int64_t> same : {phase.getSameAfter(), phase.getSameAgain()})
        for (int64_t before : same)
          if (phases[before] != phase)
            areDealtAlike.insert_range(ArrayRef<Operation *>{phase, phases[before]});
    }
    AssumedSizes sizes(program, largeSize);
    auto isFree = [&](SpaceOp space) {
      std::optional<int64_t> deal = space.getDeal();
      return !space.needsWorker0() && deal && spacesOfDeals.lookup(*deal) == 1;
    };
    auto isLong = [&](SpaceOp space) {
      auto time = static_cast<double>(sizes.evaluate(space.getTime().getExpr()));
      return sizes.evaluate(space.getTiles().getExpr()) > 1 && runtime::isWorthClaims(time, workers);
    };
    int64_t claimed = 0;
    for (auto [number, phase] : llvm::enumerate(phases)) {
      SmallVector<SpaceOp, 8> spaces = phase.getSpaces();
      if (areDealtAlike.contains(phase) || !llvm::all_of(spaces, isFree) || llvm::none_of(spaces, isLong))
        continue;
      phase.setClaimed(true);
      bool isClaimed = awaitItself(phase, number);
      phase.setClaimed(isClaimed);
      claimed += isClaimed;
    }
    return claimed;
  }

  /// What a worker touches again in each iteration may be of any worker where tiles are claimed. A window waits for it,
  /// of the worker itself alone in other runs. Returns whether the phase is then done by all in the iteration before.
  static bool awaitItself(PhaseOp phase, int64_t number) {
    SmallVector<int64_t> same(phase.getSameAgain()), windows(phase.getWindowsAgain());
    if (same.empty())
      return phase.isAwaitedAgain();
    if (!phase.mayAwaitWindows() || !findMeetingsAgain(phase, phase))
      return false;
    DenseI64ArrayAttr windowsBefore = phase.getAgainWindowsAfterAttr(), sameBefore = phase.getAgainSameAfterAttr();
    if (!llvm::is_contained(windows, number))
      windows.insert(llvm::lower_bound(windows, number), number);
    phase.setAgainWindowsAfter(windows);
    phase.removeAgainSameAfterAttr();
    if (phase.isAwaitedAgain())
      return true;
    phase.setAgainWindowsAfterAttr(windowsBefore);
    phase.setAgainSameAfterAttr(sameBefore);
    return false;
  }
};

} // namespace
