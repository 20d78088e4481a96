#include "compiler/grad/ElementWork.h"

#include "compiler/dialect/graph/GraphDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace freestone;

int64_t grad::getWorkOfElement(Operation *op) {
  using Unary = graph::UnaryKind;
  using Binary = graph::BinaryKind;
  constexpr int64_t function = 20, quotient = 10;
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case([](graph::UnaryOp unary) {
        constexpr Unary simple[] = {Unary::neg, Unary::abs, Unary::sign, Unary::floor, Unary::ceil, Unary::round,
                                    Unary::trunc, Unary::not_, Unary::isnan, Unary::isinf_pos, Unary::isinf_neg};
        constexpr Unary quotients[] = {Unary::sqrt, Unary::rsqrt, Unary::reciprocal};
        return llvm::is_contained(simple, unary.getKind())      ? 1
               : llvm::is_contained(quotients, unary.getKind()) ? quotient
                                                                : function;
      })
      .Case([](graph::BinaryOp binary) {
        switch (binary.getKind()) {
        case Binary::pow:
        case Binary::atan2:
          return function;
        case Binary::div:
        case Binary::rem:
        case Binary::mod:
          return quotient;
        default:
          return int64_t(1);
        }
      })
      .Case([](graph::RandomBitsOp) { return function; })
      .Default([](Operation *) { return 1; });
}
