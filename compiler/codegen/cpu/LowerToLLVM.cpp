#include "compiler/codegen/cpu/LowerToObject.h"

#include "compiler/codegen/cpu/Passes.h"
#include "compiler/codegen/cpu/math/ExpandMath.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace freestone;

/// LLVM simplifies regions: they take longest here.
static GreedyRewriteConfig keepRegions() {
  return GreedyRewriteConfig().setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
}

namespace {

/// Runs before bf16 and f16 are emulated in f32: rounding to f32 first would round twice. Folds what emitters left to
/// fold.
struct ExpandConversions : PassWrapper<ExpandConversions, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandConversions)

  StringRef getArgument() const override { return "codegen-expand-conversions"; }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    codegen::populateExpandConversionPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), keepRegions())))
      signalPassFailure();
  }
};

/// Expands operations without a machine instruction.
struct ExpandOperations : PassWrapper<ExpandOperations, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandOperations)
  explicit ExpandOperations(const DeviceDescription &device)
      : roundsToBF16(device.roundsToBF16), permutesBytes(device.permutesBytes), vectorBytes(device.vectorBytes) {}

  StringRef getArgument() const override { return "codegen-expand-operations"; }

  void runOnOperation() override {
    ignoreSignsOfZeros();
    RewritePatternSet patterns(&getContext());
    codegen::populateExpandMathPatterns(patterns, vectorBytes);
    codegen::populateExpandRemainderPatterns(patterns);
    codegen::populateQuantisePatterns(patterns);
    codegen::populateExpandLookupPatterns(patterns, vectorBytes, permutesBytes);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    if (!roundsToBF16)
      codegen::populateExpandBFloat16Patterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), keepRegions())))
      signalPassFailure();
  }

  /// The maximum of two zeros may have either sign. The processor's instruction does not order zeros; ordering them
  /// takes five more instructions in the dependence chain of a reduction.
  void ignoreSignsOfZeros() {
    auto ignore = [&](Operation *op, arith::FastMathFlags flags) {
      op->setAttr("fastmath", arith::FastMathFlagsAttr::get(&getContext(), flags | arith::FastMathFlags::nsz));
    };
    getOperation().walk([&](Operation *op) {
      if (auto extreme = dyn_cast<arith::MaximumFOp>(op))
        ignore(op, extreme.getFastmath());
      else if (auto extreme = dyn_cast<arith::MinimumFOp>(op))
        ignore(op, extreme.getFastmath());
      else if (auto reduction = dyn_cast<vector::ReductionOp>(op); reduction && isa<FloatType>(reduction.getType()) &&
                                                                   reduction.getKind() != vector::CombiningKind::ADD &&
                                                                   reduction.getKind() != vector::CombiningKind::MUL)
        ignore(op, reduction.getFastmath());
    });
  }

  /// Whether instructions round vectors to bf16, and permute bytes of two registers.
  bool roundsToBF16, permutesBytes;
  unsigned vectorBytes;
};

} // namespace

void freestone::codegen::buildLowerToLLVMPipeline(OpPassManager &passes, const DeviceDescription &device) {
  math::MathExtendToSupportedTypesOptions extend;
  extend.targetTypeStr = "f32";
  passes.addPass(math::createMathExtendToSupportedTypes(extend));
  passes.addPass(std::make_unique<ExpandConversions>());
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16", "f16"};
  emulate.targetTypeStr = "f32";
  passes.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  passes.addPass(std::make_unique<ExpandOperations>(device));
  passes.addPass(createMoveBFloat16());
  passes.addPass(createLoopInvariantCodeMotionPass());
  passes.addPass(createCSEPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createFinalizeMemRefToLLVMConversionPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(createCanonicalizerPass(keepRegions()));
  passes.addPass(createCSEPass());
}
