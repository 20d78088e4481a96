#include "cache/CompilerIdentity.h"
#include "compiler/artifact/BuildDescriptor.h"
#include "compiler/codegen/cpu/TargetMachine.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/driver/CodeCache.h"
#include "compiler/driver/CompileModel.h"
#include "compiler/driver/Counters.h"
#include "compiler/driver/PackageArtifact.h"
#include "compiler/driver/PipelineText.h"
#include "compiler/driver/ProgramCache.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace freestone::driver {

/// The notes on a compilation that its code does not show.
static std::string describeCode(const Statistics &statistics) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(
      llvm::json::Object{{"programs", statistics.programs},
                         {"programs_shared", statistics.sharedPrograms},
                         {"scalar_work", statistics.scalarWork.toJson()},
                         {"pipeline", statistics.pipeline}});
  return text;
}

static void recallCode(StringRef about, Statistics &statistics) {
  llvm::Expected<llvm::json::Value> told = llvm::json::parse(about);
  if (!told)
    return llvm::consumeError(told.takeError());
  if (const llvm::json::Object *object = told->getAsObject()) {
    statistics.programs = object->getInteger("programs").value_or(0);
    statistics.sharedPrograms = object->getInteger("programs_shared").value_or(0);
    statistics.pipeline = object->getString("pipeline").value_or("");
    if (const llvm::json::Value *work = object->get("scalar_work"))
      statistics.scalarWork = ScalarWork::fromJson(*work);
  }
}

/// The texts of failing sites: the tile program, by its name in traces, then the node.
static std::vector<std::string> describeSites(ModuleOp module) {
  auto sites = module->getAttrOfType<ArrayAttr>("task.sites");
  if (!sites)
    return {};
  auto texts = llvm::map_to_vector(sites, [](Attribute site) { return cast<StringAttr>(site).str(); });
  module.walk([&](task::SpaceOp space) {
    for (int64_t site : space.getSites())
      texts[site - 1] = "program '" + space.getProgram().str() + "', " + cast<StringAttr>(sites[site - 1]).str();
  });
  return {texts.begin(), texts.end()};
}

/// Compiles the imported module, with the tokens or names that it contains.
FailureOr<std::vector<uint8_t>> Compilation::makeCode(ProgramCache &programs, const DeviceDescription &device,
                                                      Failure &failure) {
  if (failed(lower(failure)))
    return mlir::failure();
  ModuleOp module = *model.module;
  if (auto description = module->getAttrOfType<StringAttr>("pipe.description"))
    statistics.pipeline = description.str();
  SmallVector<task::ProgramOp> entries = llvm::to_vector(module.getOps<task::ProgramOp>());
  runtime::Descriptor descriptor = artifact::buildDescriptor(entries);
  ConstantBytes constants = collectConstants(entries);
  descriptor.sites = describeSites(module);
  statistics.programs = llvm::range_size(module.getOps<tile::ProgramOp>());
  int64_t calls = 0;
  module.walk([&](task::SpaceOp space) { calls += !space.getService(); });
  statistics.sharedPrograms = calls - statistics.programs;
  for (const auto &[name, count] : collectCounters(module))
    statistics.counters[name] += count;

  std::vector<uint8_t> packed;
  LogicalResult generated = timed("code", failure, [&]() -> LogicalResult {
    programs.describe(module);
    FailureOr<OwningOpRef<ModuleOp>> code = emitCode(module, options);
    if (failed(code))
      return mlir::failure();
    auto report = [&](size_t done, size_t total) {
      if (options.progress)
        options.progress({"code", static_cast<int64_t>(done), static_cast<int64_t>(total)});
    };
    FailureOr<std::vector<codegen::Object>> objects = programs.lower(**code, device, report, options.printIrTreeDir);
    if (failed(objects))
      return mlir::failure();
    statistics.counters["objects"] = objects->size();
    for (const codegen::Object &object : *objects) {
      statistics.counters["unreduced_loops"] += object.counts.unreducedLoops;
      statistics.counters["stored_constants"] += object.counts.storedConstants;
    }
    for (const auto &[name, count] : statistics.counters)
      descriptor.statistics[name] = count;
    FailureOr<std::vector<uint8_t>> made = packCode(std::move(descriptor), *objects, constants, device, failure.text);
    if (failed(made))
      return mlir::failure();
    packed = std::move(*made);
    return success();
  });
  if (failed(generated))
    return mlir::failure();
  return packed;
}

