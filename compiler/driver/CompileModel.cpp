#include "compiler/driver/CompileModel.h"

#include "compiler/codegen/cpu/LowerToObject.h"
#include "compiler/codegen/cpu/TargetMachine.h"
#include "compiler/driver/CompileJobs.h"
#include "compiler/driver/Counters.h"
#include "compiler/driver/MovedBytes.h"
#include "compiler/driver/OptionsDevice.h"
#include "compiler/driver/PackageArtifact.h"
#include "compiler/driver/Pipelines.h"
#include "compiler/driver/Registration.h"
#include "compiler/driver/TrainingText.h"
#include "compiler/driver/TuneContractions.h"
#include "compiler/pipe/ProfileNodes.h"
#include "compiler/task/SizeSlots.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include <chrono>

using namespace mlir;

namespace freestone::driver {

namespace {

/// Collects the errors of a context during its lifetime.
class ErrorCollector {
public:
  explicit ErrorCollector(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return success();
          if (!text.empty())
            text += "\n";
          text += nodeOf(diagnostic.getLocation()) + diagnostic.str();
          return success();
        }) {}

  std::string take() { return std::move(text); }

private:
  static std::string nodeOf(Location location) {
    if (auto name = dyn_cast<NameLoc>(location))
      return "node '" + name.getName().str() + "': ";
    return "";
  }

  std::string text;
  ScopedDiagnosticHandler handler;
};

} // namespace

Compilation::Compilation(const Options &given)
    : options(given), isForHost(!given.device && StringRef(given.target).starts_with("host")) {
  if (llvm::Expected<DeviceDescription> device = getDevice(options))
    // Every pass and every key gets the same.
    options.target = device->toJson();
  else if (std::string fault = llvm::toString(device.takeError()); options.device)
    deviceFault = fault;
  DialectRegistry registry;
  registerAllDialects(registry);
  context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  unsigned jobs = chooseCompileJobs(options.jobs);
  if (jobs > 1) {
    pool = std::make_unique<llvm::DefaultThreadPool>(llvm::hardware_concurrency(jobs));
    context->setThreadPool(*pool);
  }
  context->loadAllAvailableDialects();
}

Compilation::~Compilation() = default;

