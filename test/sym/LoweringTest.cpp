// The emitted operations, interpreted one by one, against Expr::evaluate.

#include "compiler/dialect/sym/Lowering.h"
#include "compiler/dialect/sym/SymDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace freestone::sym;
using namespace mlir;

namespace {

constexpr int64_t lowest = std::numeric_limits<int64_t>::min();

/// Interprets straight-line code of the few operations that the lowering emits.
class Machine {
public:
  void set(Value value, int64_t number) { values[value] = {number, false}; }
  int64_t get(Value value) { return static_cast<int64_t>(values.lookup(value).number); }

  void run(Block &block) {
    for (Operation &op : block)
      if (!op.getResults().empty() && !values.contains(op.getResult(0)))
        values[op.getResult(0)] = execute(op);
  }

private:
  struct Cell {
    /// Of 64 or 128 bits.
    __int128 number;
    /// The overflow bit of the pairs that LLVM's checked arithmetic returns.
    bool overflow;
  };

  Cell execute(Operation &op) {
    auto wide = [&](unsigned i) { return values.lookup(op.getOperand(i)).number; };
    auto number = [&](unsigned i) { return static_cast<int64_t>(wide(i)); };
    auto unsignedNumber = [&](unsigned i) { return static_cast<uint64_t>(number(i)); };
    auto isWide = [&] { return op.getOperand(0).getType().isInteger(128); };
    Cell cell{0, false};
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      llvm::APInt value = cast<IntegerAttr>(constant.getValue()).getValue().sext(129).trunc(128);
      if (cast<IntegerAttr>(constant.getValue()).getValue().getBitWidth() == 1)
        value = value & 1;
      return {static_cast<__int128>(value.getRawData()[1]) << 64 | value.getRawData()[0], false};
    }
    if (auto compare = dyn_cast<arith::CmpIOp>(op); compare && isWide())
      return {wide(0) != wide(1), false};
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      return {applyCmpPredicate(compare.getPredicate(), APInt(64, unsignedNumber(0)), APInt(64, unsignedNumber(1))),
              false};
    if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op)) {
      Cell pair = values.lookup(op.getOperand(0));
      return {extract.getPosition()[0] == 0 ? pair.number : pair.overflow, false};
    }
    if (isa<arith::SelectOp>(op))
      cell.number = number(0) ? number(1) : number(2);
    else if (isa<arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp>(op))
      cell.number = number(0);
    else if (isa<arith::AddIOp>(op))
      cell.number = static_cast<int64_t>(unsignedNumber(0) + unsignedNumber(1));
    else if (isa<arith::SubIOp>(op))
      cell.number = static_cast<int64_t>(unsignedNumber(0) - unsignedNumber(1));
    else if (isa<arith::MulIOp>(op))
      cell.number = static_cast<int64_t>(unsignedNumber(0) * unsignedNumber(1));
    else if (isa<arith::OrIOp>(op))
      cell.number = number(0) | number(1);
    else if (isa<arith::ShRSIOp>(op))
      cell.number = number(0) >> number(1);
    else if (isa<arith::MinSIOp>(op))
      cell.number = std::min(number(0), number(1));
    else if (isa<arith::MaxSIOp>(op))
      cell.number = std::max(number(0), number(1));
    else if (isa<LLVM::SAddWithOverflowOp>(op))
      cell = checked([](auto lhs, auto rhs, auto *result) { return __builtin_add_overflow(lhs, rhs, result); }, wide(0),
                     wide(1), isWide());
    else if (isa<LLVM::SSubWithOverflowOp>(op))
      cell = checked([](auto lhs, auto rhs, auto *result) { return __builtin_sub_overflow(lhs, rhs, result); }, wide(0),
                     wide(1), isWide());
    else if (isa<LLVM::SMulWithOverflowOp>(op))
      cell = checked([](auto lhs, auto rhs, auto *result) { return __builtin_mul_overflow(lhs, rhs, result); }, wide(0),
                     wide(1), isWide());
    else if (isa<arith::DivSIOp, arith::RemSIOp>(op))
      cell.number = divide(number(0), number(1), isa<arith::RemSIOp>(op));
    else
      ADD_FAILURE() << "unexpected operation " << op.getName().getStringRef().str();
    return cell;
  }

  template <typename Operation> static Cell checked(Operation operation, __int128 lhs, __int128 rhs, bool isWide) {
    Cell cell{0, false};
    int64_t narrow;
    cell.overflow = isWide ? operation(lhs, rhs, &cell.number)
                           : operation(static_cast<int64_t>(lhs), static_cast<int64_t>(rhs), &narrow);
    if (!isWide)
      cell.number = narrow;
    return cell;
  }

  static int64_t divide(int64_t dividend, int64_t divisor, bool remainder) {
    if (divisor == 0 || (dividend == lowest && divisor == -1)) {
      ADD_FAILURE() << "undefined division " << dividend << " / " << divisor;
      return 0;
    }
    return remainder ? dividend % divisor : dividend / divisor;
  }

  llvm::DenseMap<Value, Cell> values;
};

