// Random expressions against a naive evaluator of the trees that they are built from.

#include "compiler/dialect/sym/Bounds.h"
#include "compiler/dialect/sym/SymDialect.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>
#include <memory>
#include <random>

using namespace freestone::sym;

namespace {

constexpr int numSymbols = 4;
constexpr const char *symbolNames[numSymbols] = {"b", "s", "h", "x"};

enum class Operator { Constant, Symbol, Negate, Add, Subtract, Multiply, FloorDiv, CeilDiv, Mod, Min, Max };

/// The expression as written, without simplification.
struct Tree {
  Operator op;
  int64_t value = 0;
  std::shared_ptr<Tree> lhs, rhs;
};
using TreePtr = std::shared_ptr<Tree>;

TreePtr leaf(Operator op, int64_t value) { return std::make_shared<Tree>(Tree{op, value, nullptr, nullptr}); }

TreePtr node(Operator op, TreePtr lhs, TreePtr rhs = nullptr) {
  return std::make_shared<Tree>(Tree{op, 0, std::move(lhs), std::move(rhs)});
}

bool hasExtremum(const Tree &tree) {
  return tree.op == Operator::Min || tree.op == Operator::Max || (tree.lhs && hasExtremum(*tree.lhs)) ||
         (tree.rhs && hasExtremum(*tree.rhs));
}

using Wide = __int128;
using Assignment = std::array<int64_t, numSymbols>;

/// Exact over the integers; nothing if a value exceeds 100 bits.
std::optional<Wide> evaluateNaively(const Tree &tree, const Assignment &values) {
  if (tree.op == Operator::Constant)
    return tree.value;
  if (tree.op == Operator::Symbol)
    return values[tree.value];
  std::optional<Wide> lhs = evaluateNaively(*tree.lhs, values);
  std::optional<Wide> rhs = tree.rhs ? evaluateNaively(*tree.rhs, values) : Wide(0);
  if (!lhs || !rhs)
    return std::nullopt;
  Wide a = *lhs, b = *rhs;
  auto floorDiv = [](Wide x, Wide y) -> Wide { return y == 0 ? 0 : x / y - (x % y != 0 && (x < 0) != (y < 0)); };
  auto product = [](Wide x, Wide y) -> std::optional<Wide> {
    Wide result;
    if (__builtin_mul_overflow(x, y, &result))
      return std::nullopt;
    return result;
  };
  std::optional<Wide> result;
  switch (tree.op) {
  case Operator::Negate:
    result = -a;
    break;
  case Operator::Add:
    result = a + b;
    break;
  case Operator::Subtract:
    result = a - b;
    break;
  case Operator::Multiply:
    result = product(a, b);
    break;
  case Operator::FloorDiv:
    result = floorDiv(a, b);
    break;
  case Operator::CeilDiv:
    result = -floorDiv(-a, b);
    break;
  case Operator::Mod:
    result = b == 0 ? a : a - b * floorDiv(a, b);
    break;
  default:
    if (a != Wide(int64_t(a)) || b != Wide(int64_t(b)))
      return std::nullopt;
    result = tree.op == Operator::Min ? std::min(a, b) : std::max(a, b);
  }
  constexpr Wide limit = Wide(1) << 100;
  if (!result || *result > limit || *result < -limit)
    return std::nullopt;
  return result;
}

class Generator {
public:
  explicit Generator(uint64_t seed, bool hugeLiterals = true) : random(seed), hugeLiterals(hugeLiterals) {}

  int64_t uniform(int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(random); }

  TreePtr tree(unsigned depth) {
    if (depth == 0 || uniform(0, 7) == 0)
      return uniform(0, 2) ? leaf(Operator::Symbol, uniform(0, numSymbols - 1)) : leaf(Operator::Constant, literal());
    // Sums and products are the most frequent, as in sizes.
    static constexpr Operator weighted[] = {Operator::Add,      Operator::Add,      Operator::Subtract,
                                            Operator::Multiply, Operator::Multiply, Operator::FloorDiv,
                                            Operator::FloorDiv, Operator::CeilDiv,  Operator::Mod,
                                            Operator::Min,      Operator::Max,      Operator::Negate};
    Operator op = weighted[uniform(0, std::size(weighted) - 1)];
    if (op == Operator::Negate)
      return node(op, tree(depth - 1));
    return node(op, tree(depth - 1), tree(depth - 1));
  }

