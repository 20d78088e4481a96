#ifndef FREESTONE_COMPILER_DIALECT_TASK_TASKDIALECT_TD
#define FREESTONE_COMPILER_DIALECT_TASK_TASKDIALECT_TD

include "compiler/dialect/sym/SymDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"

def Task_Dialect : Dialect {
  let name = "task";
  let summary = "the plane of units × time: phases of tiles, laid on workers";
  let description = [{
    A `task.program` is one SPMD program for W workers, W known at run time. Every worker runs the same phases in the
    same order and computes its share of each phase's tiles, which the runtime deals when sizes are bound.
    There is no dispatcher and no global barrier: a phase names the earlier phases that it must come `after`, and waits
    for their progress numbers only.
  }];
  let cppNamespace = "::freestone::task";
  let dependentDialects = ["::freestone::sym::SymDialect", "::freestone::tile::TileDialect"];
  let useDefaultAttributePrinterParser = 1;
}

def Task_SymbolSource : I32EnumAttr<"SymbolSource", "what binds a symbol before or while the program runs", [
    I32EnumAttrCase<"dim", 0>, I32EnumAttrCase<"element", 1>, I32EnumAttrCase<"runtime", 2>]> {
  let cppNamespace = "::freestone::task";
  let genSpecializedAttr = 0;
}

def Task_SymbolAttr : AttrDef<Task_Dialect, "Symbol"> {
  let mnemonic = "symbol";
  let summary = "a symbol of a program and what binds it";
  let description = [{
    `dim i, d`: dimension d of input i, divided by `scale`. `element i, k`: element k of the integer input i.
    `runtime i, 0`: element 0 of buffer i, which a phase writes; before that phase it counts as its upper bound `bound`,
    where there is one.
    ```mlir
    #task.symbol<"b" dim 0, 1 in [8, 512] multiple_of 8>
    ```
  }];
  let parameters = (ins StringRefParameter<"name">:$name, EnumParameter<Task_SymbolSource>:$source, "int64_t":$tensor,
                        "int64_t":$index, DefaultValuedParameter<"int64_t", "1">:$scale, "int64_t":$lower,
                        "int64_t":$upper, DefaultValuedParameter<"int64_t", "1">:$multipleOf,
                        OptionalParameter<"::mlir::Attribute">:$bound);
  let assemblyFormat = "`<` $name $source $tensor `,` $index (`scale` $scale^)? `in` ` ` `[` $lower `,` $upper `]` (`multiple_of` $multipleOf^)? (`bound` $bound^)? `>`";
}

def Task_BufferKind : I32EnumAttr<"BufferKind", "where the bytes of a buffer live", [
    I32EnumAttrCase<"input", 0>, I32EnumAttrCase<"output", 1>, I32EnumAttrCase<"weight", 2>,
    I32EnumAttrCase<"arena", 3>, I32EnumAttrCase<"state", 4>, I32EnumAttrCase<"growing", 5>]> {
  let cppNamespace = "::freestone::task";
  let genSpecializedAttr = 0;
}

#endif // FREESTONE_COMPILER_DIALECT_TASK_TASKDIALECT_TD