class LoweringTest : public testing::Test {
protected:
  LoweringTest() { context.loadDialect<SymDialect, arith::ArithDialect, LLVM::LLVMDialect>(); }

  /// Lowers and compares with `evaluate` for many values.
  void check(llvm::StringRef text) {
    llvm::FailureOr<Expr> expr = parseExpr(&context, text);
    ASSERT_TRUE(succeeded(expr)) << text.str();
    OpBuilder builder(&context);
    Location location = builder.getUnknownLoc();
    OwningOpRef<ModuleOp> module = ModuleOp::create(location);
    Block block;
    llvm::StringMap<Value> symbols;
    for (llvm::StringRef name : {"b", "s", "x"})
      symbols[name] = block.addArgument(builder.getI64Type(), location);
    auto symbolValue = [&](llvm::StringRef name) { return symbols.lookup(name); };
    builder.setInsertionPointToStart(&block);
    Value lowered = lowerExpr(builder, location, *expr, symbolValue);

    for (int i = 0; i < 400; ++i) {
      llvm::StringMap<int64_t> numbers;
      Machine machine;
      for (auto &[name, value] : symbols) {
        numbers[name] = draw();
        machine.set(value, numbers[name]);
      }
      machine.run(block);
      std::optional<int64_t> expected =
          expr->evaluate([&](llvm::StringRef name) { return std::optional(numbers.lookup(name)); });
      if (expected)
        ASSERT_EQ(machine.get(lowered), *expected) << text.str();
    }
  }

  int64_t draw() {
    int64_t extremes[] = {0, 1, -1, lowest, lowest + 1, std::numeric_limits<int64_t>::max(), int64_t(1) << 40};
    if (random() % 4 == 0)
      return extremes[random() % std::size(extremes)];
    return static_cast<int64_t>(random() % 101) - 50;
  }

  MLIRContext context;
  std::mt19937_64 random{1};
};

TEST_F(LoweringTest, Polynomials) {
  check("0");
  check("7");
  check("s");
  check("4*s + 1");
  check("b*s*768 - b + 3*x*x");
  check("b*s*x - 3*b*s + 7*s*s*x - b*x*x");
}

TEST_F(LoweringTest, Divisions) {
  check("s floordiv 8");
  check("s floordiv 7");
  check("b + s ceildiv 12");
  check("s mod 5");
  check("s floordiv b");
  check("s ceildiv b");
  check("(b*s) mod (x + 1)");
  check("s floordiv (b floordiv 3)");
}

TEST_F(LoweringTest, Extrema) {
  check("min(s, 512)");
  check("max(s, b, 3)");
  check("2*min(s, b)*x + max(0, s - b)");
}

} // namespace
