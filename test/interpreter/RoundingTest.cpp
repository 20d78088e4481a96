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

TEST(RoundingTest, IntegersRoundOnce) {
  MLIRContext context;
  auto nearest = [](const llvm::fltSemantics &semantics, uint64_t value, bool isUnsigned) {
    llvm::APFloat number(semantics);
    number.convertFromAPInt(APInt(64, value), !isUnsigned, llvm::APFloat::rmNearestTiesToEven);
    bool isInexact;
    number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &isInexact);
    return number.convertToDouble();
  };
  std::pair<Type, const llvm::fltSemantics *> formats[] = {{Float16Type::get(&context), &llvm::APFloat::IEEEhalf()},
                                                           {BFloat16Type::get(&context), &llvm::APFloat::BFloat()},
                                                           {Float32Type::get(&context), &llvm::APFloat::IEEEsingle()},
                                                           {Float64Type::get(&context), &llvm::APFloat::IEEEdouble()}};
  uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    // A number of 9, 25 or 54 digits, the last of which is a half, and its neighbours.
    int digits = i % 3 == 0 ? 9 : i % 3 == 1 ? 25 : 54, scale = static_cast<int>(state >> 32) % (65 - digits);
    uint64_t half = (state >> (64 - digits) | 1 | 1ull << (digits - 1)) << scale;
    for (uint64_t value : {half - 1, half, half + 1, 0 - half})
      for (bool isUnsigned : {false, true})
        for (auto [type, semantics] : formats)
          ASSERT_EQ(roundInteger(type, static_cast<int64_t>(value), isUnsigned), nearest(*semantics, value, isUnsigned))
              << value;
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