/// The first weight of a model stripped of its data: found early, before code is made that can't be packaged.
static std::optional<StringRef> findWeightWithoutData(ModuleOp module, const WeightStore &weights) {
  std::optional<StringRef> found;
  auto look = [&](StringRef name) {
    const Weight *weight = weights.find(name);
    if (!found && weight && weight->bytes.empty() && !llvm::is_contained(weight->dims, 0))
      found = name;
  };
  module.walk([&](graph::WeightOp op) {
    if (!op.getLive())
      look(op.getName());
  });
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned index = 0; index < function.getNumArguments(); ++index)
      if (auto initial = function.getArgAttrOfType<StringAttr>(index, "graph.initial"))
        look(initial.getValue());
  return found;
}

LogicalResult Compilation::compile(StringRef path, Failure &failure) {
  llvm::Expected<DeviceDescription> device = DeviceDescription::get(options.target);
  if (!device) {
    failure = {Failure::Kind::Usage, llvm::toString(device.takeError())};
    return mlir::failure();
  }
  if (llvm::Error error = codegen::requireConsistent(*device)) {
    failure = {Failure::Kind::Usage,
               (options.device ? options.device->name : options.target) + ": " + llvm::toString(std::move(error))};
    return mlir::failure();
  }
  if (failed(requireCompilable(failure)))
    return mlir::failure();
  if (std::optional<StringRef> missing = findWeightWithoutData(*model.module, *model.weights);
      missing && !options.stripWeights) {
    failure.text = ("the model has no data for its weight '" + *missing + "'").str();
    return mlir::failure();
  }
  // With stripped weights, the supplier of weights supplies only the model's own; constants stay in the code.
  if (!options.stripWeights)
    moveConstantsToWeights(*model.module, *model.weights);
  // A dump of every pass shows the model's own names.
  ModelNames names = options.printIrTreeDir.empty() ? ModelNames(*model.module) : ModelNames();

  cache::Store store(options.cache);
  std::string compiler = store.folder() ? cache::CompilerIdentity::read(*store.folder()) : "";
  CodeCache codes(store, compiler);
  ProgramCache programs(store, compiler);
  std::vector<uint8_t> code;
  cache::Claim claim = codes.claim(*model.module, options, *device);
  if (claim.payload) {
    code.assign(claim.payload->begin(), claim.payload->end());
    recallCode(claim.about, statistics);
  } else {
    FailureOr<std::vector<uint8_t>> made = makeCode(programs, *device, failure);
    if (failed(made)) {
      failure.text = names.expand(failure.text);
      return mlir::failure();
    }
    code = std::move(*made);
    codes.keep({reinterpret_cast<const char *>(code.data()), code.size()}, describeCode(statistics));
    claim.turn.reset();
  }

  for (ScalarProgram &program : statistics.scalarWork.programs)
    for (std::string *text : {&program.node, &program.shape})
      *text = names.expand(*text);

  LogicalResult packaged = timed("package", failure, [&]() -> LogicalResult {
    ModelParts parts{names, *model.weights, model.sequences, {}, modelPath, options.stripWeights};
    std::unique_ptr<llvm::MemoryBuffer> file;
    std::string pipeline;
    if (!training.empty()) {
      auto opened = llvm::MemoryBuffer::getFile(modelPath);
      if (!opened) {
        failure.text = modelPath + ": " + opened.getError().message();
        return mlir::failure();
      }
      file = std::move(*opened);
      parts.attachments = {{"training.json", ArrayRef(training.data(), training.size())},
                           {"model.onnx", {file->getBufferStart(), file->getBufferSize()}}};
      if (!statistics.pipeline.empty())
        pipeline = describePipeline(names, statistics.pipeline, model.report.inputs);
      if (!pipeline.empty())
        parts.attachments.push_back({"pipeline.json", ArrayRef(pipeline.data(), pipeline.size())});
    }
    return writePackage(code, parts, path, statistics, failure.text);
  });
  // Statistics only: the artifact's bytes do not depend on the cache.
  statistics.counters["code_from_cache"] = claim.payload.has_value();
  if (options.tune)
    statistics.counters["tuned_from_cache"] = timesFromCache;
  statistics.counters["programs_compiled"] = programs.getCompiled();
  statistics.counters["programs_from_cache"] = programs.getFound();
  return packaged;
}

} // namespace freestone::driver
