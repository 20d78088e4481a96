#ifndef FREESTONE_COMPILER_DIALECT_SYM_EXPRSTORAGE_H
#define FREESTONE_COMPILER_DIALECT_SYM_EXPRSTORAGE_H

#include "compiler/dialect/sym/SymDialect.h"
#include "mlir/IR/AttributeSupport.h"

namespace freestone::sym::detail {

/// The storage of `ExprAttr`; private to the room. An atom has itself as its only term, so that every expression is a
/// sum.
struct ExprStorage : mlir::AttributeStorage {
  struct KeyTy {
    KeyTy(Kind kind, mlir::StringAttr name, llvm::ArrayRef<Expr> operands, llvm::ArrayRef<Term> terms)
        : kind(kind), name(name), operands(operands), terms(terms) {}

    Kind kind;
    mlir::StringAttr name;
    llvm::ArrayRef<Expr> operands;
    /// Only of polynomials.
    llvm::ArrayRef<Term> terms;
  };

  static llvm::hash_code hashKey(const KeyTy &key);
  static ExprStorage *construct(mlir::AttributeStorageAllocator &allocator, const KeyTy &key);
  bool operator==(const KeyTy &key) const;

  Kind kind;
  mlir::StringAttr name;
  llvm::ArrayRef<Expr> operands;
  llvm::ArrayRef<Term> terms;
};

/// The order of a product of factors: higher degree first, then by the text of the factors; the empty product is last.
int compareProducts(llvm::ArrayRef<Factor> lhs, llvm::ArrayRef<Factor> rhs);

/// The atom with these operands, already normalized by the rules of its kind.
Expr getAtom(Kind kind, llvm::ArrayRef<Expr> operands);

/// The canonical form of a minimum or maximum over unbounded integers.
Expr getExtremum(Kind kind, llvm::ArrayRef<Expr> operands);

/// The sum of terms in canonical order, with distinct products and no zero coefficient.
Expr getSum(mlir::MLIRContext *context, llvm::ArrayRef<Term> terms);

/// Arithmetic on terms alone, for rules that `Expr`'s operators apply.
Expr addTerms(Expr lhs, Expr rhs);
Expr multiplyTerms(Expr lhs, Expr rhs);
Expr scaleTerms(Expr expr, int64_t factor);
/// The quotient; the dividend is no constant, the divisor above 1.
Expr divideTerms(Expr dividend, int64_t divisor);

/// A sum in which divisions of the same dividend by a and 2a are joined; part of the canonical form.
Expr joinDivisions(Expr sum);
/// The same sum with all joined divisions split, from which `joinDivisions` starts.
Expr splitDivisions(Expr sum);

/// The quotient of two products, or nothing where a factor is missing.
std::optional<llvm::SmallVector<Factor, 4>> divideProducts(llvm::ArrayRef<Factor> dividend,
                                                           llvm::ArrayRef<Factor> divisor);

/// The greatest common divisor of the coefficients, the constant's included; 0 for 0.
uint64_t contentOf(Expr expr);

/// The expression with every coefficient divided by a common divisor.
Expr divideCoefficients(Expr expr, int64_t divisor);

/// Dividend and divisor of an atom `x floordiv c` with a constant c; nothing for other expressions.
struct ConstantDivision {
  Expr dividend;
  int64_t divisor;
};
std::optional<ConstantDivision> asConstantDivision(Expr atom);

/// The coefficient and atom of a term that is a multiple of one atom.
std::optional<std::pair<int64_t, Expr>> asMultipleOfAtom(const Term &term);

/// The quotient of a by b rounded to minus infinity; b is positive.
inline int64_t floorQuotient(int64_t a, int64_t b) { return a / b - (a % b < 0); }

} // namespace freestone::sym::detail

#endif // FREESTONE_COMPILER_DIALECT_SYM_EXPRSTORAGE_H
