#include "compiler/codegen/cpu/LowerToObject.h"

#include "compiler/codegen/PassPrinting.h"
#include "compiler/codegen/cpu/StoreConstants.h"
#include "compiler/codegen/cpu/TargetMachine.h"
#include "mlir/IR/Threading.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Pass.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopStrengthReduce.h"
#include "llvm/Transforms/Scalar/LowerExpectIntrinsic.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include <mutex>

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

/// Aligns innermost loops to lines of the instruction cache. A misaligned loop that keeps all pipelines busy takes 5 %
/// longer on recent Intel processors.
static void alignLoops(llvm::Function &function) {
  llvm::LLVMContext &context = function.getContext();
  auto *bytes = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 64);
  llvm::MDNode *alignment = llvm::MDNode::get(
      context, {llvm::MDString::get(context, "llvm.loop.align"), llvm::ConstantAsMetadata::get(bytes)});
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost())
      continue;
    llvm::MDNode *properties = llvm::MDNode::getDistinct(context, {nullptr, alignment});
    properties->replaceOperandWith(0, properties);
    loop->setLoopID(properties);
  }
}

namespace {

/// Strength reduction of loops that compute few addresses, with all loops within. In longer ones it keeps more values
/// alive than registers hold, and may take longer than all other passes together.
struct ReduceStrengthOfShortLoops : llvm::PassInfoMixin<ReduceStrengthOfShortLoops> {
  static constexpr unsigned mostAddresses = 16;

  explicit ReduceStrengthOfShortLoops(int64_t &unreduced) : unreduced(unreduced) {}

  static bool isShort(const llvm::Loop &loop) {
    unsigned addresses = 0;
    for (const llvm::BasicBlock *block : loop.blocks())
      addresses += llvm::count_if(
          *block, [](const llvm::Instruction &each) { return llvm::isa<llvm::GetElementPtrInst>(each); });
    return addresses <= mostAddresses;
  }

  llvm::PreservedAnalyses run(llvm::Loop &loop, llvm::LoopAnalysisManager &analyses,
                              llvm::LoopStandardAnalysisResults &results, llvm::LPMUpdater &updater) {
    if (isShort(loop))
      return llvm::LoopStrengthReducePass().run(loop, analyses, results, updater);
    ++unreduced;
    return llvm::PreservedAnalyses::all();
  }

  int64_t &unreduced;
};

/// LLVM's code generator would reduce the strength of all loops.
class LeaveOutStrengthReduction : public llvm::OptPassGate {
public:
  LeaveOutStrengthReduction()
      : leftOut(std::unique_ptr<llvm::Pass>(llvm::createLoopStrengthReducePass())->getPassName()) {}

  bool isEnabled() const override { return true; }
  bool shouldRunPass(StringRef pass, StringRef) const override { return pass != leftOut; }

private:
  std::string leftOut;
};

} // namespace

