#include "compiler/device/Calibration.h"

#include "compiler/device/Loops.h"
#include "compiler/device/Pages.h"
#include "compiler/device/Stretches.h"
#include "compiler/device/TeamCalibration.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdio>
#include <ctime>

using namespace freestone;

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// CPU time of this thread in seconds, so that other load is not counted.
double threadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The single unit's part of a calibration.
class Calibration {
public:
  explicit Calibration(const DeviceDescription &device) : device(device) {}

  void measureLevels(Rates &rates);
  void measureMemory(Rates &rates);
  void measureArithmetic(Rates &rates);
  void measureExposedReads(Rates &rates);
  void measurePieces(Rates &rates);

private:
  /// The rate of a stretch of work, which returns its amount: repeated for this time and at least five times, unless
  /// the calibration lasts too long. Nothing if the amount is 0. `prepare` is not counted.
  std::optional<double> measure(
      milliseconds time, llvm::function_ref<double()> work, llvm::function_ref<void()> prepare = [] {}) const;
  /// The bytes a second of a loop over memory that stays in a level.
  std::optional<double> measurePasses(size_t level, milliseconds time,
                                      llvm::function_ref<void(const char *memory, size_t bytes)> pass) const;
  size_t getResidentBytes(size_t level) const;

  const DeviceDescription &device;
  /// On a busy machine fewer stretches do.
  const Clock::time_point latest = Clock::now() + milliseconds(700);
};

} // namespace

std::optional<double> Calibration::measure(milliseconds time, llvm::function_ref<double()> work,
                                           llvm::function_ref<void()> prepare) const {
  Stretches stretches;
  Clock::time_point end = Clock::now() + time;
  auto isEnough = [&] {
    return stretches.size() > 0 && (Clock::now() > latest || (stretches.size() >= 5 && Clock::now() > end));
  };
  while (!isEnough()) {
    prepare();
    double begin = threadSeconds(), amount = work(), seconds = threadSeconds() - begin;
    if (amount == 0 || seconds <= 0)
      break;
    stretches.add(amount / seconds);
  }
  return stretches.getUpperQuartile();
}

/// Bytes that stay in a level and not in the nearer one.
size_t Calibration::getResidentBytes(size_t level) const {
  // Of a level that others share, or that is larger than is worth the time.
  constexpr int64_t most = 16 << 20;
  int64_t bytes = device.memoryLevels[level].bytes / 2;
  if (level > 0)
    bytes = std::min(bytes, 4 * device.memoryLevels[level - 1].bytes);
  return llvm::alignTo<pageBytes>(std::clamp<int64_t>(bytes, pageBytes, most));
}

std::optional<double>
Calibration::measurePasses(size_t level, milliseconds time,
                           llvm::function_ref<void(const char *memory, size_t bytes)> pass) const {
  size_t bytes = getResidentBytes(level);
  Pages pages = allocatePages(bytes);
  if (!pages)
    return std::nullopt;
  // A stretch is long beside a reading of the clock.
  size_t repeats = std::max<size_t>(1, (1 << 20) / bytes);
  return measure(time, [&] {
    for (size_t i = 0; i < repeats; ++i)
      pass(pages.get(), bytes);
    return static_cast<double>(bytes * repeats);
  });
}

void Calibration::measureLevels(Rates &rates) {
  for (size_t level = 0; level < device.memoryLevels.size(); ++level) {
    std::optional<double> rate = measurePasses(
        level, milliseconds(20), [&](const char *memory, size_t bytes) { loops::read(device, memory, bytes); });
    if (!rate)
      return;
    rates.levels.push_back(*rate);
  }
}

void Calibration::measureMemory(Rates &rates) {
  constexpr size_t bytes = 8 << 20;
  Pages from = allocatePages(bytes), to = allocatePages(bytes);
  if (!from || !to)
    return;
  // However large a cache is, it holds nothing of either.
  auto evict = [&] {
    loops::evict(from.get(), bytes);
    loops::evict(to.get(), bytes);
  };
  auto amount = static_cast<double>(bytes);
  rates.memoryRead = measure(
      milliseconds(50), [&] { return loops::read(device, from.get(), bytes), amount; }, evict);
  rates.memoryWrite = measure(
      milliseconds(50), [&] { return loops::write(device, to.get(), bytes), amount; }, evict);
  rates.memoryCopy = measure(
      milliseconds(50), [&] { return loops::copy(device, to.get(), from.get(), bytes), amount; }, evict);
}

