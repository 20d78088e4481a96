#include "compiler/driver/TimeTilings.h"

#include "compiler/artifact/BuildDescriptor.h"
#include "compiler/dialect/sym/Substitute.h"
#include "compiler/dialect/task/TaskDialect.h"
#include "compiler/driver/PackageArtifact.h"
#include "compiler/driver/Pipelines.h"
#include "compiler/plan/Plans.h"
#include "freestone/runtime.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include <chrono>
#include <cmath>

using namespace mlir;
using namespace freestone;
using namespace freestone::driver;
using sym::Expr;
using tile::TimedTiling;
using tile::TreeTilingAttr;

/// Seconds of one measurement, in which short runs are repeated; and until no further round begins.
static constexpr double secondsOfStretch = 1e-3, secondsOfContraction = 2;
static constexpr int mostRounds = 7;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::string nameEntry(size_t tiling, size_t run) { return ("t" + Twine(tiling) + "r" + Twine(run)).str(); }

/// A program for timing one contraction: for every tiling and run an entry that calls it once.
class Trial {
public:
  Trial(tile::ProgramOp program, ArrayRef<TreeTilingAttr> tilings, ArrayRef<RunSizes> runs, const Options &given)
      : program(program), tilings(tilings), runs(runs), options(given) {
    options.printIrTreeDir.clear();
  }
  ~Trial() { freestone_artifact_release(artifact); }
  Trial(const Trial &) = delete;
  Trial &operator=(const Trial &) = delete;

  LogicalResult compile(const DeviceDescription &device);
  /// Adds the seconds of all runs with so many workers (0: all) to those of the tilings.
  LogicalResult time(int32_t workers, Clock::time_point begin, MutableArrayRef<TimedTiling> timed);

private:
  OwningOpRef<ModuleOp> build();
  LogicalResult timeRun(size_t run, int32_t workers, Clock::time_point begin, MutableArrayRef<TimedTiling> timed);

  tile::ProgramOp program;
  ArrayRef<TreeTilingAttr> tilings;
  ArrayRef<RunSizes> runs;
  Options options;
  freestone_artifact *artifact = nullptr;
};