  int64_t literal() {
    switch (hugeLiterals ? uniform(0, 15) : 2) {
    case 0:
      return uniform(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
    case 1:
      return uniform(0, 1) ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
    default:
      return uniform(-4, 9);
    }
  }

  Assignment assignment() {
    Assignment values;
    for (int64_t &value : values)
      value = uniform(0, 9) == 0 ? uniform(-100000, 100000) : uniform(-12, 30);
    return values;
  }

  /// An equal tree for every assignment, by one law of arithmetic at each node.
  TreePtr rewrite(const TreePtr &tree) {
    if (!tree->lhs)
      return tree;
    TreePtr a = rewrite(tree->lhs), b = tree->rhs ? rewrite(tree->rhs) : nullptr;
    bool coin = uniform(0, 1);
    switch (tree->op) {
    case Operator::Add:
      if (coin && b->op == Operator::Add)
        return node(Operator::Add, node(Operator::Add, a, b->lhs), b->rhs);
      return node(Operator::Add, b, a);
    case Operator::Subtract:
      return coin ? node(Operator::Add, node(Operator::Negate, b), a) : node(Operator::Negate, node(tree->op, b, a));
    case Operator::Multiply:
      if (b->op == Operator::Add)
        return node(Operator::Add, node(Operator::Multiply, a, b->lhs), node(Operator::Multiply, a, b->rhs));
      return node(Operator::Multiply, b, a);
    case Operator::CeilDiv:
      return node(Operator::Negate, node(Operator::FloorDiv, node(Operator::Negate, a), b));
    case Operator::Mod:
      return node(Operator::Subtract, a, node(Operator::Multiply, b, node(Operator::FloorDiv, a, b)));
    case Operator::Max:
      // Nested extrema are flattened, for which the second law has no counterpart.
      if (coin || hasExtremum(*a) || hasExtremum(*b))
        return node(Operator::Negate, node(Operator::Min, node(Operator::Negate, a), node(Operator::Negate, b)));
      return node(Operator::Subtract, node(Operator::Add, a, b), node(Operator::Min, a, b));
    case Operator::Min:
      return node(Operator::Min, b, a);
    default:
      return node(tree->op, a, b);
    }
  }

private:
  std::mt19937_64 random;
  bool hugeLiterals;
};

class ExprProperty : public testing::Test {
protected:
  ExprProperty() : context(mlir::MLIRContext::Threading::DISABLED) { context.loadDialect<SymDialect>(); }

  Expr build(const Tree &tree) { return build(tree, context); }

  static Expr build(const Tree &tree, mlir::MLIRContext &context) {
    if (tree.op == Operator::Constant)
      return Expr::constant(&context, tree.value);
    if (tree.op == Operator::Symbol)
      return Expr::symbol(&context, symbolNames[tree.value]);
    Expr a = build(*tree.lhs, context);
    if (tree.op == Operator::Negate)
      return -a;
    Expr b = build(*tree.rhs, context);
    switch (tree.op) {
    case Operator::Add:
      return a + b;
    case Operator::Subtract:
      return a - b;
    case Operator::Multiply:
      return a * b;
    case Operator::FloorDiv:
      return Expr::floorDiv(a, b);
    case Operator::CeilDiv:
      return Expr::ceilDiv(a, b);
    case Operator::Mod:
      return Expr::mod(a, b);
    case Operator::Min:
      return Expr::min(a, b);
    default:
      return Expr::max(a, b);
    }
  }

  static std::optional<int64_t> evaluate(Expr expr, const Assignment &values) {
    return expr.evaluate([&](llvm::StringRef name) -> std::optional<int64_t> {
      for (int i = 0; i < numSymbols; ++i)
        if (name == symbolNames[i])
          return values[i];
      return std::nullopt;
    });
  }