void Calibration::measureArithmetic(Rates &rates) {
  constexpr int steps = 20000;
  rates.multiplyAdds = measure(milliseconds(20), [&] { return loops::multiplyAdds(device, steps); });
  rates.cycles = measure(milliseconds(10), [&] { return loops::addInTurn(steps); });
  for (auto [unit, pairs, quads] : {std::tuple(WordUnit::vectors, &Rates::pairsOnVectors, &Rates::quadsOnVectors),
                                    std::tuple(WordUnit::tiles, &Rates::pairsOnTiles, &Rates::quadsOnTiles)}) {
    rates.*pairs = measure(milliseconds(10), [&] { return loops::pairs(device, unit, steps); });
    rates.*quads = measure(milliseconds(10), [&] { return loops::quads(device, unit, steps); });
  }
}

/// What multiply-adds take longer with vectors of the second level than with those of the first: the median of some
/// turns, since both are close, and neighbours on the machine disturb now the one and now the other.
void Calibration::measureExposedReads(Rates &rates) {
  if (rates.levels.size() < 2)
    return;
  auto multiply = [&](const char *memory, size_t bytes) { loops::multiplyRead(device, memory, bytes); };
  constexpr size_t turns = 7;
  llvm::SmallVector<double, turns> seconds;
  for (size_t turn = 0; turn < turns; ++turn) {
    std::optional<double> near = measurePasses(0, milliseconds(3), multiply),
                          far = measurePasses(1, milliseconds(3), multiply);
    if (!near || !far)
      return;
    seconds.push_back(1 / *far - 1 / *near);
  }
  llvm::sort(seconds);
  rates.exposedReads = std::clamp(seconds[turns / 2] * rates.levels[1], 0.01, 1.0);
}

/// What copying pieces of rows column by column takes longer than row by row: the median of some turns.
void Calibration::measurePieces(Rates &rates) {
  constexpr size_t level = 2, pieceBytes = 128, piecesOfRow = 97, turns = 7;
  if (rates.levels.size() <= level)
    return;
  static_assert(pieceBytes * piecesOfRow > 3 * pageBytes, "rows have pages of their own");
  alignas(64) char copied[pieceBytes];
  auto measureAlong = [&](size_t piecesTogether) {
    return measurePasses(level, milliseconds(3), [&](const char *memory, size_t bytes) {
      size_t rows = bytes / (pieceBytes * piecesOfRow);
      for (size_t first = 0; first < piecesOfRow; first += piecesTogether)
        for (size_t row = 0; row < rows; ++row)
          for (size_t piece = first; piece < first + piecesTogether; ++piece)
            loops::copy(device, copied, memory + (row * piecesOfRow + piece) * pieceBytes, pieceBytes);
    });
  };
  llvm::SmallVector<double, turns> seconds;
  for (size_t turn = 0; turn < turns; ++turn) {
    std::optional<double> byRows = measureAlong(piecesOfRow), byColumns = measureAlong(1);
    if (!byRows || !byColumns)
      return;
    seconds.push_back((1 / *byColumns - 1 / *byRows) * pieceBytes);
  }
  llvm::sort(seconds);
  rates.pieceSeconds = std::clamp(seconds[turns / 2], 1e-10, 1e-7);
}

/// What disturbs a measurement slows it down: a level that seems slower than a farther one is as fast.
static void makeMonotone(Rates &rates) {
  double farther = rates.memoryRead.value_or(0);
  for (double &level : llvm::reverse(rates.levels))
    farther = level = std::max(level, farther);
  if (rates.memoryReadByAll)
    rates.memoryReadByAll = std::max(*rates.memoryReadByAll, rates.memoryRead.value_or(0));
}

/// To three digits: more are noise.
static double roundRate(double rate) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2e", rate);
  return std::strtod(text, nullptr);
}

Rates freestone::measureRates(const DeviceDescription &device) {
  Rates rates;
  Calibration calibration(device);
  // First what lets the clock rise.
  calibration.measureArithmetic(rates);
  calibration.measureLevels(rates);
  calibration.measureExposedReads(rates);
  calibration.measurePieces(rates);
  calibration.measureMemory(rates);
  rates.memoryReadByAll = measureSharedRead(device, milliseconds(60));
  rates.handOffSeconds = measureHandOff(milliseconds(20));
  makeMonotone(rates);
  for (double &level : rates.levels)
    level = roundRate(level);
  for (std::optional<double> *rate :
       {&rates.memoryRead, &rates.memoryWrite, &rates.memoryCopy, &rates.memoryReadByAll, &rates.multiplyAdds,
        &rates.pairsOnVectors, &rates.pairsOnTiles, &rates.quadsOnVectors, &rates.quadsOnTiles, &rates.cycles,
        &rates.exposedReads, &rates.pieceSeconds, &rates.handOffSeconds})
    if (*rate)
      *rate = roundRate(**rate);
  return rates;
}
