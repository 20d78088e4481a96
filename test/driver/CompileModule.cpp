#include "test/driver/CompileModule.h"

#include "compiler/artifact/BuildDescriptor.h"
#include "compiler/driver/PackageArtifact.h"
#include "compiler/driver/Pipelines.h"
#include "compiler/driver/Registration.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::test;

[[noreturn]] static void fail(const std::string &what) {
  llvm::errs() << what << '\n';
  abort();
}

CompileModule::CompileModule(const std::string &text) {
  static bool registered = (registerAllPasses(), true);
  (void)registered;
  DialectRegistry registry;
  registerAllDialects(registry);
  context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  module = parseSourceString<ModuleOp>(text, context.get());
  if (!module)
    fail("the text does not parse or verify");
}

CompileModule::~CompileModule() = default;

void CompileModule::addWeight(const std::string &name, const std::vector<int64_t> &dims,
                              const std::vector<float> &elements) {
  auto *begin = reinterpret_cast<const char *>(elements.data());
  weights.addOwned(name, Float32Type::get(context.get()), dims, {begin, begin + elements.size() * sizeof(float)});
}

void CompileModule::run(const std::string &pipeline) {
  PassManager passes(context.get(), ModuleOp::getOperationName());
  if (failed(parsePassPipeline(pipeline, passes)) || failed(passes.run(*module)) || failed(verify(*module)))
    fail("the pipeline fails: " + pipeline);
}

std::vector<std::string> CompileModule::operations() {
  std::vector<std::string> names;
  for (Operation &op : module->lookupSymbol<func::FuncOp>("main").getBody().front().without_terminator())
    names.push_back(op.getName().getStringRef().str());
  return names;
}

std::vector<float> CompileModule::interpret(const std::vector<int64_t> &dims, const std::vector<float> &input,
                                            interpreter::LibraryCaller libraries) {
  auto tensor = interpreter::HostTensor::copy(Float32Type::get(context.get()), dims, ArrayRef(input));
  auto results =
      interpreter::interpret(module->lookupSymbol<func::FuncOp>("main"), tensor, weights, /*wide=*/false, libraries);
  if (failed(results))
    fail("the interpreter fails");
  return results->front().elements<float>().vec();
}

void CompileModule::finish(const std::string &path) {
  driver::Options options;
  PassManager passes(context.get());
  driver::addGraphPipeline(passes, options);
  driver::addTilePipeline(passes, options);
  driver::addTaskPipeline(passes, options);
  if (failed(passes.run(*module)))
    fail("the rest of the pipeline fails");

  DeviceDescription device = llvm::cantFail(DeviceDescription::get(options.target));
  SmallVector<task::ProgramOp> entries = llvm::to_vector(module->getOps<task::ProgramOp>());
  runtime::Descriptor descriptor = artifact::buildDescriptor(entries);
  driver::ConstantBytes constants = driver::collectConstants(entries);
  FailureOr<OwningOpRef<ModuleOp>> code = driver::emitCode(*module, options);
  if (failed(code))
    fail("no code");
  FailureOr<std::vector<codegen::Object>> objects = codegen::lowerToObjects(**code, device);
  if (failed(objects))
    fail("no objects");
  driver::Statistics statistics;
  std::string error;
  FailureOr<std::vector<uint8_t>> packed = driver::packCode(std::move(descriptor), *objects, constants, device, error);
  driver::ModelNames names;
  if (failed(packed) || failed(driver::writePackage(*packed, {names, weights, {}, {}, "module"}, path, statistics, error)))
    fail(error);
}
