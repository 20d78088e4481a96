#ifndef FREESTONE_COMPILER_EXPRESSIONS_INTEGERPRODUCTS_H
#define FREESTONE_COMPILER_EXPRESSIONS_INTEGERPRODUCTS_H

#include "compiler/expressions/Operations.h"

namespace freestone::expressions {

/// Integers of 8 bits that stand for their differences with a zero point in i32: null for 0, a scalar, or a tensor of
/// the integers' rank, with a size of 1 in every dimension that products are summed over.
struct CenteredIntegers {
  Tensor integers, zero;
};

/// The sums in i32 of the products of differences: those of the integers themselves, corrected by sums over each
/// factor.
Tensor contractCentered(CenteredIntegers lhs, CenteredIntegers rhs, const ContractAxes &axes);

/// As `convolve`, without dilation of the operand. The zero point of x is a scalar, with which it is padded; that of w
/// differs between filters alone, and is 0 with several groups. Sums are of the type `wide`, i32 if null.
Tensor convolveCentered(CenteredIntegers x, CenteredIntegers w, Window window, int64_t groups = 1,
                        mlir::Type wide = {});

/// A tensor of the left or right factor's rank, whose sizes along contracted dimensions are 1, in the dimensions of a
/// product, where it broadcasts; a scalar remains one.
Tensor spreadOverProduct(Tensor x, int64_t lhsRank, int64_t rhsRank, const ContractAxes &axes, bool isLhs);

} // namespace freestone::expressions

#endif // FREESTONE_COMPILER_EXPRESSIONS_INTEGERPRODUCTS_H
