#ifndef FREESTONE_COMPILER_EXPRESSIONS_SIZEFACTS_H
#define FREESTONE_COMPILER_EXPRESSIONS_SIZEFACTS_H

#include "compiler/dialect/sym/Bounds.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include <map>
#include <string>
#include <vector>

namespace freestone::expressions {

using sym::Expr;

/// The binding time of a symbol.
enum class SymbolOrigin {
  /// A dimension of an input.
  Dimension,
  /// An element of a small input.
  Element,
  /// Computed from other symbols at the program's entry.
  Definition,
  /// Data-dependent: the number of nonzero elements, …
  Data,
  /// Computed from other symbols, some of them data-dependent, as soon as these are known.
  DataDefinition
};

/// The importer's knowledge of the sizes of one function: symbols, their bounds, and equalities that must hold.
class SizeFacts {
public:
  struct Symbol {
    SymbolOrigin origin;
    sym::SymbolBounds bounds;
    /// Of `Element`: number of the input and of the element.
    int64_t input = 0;
    int64_t element = 0;
    /// Of `Definition` and `DataDefinition`: its value, in symbols declared before it or bound by inputs.
    Expr definition = {};
    /// Of `Data`: its greatest value, in symbols declared before it; null where only the bounds are known.
    Expr most = {};
  };

  /// The result of `learnEqual`.
  enum class Outcome {
    /// Equal already, or never equal; see `contradiction`.
    Nothing,
    /// `learnt` must be replaced by `replacement` everywhere.
    Substitute,
    /// Neither is a symbol that can be replaced: the equality is checked at the program's entry, or as soon as the
    /// data-dependent symbols among them are known.
    Assert,
    Contradiction
  };
  struct Learnt {
    Outcome outcome = Outcome::Nothing;
    std::string symbol;
    Expr replacement;
  };

  /// In the order of declaration.
  using Symbols = llvm::MapVector<std::string, Symbol, std::map<std::string, unsigned>>;

  explicit SizeFacts(mlir::MLIRContext *context) : context(context) {}

  Expr constant(int64_t value) const { return Expr::constant(context, value); }
  /// The symbol of this name, declared on its first use.
  Expr symbol(llvm::StringRef name, SymbolOrigin origin, sym::Interval range);
  /// The size that an input's dimension has by its name in the model: a symbol, or a multiple of one (`32*units`), as
  /// PyTorch's exporters name dimensions that are derived from others. Other expressions are names alone: exporters
  /// label with sums which the data do not keep.
  Expr dimension(llvm::StringRef name);
  Expr element(llvm::StringRef name, int64_t input, int64_t element, sym::Interval range);
  /// A new symbol named after `stem`.
  Expr fresh(llvm::StringRef stem, SymbolOrigin origin, sym::Interval range);
  /// A new symbol for a data-dependent count, from 0 to `most`.
  Expr freshCount(llvm::StringRef stem, Expr most);
  /// Tells the greatest value of a data-dependent symbol.
  void limit(Expr symbol, Expr most);
  /// A symbol defined as `definition`, so that later expressions stay small: an earlier symbol of this definition, or a
  /// new one named after `stem`, within `range`. Constants and symbols are returned unchanged.
  Expr define(llvm::StringRef stem, Expr definition, sym::Interval range);
  /// Whether an expression stays without a symbol: products of sizes, of which strides and numbers of elements are
  /// made, multiply the terms of their factors.
  static bool isShort(Expr expr);
  /// Narrows the bounds of a symbol; false if there is none of this name.
  bool restrict(llvm::StringRef name, sym::Interval range, int64_t multipleOf = 1);

  /// An equality that is checked at the program's entry, or where its last symbol is bound; `text` describes the sizes.
  struct Assertion {
    Expr lhs, rhs;
    std::string text;
    /// Whether it asserts that a size is not negative.
    bool isSign = false;
  };

  /// Requires that an expression is not negative, by such a check; `text` describes it.
  void requireSize(Expr expr, const llvm::Twine &text);
  /// Whether two sizes are known to be equal, or are asserted to be.
  bool areEqual(Expr lhs, Expr rhs) const;
  Learnt learnEqual(Expr lhs, Expr rhs, const llvm::Twine &text);

  const sym::Bounds &bounds() const { return known; }
  /// Simplifies by the known bounds; large expressions stay unchanged, since their analysis takes exponential time.
  Expr simplify(Expr expr) const;
  sym::Interval interval(Expr expr) const;
  bool dependsOnData(Expr expr) const;
  /// The greatest value of an expression, without data-dependent symbols; null if it has none that is known.
  Expr greatest(Expr expr) const;

  const Symbols &symbols() const { return declared; }
  llvm::ArrayRef<Assertion> assertions() const { return asserted; }
  void substitute(llvm::StringRef symbol, Expr replacement, const llvm::Twine &text);

private:
  bool isDefinedAs(Expr symbol, Expr definition) const;
  bool isAsserted(Expr lhs, Expr rhs) const;

  mlir::MLIRContext *context;
  Symbols declared;
  /// Names that are not given again: expressions from before may have them.
  llvm::StringSet<> replaced;
  sym::Bounds known;
  std::vector<Assertion> asserted;
};

} // namespace freestone::expressions

#endif // FREESTONE_COMPILER_EXPRESSIONS_SIZEFACTS_H