LogicalResult Compilation::timed(const char *phase, Failure &failure, llvm::function_ref<LogicalResult()> step) {
  if (options.progress)
    options.progress({phase});
  ErrorCollector errors(context.get());
  auto begin = std::chrono::steady_clock::now();
  LogicalResult result = step();
  statistics.seconds.emplace_back(phase,
                                  std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  if (failed(result) && failure.text.empty()) {
    failure.text = errors.take();
    if (failure.text.empty())
      failure.text = "internal error while compiling (" + std::string(phase) + "); please report it with the model";
  }
  return result;
}

FailureOr<ImportedModel> Compilation::importModel(StringRef path, ImportError &error) {
  ImportOptions importOptions;
  importOptions.dimBounds = options.dimBounds;
  if (options.training.empty())
    return importOnnx(context.get(), path, importOptions, error);
  llvm::Expected<TrainingOptions> chosen = readTraining(options.training, context.get());
  if (!chosen) {
    error = {ImportError::Kind::Usage, llvm::toString(chosen.takeError())};
    return failure();
  }
  if (options.switches.layOutState) {
    // An invalid target is refused where code is made for it.
    if (llvm::Expected<DeviceDescription> device = DeviceDescription::get(options.target))
      chosen->panelWidth = device->getPanelWidth(32);
    else
      llvm::consumeError(device.takeError());
  }
  chosen->scanProducts = options.switches.scanProducts;
  chosen->blockOrders = options.switches.blockOrders;
  options.pipeline = chosen->pipeline;
  FailureOr<ImportedTraining> imported = importTraining(context.get(), path, importOptions, *chosen, error);
  if (failed(imported))
    return failure();
  llvm::raw_string_ostream(training) << llvm::json::Value(describeTraining(*imported, *chosen));
  sizeHints = std::move(imported->sizeHints);
  return std::move(imported->model);
}

LogicalResult Compilation::requireOptions(Failure &failure) const {
  if (!options.unknownSwitch.empty()) {
    failure = {Failure::Kind::Usage, "there is no optimisation '" + options.unknownSwitch + "' to switch off"};
    return mlir::failure();
  }
  if (options.tune && !isForHost) {
    failure = {Failure::Kind::Usage, "tilings can be timed on this machine only: tune for the target 'host'"};
    return mlir::failure();
  }
  // An invalid target is refused where code is made for it.
  if (!deviceFault.empty()) {
    failure = {Failure::Kind::Usage, deviceFault};
    return mlir::failure();
  }
  return success();
}

LogicalResult Compilation::import(StringRef path, Failure &failure) {
  if (failed(requireOptions(failure)))
    return mlir::failure();
  modelPath = path.str();
  return timed("import", failure, [&]() -> LogicalResult {
    ImportError error;
    FailureOr<ImportedModel> imported = importModel(path, error);
    if (failed(imported)) {
      failure = {error.kind == ImportError::Kind::Usage ? Failure::Kind::Usage : Failure::Kind::Failed, error.message};
      return mlir::failure();
    }
    model = std::move(*imported);
    return success();
  });
}

LogicalResult Compilation::requireCompilable(Failure &failure) const {
  if (model.module)
    return success();
  failure.kind = Failure::Kind::Unsupported;
  for (const UnsupportedNode &node : model.report.unsupported)
    failure.text += (failure.text.empty() ? "" : "\n") + node.describe();
  return mlir::failure();
}

LogicalResult Compilation::runPipeline(Stretch stretch, void (*build)(OpPassManager &, const Options &)) {
  PassManager passes(context.get());
  // The tests run the verifier after every pass; here it would walk the whole module each time. Once per level catches
  // the rest.
  passes.enableVerifier(false);
  printPasses(passes, options.printIrTreeDir, stretch);
  build(passes, options);
  return failure(failed(passes.run(*model.module)) || failed(mlir::verify(*model.module)));
}

LogicalResult Compilation::tune(Failure &failure) {
  if (!options.tune)
    return success();
  return timed("tune", failure, [&] {
    // The passes before refuse a target that is none.
    llvm::Expected<DeviceDescription> device = DeviceDescription::get(options.target);
    Tuning tuning = tuneContractions(*model.module, options, *device);
    statistics.counters["tuned"] = tuning.tuned;
    statistics.counters["tuned_otherwise"] = tuning.replaced;
    times = std::move(tuning.times);
    timesFromCache = tuning.found;
    return success();
  });
}

/// Products of sizes may overflow 64 bits or exceed the limits of expressions.
static LogicalResult requireValidSizes(ModuleOp module) {
  for (auto entry : module.getOps<task::ProgramOp>()) {
    task::SizeSlots slots(entry);
    if (llvm::any_of(slots.getExprs(), [](sym::Expr size) { return size.isInvalid(); }))
      return entry.emitError("a size grows beyond 64 bits, or into too large an expression");
  }
  return success();
}

LogicalResult Compilation::lower(Failure &failure) {
  if (failed(requireCompilable(failure)))
    return mlir::failure();
  if (failed(timed("graph", failure,
                   [&]() -> LogicalResult {
                     if (failed(runPipeline(Stretch::Graph, addGraphPipeline)))
                       return mlir::failure();
                     collectGraphCounters(*model.module, statistics.counters);
                     return success();
                   })) ||
      failed(timed("tile", failure,
                   [&]() -> LogicalResult {
                     if (failed(runPipeline(Stretch::Tile, addTilePipeline)))
                       return mlir::failure();
                     statistics.scalarWork = collectScalarWork(*model.module);
                     statistics.counters["tile_operations"] = statistics.scalarWork.operations;
                     statistics.counters["moved_bytes"] = countMovedBytes(*model.module);
                     statistics.counters["scalar_operations"] = statistics.scalarWork.scalar;
                     return success();
                   })) ||
      failed(tune(failure)) ||
      failed(timed("task", failure, [&] { return runPipeline(Stretch::Task, addTaskPipeline); })) ||
      failed(timed("sizes", failure, [&] { return requireValidSizes(*model.module); }))) {
    // A model that passed the importer is valid: a refusal by a later level is a limit of the compiler.
    failure.kind = Failure::Kind::Unsupported;
    return mlir::failure();
  }
  // A conflict here is a defect of the compiler.
  return options.checkOrder ? timed("order", failure, [&] { return runPipeline(Stretch::Task, addOrderCheck); })
                            : success();
}

FailureOr<std::string> Compilation::print(Level level, Failure &failure) {
  if (failed(requireCompilable(failure)))
    return mlir::failure();
  auto reach = [&](const char *phase, Stretch stretch, void (*build)(OpPassManager &, const Options &)) {
    return timed(phase, failure, [&] { return runPipeline(stretch, build); });
  };
  if (failed(reach("graph", Stretch::Graph, addGraphPipeline)) ||
      (level >= Level::Tile && (failed(reach("tile", Stretch::Tile, addTilePipeline)) || failed(tune(failure)))) ||
      (level >= Level::Task && failed(reach("task", Stretch::Task, addTaskPipeline))))
    return mlir::failure();
  if (level >= Level::Llvm)
    return printCode(level, failure);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (level == Level::Tiles || level == Level::Profile) {
    // The passes before refuse a target that is none.
    llvm::Expected<DeviceDescription> device = DeviceDescription::get(options.target);
    if (level == Level::Tiles)
      tile::explainTiles(*model.module, *device, times, stream);
    else
      stream << llvm::json::Value(pipe::profileNodes(*model.module, *device, sizeHints));
    return text;
  }
  model.module->print(stream);
  return text;
}

FailureOr<std::string> Compilation::printCode(Level level, Failure &failure) {
  std::string text;
  LogicalResult result = timed("code", failure, [&]() -> LogicalResult {
    llvm::Expected<DeviceDescription> device = DeviceDescription::get(options.target);
    if (!device)
      return emitError(UnknownLoc::get(context.get()), llvm::toString(device.takeError()));
    if (llvm::Error error = codegen::requireConsistent(*device))
      return emitError(UnknownLoc::get(context.get()), (options.device ? options.device->name : options.target) + ": " +
                                                           llvm::toString(std::move(error)));
    FailureOr<OwningOpRef<ModuleOp>> code = emitCode(*model.module, options);
    if (failed(code))
      return mlir::failure();
    if (failed(codegen::lowerToLLVM(**code, *device, options.printIrTreeDir)))
      return mlir::failure();
    std::unique_ptr<llvm::TargetMachine> machine = codegen::createTargetMachine(*device);
    if (!machine)
      return mlir::failure();
    llvm::raw_string_ostream stream(text);
    for (ModuleOp part : (*code)->getOps<ModuleOp>()) {
      llvm::LLVMContext llvmContext;
      codegen::CodeCounts counts;
      std::unique_ptr<llvm::Module> translated = codegen::translateToLLVM(part, *device, *machine, llvmContext, counts);
      if (!translated)
        return mlir::failure();
      if (level == Level::Llvm) {
        translated->print(stream, nullptr);
        continue;
      }
      FailureOr<codegen::Object> assembly = codegen::emitObject(*translated, *machine, /*asText=*/true);
      if (failed(assembly))
        return mlir::failure();
      stream << StringRef(assembly->bytes.data(), assembly->bytes.size());
    }
    return success();
  });
  if (failed(result))
    return mlir::failure();
  return text;
}

} // namespace freestone::driver
