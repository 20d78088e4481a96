#ifndef FREESTONE_COMPILER_DIALECT_SYM_SYMDIALECT_TD
#define FREESTONE_COMPILER_DIALECT_SYM_SYMDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"

def Sym_Dialect : Dialect {
  let name = "sym";
  let summary = "sizes as integer expressions in one canonical form";
  let description = [{
    A size is an integer polynomial over named symbols, with `floordiv`, `ceildiv`, `mod`, `min` and `max` as further
    terms. Equal attributes are the same pointer; see Expr.h for the algebra.
  }];
  let cppNamespace = "::freestone::sym";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

/// Parameter of attributes and types: `ArrayRefParameter<"::freestone::sym::Expr">` for a shape, this for one size.
def Sym_ExprParameter : AttrOrTypeParameter<"::freestone::sym::Expr", "size expression">;

def Sym_ExprAttr : AttrDef<Sym_Dialect, "Expr"> {
  let mnemonic = "expr";
  let summary = "an integer expression in canonical form";
  let description = [{
    Printed `#sym.expr<4*h + 1>`, and bare as a parameter of other attributes and types. Only the arithmetic of
    `freestone::sym::Expr` makes expressions, so every one is canonical.
  }];
  let parameters = (ins "::freestone::sym::Kind":$kind);
  let storageClass = "ExprStorage";
  let storageNamespace = "detail";
  let genStorageClass = 0;
  let genAccessors = 0;
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::freestone::sym::Expr getExpr() const { return ::freestone::sym::Expr(*this); }

    /// For the rules of the canonical form alone; elsewhere use the arithmetic of `Expr`.
    static ExprAttr getCanonical(::mlir::MLIRContext *context, ::freestone::sym::Kind kind, ::mlir::StringAttr name,
                                 ::llvm::ArrayRef<::freestone::sym::Expr> operands,
                                 ::llvm::ArrayRef<::freestone::sym::Term> terms);
  }];
}

def Sym_SymbolBoundsAttr : AttrDef<Sym_Dialect, "SymbolBounds"> {
  let mnemonic = "bounds";
  let summary = "the known bounds of one symbol";
  let description = [{
    Printed `#sym.bounds<[1, 2048]>`, `#sym.bounds<[0, inf], multiple_of 8, hint 128>`. Range and divisor hold for every
    run; the hint is a typical value that ranks plans and never affects correctness.
  }];
  let parameters = (ins "int64_t":$lo, "int64_t":$hi, "int64_t":$multipleOf, "std::optional<int64_t>":$hint);
  let builders = [AttrBuilder<(ins "::freestone::sym::SymbolBounds":$bounds,
                                   CArg<"std::optional<int64_t>", "std::nullopt">:$hint), [{
    return $_get($_ctxt, bounds.range.lo, bounds.range.hi, bounds.multipleOf, hint);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::freestone::sym::SymbolBounds getBounds() const { return {{getLo(), getHi()}, getMultipleOf()}; }
  }];
}

def Sym_SizeType : TypeDef<Sym_Dialect, "Size"> {
  let mnemonic = "size";
  let summary = "an integer whose value is an expression";
  let description = [{
    The expression of the type gives equality, the SSA value of it gives scope and dominance. Printed `!sym.size<4*h + 1>`.
  }];
  let parameters = (ins Sym_ExprParameter:$expr);
  let assemblyFormat = "`<` $expr `>`";
}

#endif // FREESTONE_COMPILER_DIALECT_SYM_SYMDIALECT_TD