OwningOpRef<ModuleOp> Trial::build() {
  MLIRContext *context = program.getContext();
  Location location = UnknownLoc::get(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  for (auto [number, tiling] : llvm::enumerate(tilings)) {
    tile::ProgramOp copy = program.clone();
    module->push_back(copy);
    copy.setSymName("p" + std::to_string(number));
    FailureOr<tile::PlanAttr> plan = tile::makePlan(copy, tiling);
    if (failed(plan))
      return {};
    copy.setPlanAttr(*plan);
  }
  auto builder = OpBuilder::atBlockEnd(module->getBody());
  SmallVector<StringAttr> symbols = program.getSymbols();
  // An artifact has a main entry.
  {
    OpBuilder::InsertionGuard guard(builder);
    auto entry = func::FuncOp::create(builder, location, "main", builder.getFunctionType({}, {}));
    builder.setInsertionPointToStart(entry.addEntryBlock());
    func::ReturnOp::create(builder, location);
  }
  for (auto [run, sizes] : llvm::enumerate(runs)) {
    if (!sizes)
      continue;
    auto bind = [&](StringRef name) -> std::optional<Expr> {
      for (auto [symbol, size] : llvm::zip_equal(symbols, *sizes))
        if (symbol == name)
          return Expr::constant(context, size);
      return std::nullopt;
    };
    auto bound = [&](Type type) { return sym::substituteSymbols(type, bind); };
    auto types = llvm::map_to_vector(program.getArgumentTypes(), bound);
    auto results = llvm::map_to_vector(program.getResultTypes(), bound);
    auto values = llvm::map_to_vector(*sizes, [&](int64_t size) { return Expr::constant(context, size); });
    for (size_t number = 0; number < tilings.size(); ++number) {
      OpBuilder::InsertionGuard guard(builder);
      auto entry =
          func::FuncOp::create(builder, location, nameEntry(number, run), builder.getFunctionType(types, TypeRange()));
      // Weights may be of any layout.
      for (unsigned argument = 0; argument < types.size(); ++argument)
        entry.setArgAttr(argument, "graph.weight", builder.getStringAttr("r" + Twine(run) + "a" + Twine(argument)));
      builder.setInsertionPointToStart(entry.addEntryBlock());
      tile::CallOp::create(builder, location, results, "p" + std::to_string(number), entry.getArguments(),
                           tile::getExprArrayAttr(context, values));
      func::ReturnOp::create(builder, location);
    }
  }
  return module;
}

LogicalResult Trial::compile(const DeviceDescription &device) {
  OwningOpRef<ModuleOp> module = build();
  if (!module)
    return failure();
  PassManager passes(module->getContext());
  passes.enableVerifier(false);
  addTaskPipeline(passes, options);
  if (failed(passes.run(*module)))
    return failure();
  SmallVector<task::ProgramOp> entries = llvm::to_vector(module->getOps<task::ProgramOp>());
  runtime::Descriptor descriptor = artifact::buildDescriptor(entries);
  ConstantBytes operands = collectConstants(entries);
  for (const runtime::Weight &weight : descriptor.weights)
    operands.try_emplace(weight.name, std::vector<char>(weight.bytes));
  FailureOr<OwningOpRef<ModuleOp>> code = emitCode(*module, options);
  if (failed(code))
    return failure();
  FailureOr<std::vector<codegen::Object>> objects = codegen::lowerToObjects(**code, device);
  if (failed(objects))
    return failure();
  std::string error;
  FailureOr<std::vector<uint8_t>> packed = packCode(std::move(descriptor), *objects, operands, device, error);
  return success(succeeded(packed) &&
                 freestone_artifact_load_memory(packed->data(), packed->size(), nullptr, &artifact) == FREESTONE_OK);
}

LogicalResult Trial::time(int32_t workers, Clock::time_point begin, MutableArrayRef<TimedTiling> timed) {
  for (auto [run, sizes] : llvm::enumerate(runs)) {
    if (sizes && failed(timeRun(run, workers, begin, timed)))
      return failure();
    if (!sizes)
      for (TimedTiling &tiling : timed)
        (workers == 1 ? tiling.alone : tiling.together).push_back(0);
  }
  return success();
}

/// In turns, so that a machine that is slower for a while is so for all tilings.
LogicalResult Trial::timeRun(size_t run, int32_t workers, Clock::time_point begin, MutableArrayRef<TimedTiling> timed) {
  using Instance = std::unique_ptr<freestone_instance, decltype(&freestone_instance_release)>;
  std::vector<Instance> instances;
  for (size_t number = 0; number < tilings.size(); ++number) {
    std::string entry = nameEntry(number, run);
    freestone_instance_options chosen = {};
    chosen.struct_size = sizeof(chosen);
    chosen.threads = workers;
    chosen.entry = entry.c_str();
    freestone_instance *instance = nullptr;
    if (freestone_instance_create(artifact, &chosen, &instance) != FREESTONE_OK)
      return failure();
    instances.emplace_back(instance, freestone_instance_release);
    // The first run meets memory and code that are new to it.
    if (freestone_instance_run(instance) != FREESTONE_OK)
      return failure();
  }
  auto stretch = [](freestone_instance *instance, int64_t times) {
    Clock::time_point start = Clock::now();
    for (int64_t i = 0; i < times; ++i)
      freestone_instance_run(instance);
    return secondsSince(start) / double(times);
  };
  double once = stretch(instances.front().get(), 1);
  int64_t times = std::clamp<int64_t>(int64_t(secondsOfStretch / std::max(once, 1e-9)), 1, 1000);
  SmallVector<double> least(instances.size(), INFINITY);
  for (int round = 0; round < mostRounds && (round < 2 || secondsSince(begin) < secondsOfContraction); ++round)
    for (auto [instance, seconds] : llvm::zip_equal(instances, least))
      seconds = std::min(seconds, stretch(instance.get(), times));
  for (auto [tiling, seconds] : llvm::zip_equal(timed, least))
    (workers == 1 ? tiling.alone : tiling.together).push_back(seconds);
  return success();
}

} // namespace

SmallVector<TimedTiling> driver::timeTilings(tile::ProgramOp program, ArrayRef<TreeTilingAttr> tilings,
                                             ArrayRef<RunSizes> runs, const Options &options,
                                             const DeviceDescription &device) {
  // What can't be compiled alone is no error of the model.
  ScopedDiagnosticHandler silence(program.getContext(), [](Diagnostic &) { return success(); });
  auto timed = llvm::map_to_vector(tilings, [](TreeTilingAttr tiling) { return TimedTiling{tiling, {}, {}}; });
  Trial trial(program, tilings, runs, options);
  if (failed(trial.compile(device)))
    return {};
  Clock::time_point begin = Clock::now();
  if (failed(trial.time(/*workers=*/1, begin, timed)) ||
      (device.units > 1 && failed(trial.time(/*workers=*/0, begin, timed))))
    return {};
  return timed;
}
