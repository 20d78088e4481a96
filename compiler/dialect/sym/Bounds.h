#ifndef FREESTONE_COMPILER_DIALECT_SYM_BOUNDS_H
#define FREESTONE_COMPILER_DIALECT_SYM_BOUNDS_H

#include "compiler/dialect/sym/Expr.h"
#include "llvm/ADT/StringMap.h"
#include <limits>

namespace freestone::sym {

/// The integers from `lo` to `hi`; the ends of int64_t stand for infinity.
struct Interval {
  static constexpr int64_t minusInfinity = std::numeric_limits<int64_t>::min();
  static constexpr int64_t plusInfinity = std::numeric_limits<int64_t>::max();

  int64_t lo = minusInfinity;
  int64_t hi = plusInfinity;

  static Interval all() { return {}; }
  static Interval size() { return {0, plusInfinity}; }
  static Interval point(int64_t value) { return {value, value}; }

  bool isPoint() const { return lo == hi && lo != minusInfinity && lo != plusInfinity; }
  bool contains(int64_t value) const { return lo <= value && value <= hi; }
  bool operator==(const Interval &other) const = default;
};

/// The known facts of one symbol.
struct SymbolBounds {
  Interval range = Interval::size();
  /// Every value is a multiple of this (at least 1).
  int64_t multipleOf = 1;

  bool operator==(const SymbolBounds &other) const = default;
};

/// The known bounds of a function's symbols, and the facts of expressions that follow from them. All answers are sound:
/// "provably" means for every assignment within the bounds; an interval contains every value. Thread-safe as long as no
/// thread sets bounds.
class Bounds {
public:
  /// `unknown` bounds symbols that were never set: sizes are not negative, elements of inputs may be.
  explicit Bounds(Interval unknown = Interval::all()) : unknown(unknown) {}

  void set(llvm::StringRef symbol, SymbolBounds bounds) { symbols[symbol] = bounds; }
  void set(llvm::StringRef symbol, Interval range) { set(symbol, SymbolBounds{range, 1}); }
  SymbolBounds of(llvm::StringRef symbol) const;

  Interval interval(Expr expr) const;
  bool provablyLE(Expr lhs, Expr rhs) const;
  bool provablyLT(Expr lhs, Expr rhs) const;
  bool provablyNonNegative(Expr expr) const { return interval(expr).lo >= 0; }
  bool provablyPositive(Expr expr) const { return interval(expr).lo >= 1; }
  bool provablyNonZero(Expr expr) const;
  bool provablyDistinct(Expr lhs, Expr rhs) const;
  /// Every value of the expression is a multiple of `factor` (at least 1).
  bool isMultipleOf(Expr expr, int64_t factor) const { return divisor(expr) % factor == 0; }
  /// The greatest known common divisor of the values of the expression; 0 for the constant 0.
  int64_t divisor(Expr expr) const;

  /// An expression of equal value for every assignment within the bounds. The bounds decide minima and maxima, cancel
  /// divisors that can't be zero, and replace symbols of one value.
  Expr simplify(Expr expr) const;

private:
  Interval unknown;
  llvm::StringMap<SymbolBounds> symbols;
};

} // namespace freestone::sym

#endif // FREESTONE_COMPILER_DIALECT_SYM_BOUNDS_H