  mlir::MLIRContext context;
};

TEST_F(ExprProperty, SimplificationNeverChangesAValue) {
  Generator generate(1);
  size_t compared = 0, skipped = 0, equalPairs = 0;
  for (int pair = 0; pair < 100000; ++pair) {
    unsigned depth = pair % 4 + 1;
    TreePtr leftTree = generate.tree(depth);
    TreePtr rightTree = pair % 2 ? generate.rewrite(leftTree) : generate.tree(depth);
    Expr left = build(*leftTree), right = build(*rightTree);
    equalPairs += left == right;
    for (int i = 0; i < 6; ++i) {
      Assignment values = generate.assignment();
      std::optional<Wide> leftNaive = evaluateNaively(*leftTree, values);
      std::optional<Wide> rightNaive = evaluateNaively(*rightTree, values);
      std::optional<int64_t> leftValue = evaluate(left, values), rightValue = evaluate(right, values);
      if (leftValue && leftNaive)
        ASSERT_EQ(Wide(*leftValue), *leftNaive) << left.str();
      if (rightValue && rightNaive)
        ASSERT_EQ(Wide(*rightValue), *rightNaive) << right.str();
      if (left == right && !left.isInvalid() && leftNaive && rightNaive)
        ASSERT_EQ(*leftNaive, *rightNaive) << left.str();
      (leftValue && leftNaive ? compared : skipped)++;
    }
  }
  RecordProperty("equal_pairs", static_cast<int>(equalPairs));
  EXPECT_GT(equalPairs, 40000u);
  EXPECT_GT(compared, 4 * skipped);
}

TEST_F(ExprProperty, LawsOfArithmeticGiveTheSameAttribute) {
  Generator generate(2, /*hugeLiterals=*/false);
  for (int i = 0; i < 30000; ++i) {
    TreePtr tree = generate.tree(i % 4 + 1);
    TreePtr rewritten = generate.rewrite(tree);
    Expr left = build(*tree), right = build(*rewritten);
    // Some extrema nested deeper than in any real size are flattened differently.
    if (left.isInvalid() || right.isInvalid() || left.str().size() > 200)
      continue;
    ASSERT_EQ(left, right) << left.str() << " and " << right.str();
  }
}

TEST_F(ExprProperty, TextReadsBack) {
  Generator generate(3);
  for (int i = 0; i < 20000; ++i) {
    Expr expr = build(*generate.tree(i % 4 + 1));
    std::string error;
    llvm::FailureOr<Expr> parsed = parseExpr(&context, expr.str(), &error);
    ASSERT_TRUE(succeeded(parsed)) << error;
    ASSERT_EQ(*parsed, expr) << expr.str() << " read as " << parsed->str();
  }
}

TEST_F(ExprProperty, TextDoesNotDependOnAddresses) {
  mlir::MLIRContext other(mlir::MLIRContext::Threading::DISABLED);
  other.loadDialect<SymDialect>();
  for (int i = numSymbols - 1; i >= 0; --i)
    Expr::symbol(&other, symbolNames[i]);
  Generator generate(4);
  std::vector<TreePtr> trees;
  for (int i = 0; i < 5000; ++i)
    trees.push_back(generate.tree(i % 4 + 1));
  std::vector<std::string> backwards;
  for (const TreePtr &tree : llvm::reverse(trees))
    backwards.push_back(build(*tree, other).str());
  for (auto [tree, text] : llvm::zip(trees, llvm::reverse(backwards)))
    ASSERT_EQ(build(*tree).str(), text);
}

TEST_F(ExprProperty, SubstitutionCommutesWithEvaluation) {
  Generator generate(5);
  for (int i = 0; i < 10000; ++i) {
    Expr expr = build(*generate.tree(3)), replacement = build(*generate.tree(2));
    Expr substituted = expr.substitute([&](llvm::StringRef name) -> std::optional<Expr> {
      return name == "s" ? std::optional<Expr>(replacement) : std::nullopt;
    });
    Assignment values = generate.assignment();
    std::optional<int64_t> inner = evaluate(replacement, values);
    if (!inner)
      continue;
    std::optional<int64_t> after = evaluate(substituted, values);
    values[1] = *inner;
    std::optional<int64_t> before = evaluate(expr, values);
    if (before && after)
      ASSERT_EQ(*before, *after) << expr.str() << " with s = " << replacement.str();
  }
}

TEST_F(ExprProperty, ProductsDivideExactly) {
  Generator generate(6);
  for (int i = 0; i < 10000; ++i) {
    Expr left = build(*generate.tree(2)), right = build(*generate.tree(2));
    Expr product = left * right;
    if (product.isInvalid() || right.isConstant(0))
      continue;
    std::optional<Expr> quotient = product.exactDiv(right);
    // Only an intermediate overflow can hide the quotient.
    if (quotient)
      ASSERT_EQ(*quotient, left) << product.str() << " by " << right.str();
    else
      ASSERT_GT(product.str().size(), 18u) << product.str() << " by " << right.str();
  }
}

TEST_F(ExprProperty, BoundsAreSound) {
  Generator generate(7);
  for (int i = 0; i < 10000; ++i) {
    Bounds bounds;
    std::array<SymbolBounds, numSymbols> known;
    for (int k = 0; k < numSymbols; ++k) {
      int64_t multipleOf = generate.uniform(0, 2) ? 1 : generate.uniform(1, 8);
      int64_t lo = generate.uniform(-6, 9) * multipleOf;
      int64_t hi = generate.uniform(0, 4) ? lo + generate.uniform(0, 20) * multipleOf : Interval::plusInfinity;
      known[k] = {{lo, hi}, multipleOf};
      bounds.set(symbolNames[k], known[k]);
    }
    Expr expr = build(*generate.tree(i % 4 + 1));
    Interval range = bounds.interval(expr);
    int64_t divisor = bounds.divisor(expr);
    Expr simplified = bounds.simplify(expr);
    for (int sample = 0; sample < 8; ++sample) {
      Assignment values;
      for (int k = 0; k < numSymbols; ++k) {
        auto [within, multipleOf] = known[k];
        int64_t steps = within.hi == Interval::plusInfinity ? 50 : (within.hi - within.lo) / multipleOf;
        values[k] = within.lo + generate.uniform(0, steps) * multipleOf;
      }
      std::optional<int64_t> value = evaluate(expr, values);
      if (!value)
        continue;
      ASSERT_TRUE(range.contains(*value))
          << expr.str() << " is " << *value << ", not in [" << range.lo << ", " << range.hi << "]";
      ASSERT_TRUE(divisor == 0 ? *value == 0 : *value % divisor == 0) << expr.str() << " by " << divisor;
      if (std::optional<int64_t> after = evaluate(simplified, values))
        ASSERT_EQ(*after, *value) << expr.str() << " became " << simplified.str();
    }
  }
}

} // namespace
