#ifndef FREESTONE_COMPILER_CODEGEN_CPU_PASSES_TD
#define FREESTONE_COMPILER_CODEGEN_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def EmitPrograms : Pass<"codegen-emit-programs", "::mlir::ModuleOp"> {
  let summary = "emits a module of loops for every program with a plan";
  let description = [{
    Each `tile.program` becomes a nested module, of the program's name, with one function
    `p(void **buffers, const int64_t *sizes, int64_t begin, int64_t end, char *scratch)` that computes tiles [begin, end). The micro-kernels that
    they call become modules of their own. Each module becomes one object. The plan decides every size of the code; a
    plan that does not fit its program is refused.
    ```mlir
    tile.program @p0 symbols [s0] (%x: …) -> (…) attributes {plan = …} {…}
    // →
    module @p0 {
      func.func @p0(%buffers: !llvm.ptr, %sizes: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) {…}
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
  let options = [Option<"reduceShortLoops", "reduce-short-loops", "bool", /*default=*/"true",
                        "strength is reduced in loops that compute few addresses alone; false: in all of them">,
                 Option<"storeConstants", "store-constants", "bool", /*default=*/"true",
                        "of a processor with few registers, loops may read vectors of constants from memory">];
}

def MoveBFloat16 : Pass<"codegen-move-bf16", "::mlir::ModuleOp"> {
  let summary = "moves bf16 as integers of 16 bits";
  let description = [{
    Loads, stores, selections, shuffles and branches take integers; only operations that compute in bf16, or convert it,
    take bf16. LLVM has no registers for bf16 where no instruction of the processor computes in it: moved as bf16, it
    would be widened and rounded lane by lane.
    ```mlir
    %x = vector.load %from[%i] : memref<?xbf16>, vector<8xbf16>
    %y = arith.extf %x : vector<8xbf16> to vector<8xf32>
    // →
    %x = vector.load %from[%i] : memref<?xi16>, vector<8xi16>
    %n = arith.bitcast %x : vector<8xi16> to vector<8xbf16>
    %y = arith.extf %n : vector<8xbf16> to vector<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // FREESTONE_COMPILER_CODEGEN_CPU_PASSES_TD
