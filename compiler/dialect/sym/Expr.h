#ifndef FREESTONE_COMPILER_DIALECT_SYM_EXPR_H
#define FREESTONE_COMPILER_DIALECT_SYM_EXPR_H

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include <cstdint>
#include <optional>

namespace freestone::sym {

class ExprAttr;
struct Term;
namespace detail {
struct ExprStorage;
} // namespace detail

/// The root of an expression. All but `Polynomial` and `Invalid` are atoms, of which polynomials are made. `mod` has no
/// kind: `x mod y` is `x - y*(x floordiv y)`. `max` of two is `a + b - min(a, b)`.
enum class Kind : uint8_t { Symbol, FloorDiv, CeilDiv, Min, Max, Polynomial, Invalid };

/// An integer expression over named symbols in its one canonical form: a handle on a uniqued attribute, so that
/// equality is pointer equality. Cheap to copy; a default-constructed handle is null. Threads may build expressions of
/// one context.
///
/// Expressions denote mathematical integers and are total: `x floordiv 0` and `x ceildiv 0` are 0, `x mod 0` is x.
/// Every rule of the canonical form holds for all integer values of the symbols, negative ones included; rules that
/// need more take `Bounds`. Coefficients are 64 bits; where one would overflow, and where an expression would grow past
/// `maxTerms`/`maxDegree`, the result is the invalid expression, which absorbs all it touches and evaluates to nothing.
class Expr {
public:
  static constexpr unsigned maxTerms = 1024;
  static constexpr unsigned maxDegree = 64;

  Expr() = default;
  explicit Expr(ExprAttr attr);

  static Expr constant(mlir::MLIRContext *context, int64_t value);
  static Expr symbol(mlir::MLIRContext *context, llvm::StringRef name);
  static Expr symbol(mlir::StringAttr name);
  static Expr invalid(mlir::MLIRContext *context);

  Expr operator+(Expr other) const;
  Expr operator-(Expr other) const;
  Expr operator*(Expr other) const;
  Expr operator-() const;
  Expr operator+(int64_t other) const;
  Expr operator-(int64_t other) const;
  Expr operator*(int64_t other) const;

  /// Rounded to minus infinity; 0 where the divisor is 0.
  static Expr floorDiv(Expr dividend, Expr divisor);
  static Expr floorDiv(Expr dividend, int64_t divisor);
  /// Rounded to plus infinity; 0 where the divisor is 0.
  static Expr ceilDiv(Expr dividend, Expr divisor);
  static Expr ceilDiv(Expr dividend, int64_t divisor);
  /// `x - y*floorDiv(x, y)`: has the sign of the divisor; the dividend where the divisor is 0.
  static Expr mod(Expr dividend, Expr divisor);
  static Expr mod(Expr dividend, int64_t divisor);
  /// Operands are values of 64 bits, so INT64_MAX (of `max`: INT64_MIN) is neutral: ONNX's "to the end". Evaluation
  /// fails where an operand leaves 64 bits.
  static Expr min(Expr lhs, Expr rhs);
  static Expr max(Expr lhs, Expr rhs);
  static Expr min(llvm::ArrayRef<Expr> operands);
  static Expr max(llvm::ArrayRef<Expr> operands);

  /// The polynomial q with q*divisor == *this, if there is one: what Reshape's -1 means, for empty tensors too.
  std::optional<Expr> exactDiv(Expr divisor) const;

  std::optional<int64_t> asConstant() const;
  bool isConstant(int64_t value) const { return asConstant() == value; }
  bool isConstant() const { return asConstant().has_value(); }
  std::optional<llvm::StringRef> asSymbol() const;
  /// Of a symbol times a positive constant: both.
  std::optional<std::pair<llvm::StringRef, int64_t>> asMultiple() const;
  bool isInvalid() const { return kind() == Kind::Invalid; }

  /// Replaces all symbols at once (not repeatedly); symbols without a replacement stay.
  Expr substitute(llvm::function_ref<std::optional<Expr>(llvm::StringRef)> replacement) const;
  /// Adds the names of the symbols in the order in which they are printed.
  void collectSymbols(llvm::SetVector<mlir::StringAttr> &symbols) const;

  /// The value, or nothing where a symbol has none, an intermediate result leaves 64 bits (128 within sums that may
  /// cancel), or the expression is invalid.
  std::optional<int64_t> evaluate(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> valueOf) const;

  Kind kind() const;
  bool isAtom() const { return kind() < Kind::Polynomial; }
  /// Of `FloorDiv` and `CeilDiv`: dividend, divisor. Of `Min` and `Max`: two or more. Else none.
  llvm::ArrayRef<Expr> operands() const;
  /// The terms of the sum, in canonical order: none for 0 and the invalid expression, one for an atom.
  llvm::ArrayRef<Term> terms() const;
  /// The number of terms, with those of its atoms' operands, or `most` where there are more.
  unsigned countTerms(unsigned most) const;
  /// The constant term.
  int64_t constantTerm() const;
  /// Whether products of both signs are summed: minima and maxima of expanded products leave 64 bits where their sum
  /// does not.
  bool mayCancel() const;

  /// A total order by the text of names, never by addresses: negative, zero or positive.
  static int compare(Expr lhs, Expr rhs);

  void print(llvm::raw_ostream &os) const;
  std::string str() const;

  ExprAttr attr() const;
  mlir::MLIRContext *context() const;
  const void *getAsOpaquePointer() const { return impl; }
  static Expr getFromOpaquePointer(const void *pointer) {
    return Expr(static_cast<const detail::ExprStorage *>(pointer));
  }

  explicit operator bool() const { return impl != nullptr; }
  bool operator==(Expr other) const { return impl == other.impl; }
  bool operator!=(Expr other) const { return impl != other.impl; }
  friend llvm::hash_code hash_value(Expr expr) { return llvm::hash_value(static_cast<const void *>(expr.impl)); }

private:
  explicit Expr(const detail::ExprStorage *impl) : impl(impl) {}

  const detail::ExprStorage *impl = nullptr;
};

/// An atom to a power of at least 1.
struct Factor {
  Expr atom;
  unsigned power;

  bool operator==(const Factor &other) const = default;
};

/// A coefficient (never 0) times a product of factors in canonical order; the product of no factors is the constant.
struct Term {
  int64_t coefficient;
  llvm::ArrayRef<Factor> factors;

  bool operator==(const Term &other) const = default;
};

inline Expr operator+(int64_t lhs, Expr rhs) { return rhs + lhs; }
inline Expr operator-(int64_t lhs, Expr rhs) { return -rhs + lhs; }
inline Expr operator*(int64_t lhs, Expr rhs) { return rhs * lhs; }

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, Expr expr) {
  expr.print(os);
  return os;
}

} // namespace freestone::sym

namespace llvm {
template <> struct DenseMapInfo<freestone::sym::Expr> {
  using Expr = freestone::sym::Expr;
  static Expr getEmptyKey() { return Expr::getFromOpaquePointer(DenseMapInfo<const void *>::getEmptyKey()); }
  static Expr getTombstoneKey() { return Expr::getFromOpaquePointer(DenseMapInfo<const void *>::getTombstoneKey()); }
  static unsigned getHashValue(Expr expr) {
    return DenseMapInfo<const void *>::getHashValue(expr.getAsOpaquePointer());
  }
  static bool isEqual(Expr lhs, Expr rhs) { return lhs == rhs; }
};
} // namespace llvm

#endif // FREESTONE_COMPILER_DIALECT_SYM_EXPR_H
