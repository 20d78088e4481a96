#include "compiler/interpreter/Rounding.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;

namespace freestone::interpreter {
namespace {

/// Against LLVM's own arithmetic.
uint16_t encodeByLlvm(const llvm::fltSemantics &semantics, double value) {
  llvm::APFloat number(value);
  bool inexact;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

TEST(RoundingTest, AllNarrowFloatsComeBack) {
  MLIRContext context;
  for (Type type : {Type(Float16Type::get(&context)), Type(BFloat16Type::get(&context))})
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      double value = decodeNarrow(type, bits);
      if (!std::isnan(value)) {
        ASSERT_EQ(encodeNarrow(type, value), bits);
        ASSERT_EQ(roundTo(type, value), value);
      }
    }
}

TEST(RoundingTest, RoundsAsLlvmDoes) {
  MLIRContext context;
  uint64_t state = 1;
  for (int i = 0; i < 200000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    double value =
        std::ldexp(static_cast<double>(static_cast<int64_t>(state)) * 0x1p-63, static_cast<int>(state % 60) - 40);
    Type half = Float16Type::get(&context), brain = BFloat16Type::get(&context);
    ASSERT_EQ(encodeNarrow(half, roundTo(half, value)), encodeByLlvm(llvm::APFloat::IEEEhalf(), value)) << value;
    ASSERT_EQ(encodeNarrow(brain, roundTo(brain, value)), encodeByLlvm(llvm::APFloat::BFloat(), value)) << value;
  }
}

TEST(RoundingTest, Integers) {
  MLIRContext context;
  Type i8 = IntegerType::get(&context, 8), ui8 = IntegerType::get(&context, 8, IntegerType::Unsigned);
  EXPECT_EQ(wrapTo(i8, 200), -56);
  EXPECT_EQ(wrapTo(ui8, -1), 255);
  EXPECT_EQ(wrapTo(IntegerType::get(&context, 1), 3), 1);
  EXPECT_EQ(getSmallest(i8), -128);
  EXPECT_EQ(getLargest(ui8), 255);
}

} // namespace
} // namespace freestone::interpreter