/// Runs the scalar passes that MLIR leaves to LLVM. No vectorizer, unroller or inliner: emitters decide these.
static void optimise(llvm::Module &module, llvm::TargetMachine &machine, int64_t &unreducedLoops) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LowerExpectIntrinsicPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  llvm::LoopPassManager loopPasses;
  loopPasses.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loopPasses), /*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  static LeaveOutStrengthReduction gate;
  if (llvm::none_of(module, [](const llvm::Function &each) { return each.hasFnAttribute(allLoopsAttribute); })) {
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(ReduceStrengthOfShortLoops(unreducedLoops)));
    module.getContext().setOptPassGate(gate);
  }
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      passes.run(function, functions);
}

LogicalResult freestone::codegen::lowerToLLVM(ModuleOp module, const DeviceDescription &device,
                                              StringRef printIrTreeDir) {
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  printPasses(passes, printIrTreeDir, Stretch::Llvm);
  buildLowerToLLVMPipeline(passes.nest<ModuleOp>(), device);
  return passes.run(module);
}

std::unique_ptr<llvm::Module> freestone::codegen::translateToLLVM(ModuleOp module, const DeviceDescription &device,
                                                                  llvm::TargetMachine &machine,
                                                                  llvm::LLVMContext &context, CodeCounts &counts) {
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(module, context, module.getName().value_or("module"));
  if (!translated)
    return nullptr;
  translated->setTargetTriple(machine.getTargetTriple());
  translated->setDataLayout(machine.createDataLayout());
  for (llvm::Function &function : *translated) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", device.cpu);
    function.addFnAttr("target-features", device.features);
    function.addFnAttr("prefer-vector-width", std::to_string(device.vectorBytes * 8));
    function.addFnAttr("no-builtins");
    function.setDoesNotThrow();
  }
  optimise(*translated, machine, counts.unreducedLoops);
  // With twice the registers, processors also broadcast as they read.
  constexpr unsigned fewRegisters = 16;
  bool keepsConstants = llvm::any_of(
      *translated, [](const llvm::Function &each) { return each.hasFnAttribute(constantsInRegistersAttribute); });
  if (device.vectorRegisters <= fewRegisters && !keepsConstants)
    counts.storedConstants += storeConstants(*translated, device.vectorBytes, device.vectorRegisters);
  for (llvm::Function &function : *translated)
    if (function.hasFnAttribute(alignedLoopsAttribute))
      alignLoops(function);
  return translated;
}

FailureOr<Object> freestone::codegen::emitObject(llvm::Module &module, llvm::TargetMachine &machine, bool asText) {
  Object object;
  object.name = module.getName().str();
  llvm::raw_svector_ostream stream(object.bytes);
  llvm::legacy::PassManager passes;
  auto kind = asText ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind))
    return failure();
  passes.run(module);
  return object;
}

/// Largest first, so that no long compilation starts last.
static SmallVector<size_t> orderBySize(ArrayRef<ModuleOp> modules) {
  SmallVector<size_t> sizes, order;
  for (auto [index, module] : llvm::enumerate(modules)) {
    size_t operations = 0;
    ModuleOp(module).walk([&](Operation *) { ++operations; });
    sizes.push_back(operations);
    order.push_back(index);
  }
  llvm::stable_sort(order, [&](size_t one, size_t other) { return sizes[one] > sizes[other]; });
  return order;
}

namespace {

/// Machines that threads take in turns: to make one takes as long as to compile a short program.
class TargetMachines {
public:
  explicit TargetMachines(const DeviceDescription &device) : device(device) {}

  /// Null where LLVM has no machine for the device.
  std::unique_ptr<llvm::TargetMachine> take() {
    std::lock_guard<std::mutex> lock(mutex);
    return idle.empty() ? createTargetMachine(device) : idle.pop_back_val();
  }

  void giveBack(std::unique_ptr<llvm::TargetMachine> machine) {
    std::lock_guard<std::mutex> lock(mutex);
    idle.push_back(std::move(machine));
  }

private:
  const DeviceDescription &device;
  std::mutex mutex;
  SmallVector<std::unique_ptr<llvm::TargetMachine>> idle;
};

} // namespace

FailureOr<std::vector<Object>>
freestone::codegen::lowerToObjects(ModuleOp module, const DeviceDescription &device,
                                   llvm::function_ref<void(size_t done, size_t total)> report,
                                   StringRef printIrTreeDir) {
  MLIRContext *context = module.getContext();
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);
  if (failed(lowerToLLVM(module, device, printIrTreeDir)))
    return failure();

  SmallVector<ModuleOp> modules = llvm::to_vector(module.getOps<ModuleOp>());
  std::vector<Object> objects(modules.size());
  TargetMachines machines(device);
  std::mutex reporting;
  size_t done = 0;
  LogicalResult result = failableParallelForEach(context, orderBySize(modules), [&](size_t number) -> LogicalResult {
    std::unique_ptr<llvm::TargetMachine> machine = machines.take();
    if (!machine)
      return failure();
    llvm::LLVMContext llvmContext;
    CodeCounts counts;
    std::unique_ptr<llvm::Module> translated = translateToLLVM(modules[number], device, *machine, llvmContext, counts);
    if (!translated)
      return failure();
    FailureOr<Object> object = emitObject(*translated, *machine);
    machines.giveBack(std::move(machine));
    if (succeeded(object)) {
      object->counts = counts;
      objects[number] = std::move(*object);
    }
    std::lock_guard<std::mutex> lock(reporting);
    ++done;
    if (report)
      report(done, modules.size());
    return LogicalResult(object);
  });
  if (failed(result))
    return failure();
  return objects;
}
