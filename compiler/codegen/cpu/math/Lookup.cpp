#include "compiler/codegen/cpu/math/ExpandMath.h"

#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace freestone;

namespace {

/// Tables of 256 bytes in registers.
class Lookup {
public:
  Lookup(ImplicitLocOpBuilder &builder, ArrayRef<int8_t> table, int64_t vectorBytes, bool permutesBytes)
      : b(builder), table(table), vectorBytes(vectorBytes), permutesBytes(permutesBytes) {}

  /// Bytes at positions of any number of lanes.
  Value look(Value positions) {
    auto type = cast<VectorType>(positions.getType());
    int64_t lanes = type.getNumElements(), width = getWidth(lanes);
    if (lanes == width)
      return permutesBytes ? permute(positions) : shuffle(positions);
    if (lanes < width) {
      Value wide = vector::InsertStridedSliceOp::create(b, positions, fill(width, 0), 0, 1);
      return vector::ExtractStridedSliceOp::create(b, look(wide), 0, lanes, 1);
    }
    Value result = positions;
    for (int64_t from = 0; from < lanes; from += width) {
      int64_t count = std::min(width, lanes - from);
      Value part = vector::ExtractStridedSliceOp::create(b, positions, from, count, 1);
      result = vector::InsertStridedSliceOp::create(b, look(part), result, from, 1);
    }
    return result;
  }

private:
  static constexpr int64_t partBytes = 16, permutedBytes = 64;

  /// The lanes of the instructions for so many bytes. Permutations have one width, whatever that of other vectors.
  int64_t getWidth(int64_t lanes) const {
    if (permutesBytes)
      return permutedBytes;
    return std::clamp<int64_t>(llvm::PowerOf2Ceil(lanes), partBytes, vectorBytes);
  }

  Value constant(ArrayRef<int8_t> bytes) {
    auto type = VectorType::get({int64_t(bytes.size())}, b.getI8Type());
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, bytes));
  }

  Value fill(int64_t width, int8_t byte) { return constant(SmallVector<int8_t>(width, byte)); }

  Value call(StringRef intrinsic, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, operands[0].getType(), b.getStringAttr(intrinsic), operands).getResult(0);
  }

  /// Each half of the table is two registers; the highest bit of a position chooses between both (`vpermi2b`).
  Value permute(Value positions) {
    auto half = [&](int64_t from) {
      Value left = constant(table.slice(from, permutedBytes)),
            right = constant(table.slice(from + permutedBytes, permutedBytes));
      return call("llvm.x86.avx512.vpermi2var.qi.512", {left, positions, right});
    };
    Value low = half(0), high = half(2 * permutedBytes);
    Value isHigh = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, positions, fill(permutedBytes, 0));
    return arith::SelectOp::create(b, isHigh, high, low);
  }

  /// Sixteen shuffles within 16 bytes (`vpshufb`), which give 0 where the highest bit of a position is set. Positions
  /// below a part are negative, and stay so: all parts up to that of a position add what they differ by from the part
  /// before.
  Value shuffle(Value positions) {
    int64_t width = cast<VectorType>(positions.getType()).getNumElements();
    Value step = fill(width, partBytes), other = fill(width, -128), result;
    StringRef intrinsic = width == 64   ? "llvm.x86.avx512.pshuf.b.512"
                          : width == 32 ? "llvm.x86.avx2.pshuf.b"
                                        : "llvm.x86.ssse3.pshuf.b.128";
    for (Value place : {positions, Value(arith::XOrIOp::create(b, positions, other))}) {
      bool isLow = place == positions;
      int64_t from = isLow ? 0 : middle;
      for (int64_t part = from; part < from + middle; part += partBytes) {
        if (part != from)
          place = call("llvm.ssub.sat", {place, step});
        SmallVector<int8_t> bytes;
        for (int64_t lane = 0; lane < width; ++lane) {
          int64_t at = part + lane % partBytes;
          bytes.push_back(table[at] ^ (part == from ? 0 : table[at - partBytes]));
        }
        Value found = call(intrinsic, {constant(bytes), place});
        result = result ? arith::XOrIOp::create(b, result, found).getResult() : found;
      }
    }
    return result;
  }

  static constexpr int64_t middle = tile::LookupOp::numbers / 2;

  ImplicitLocOpBuilder &b;
  ArrayRef<int8_t> table;
  int64_t vectorBytes;
  bool permutesBytes;
};

/// Single bytes are loaded from a constant of the module.
Value loadByte(ImplicitLocOpBuilder &b, tile::LookupOp op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), tile::LookupOp::numbers);
  auto value = DenseElementsAttr::get(RankedTensorType::get({tile::LookupOp::numbers}, b.getI8Type()), op.getTable());
  LLVM::GlobalOp global;
  for (auto other : module.getOps<LLVM::GlobalOp>())
    if (other.getValueOrNull() == value)
      global = other;
  if (!global) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    std::string name = "table" + std::to_string(llvm::range_size(module.getOps<LLVM::GlobalOp>()));
    global = LLVM::GlobalOp::create(b, type, /*isConstant=*/true, LLVM::Linkage::Private, name, value);
  }
  Value wide = arith::ExtUIOp::create(b, b.getI64Type(), op.getPosition());
  Value address = LLVM::GEPOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), b.getI8Type(),
                                      LLVM::AddressOfOp::create(b, global), ArrayRef<LLVM::GEPArg>{wide});
  return LLVM::LoadOp::create(b, b.getI8Type(), address);
}

struct ExpandLookup : OpRewritePattern<tile::LookupOp> {
  ExpandLookup(MLIRContext *context, int64_t vectorBytes, bool permutesBytes)
      : OpRewritePattern(context), vectorBytes(vectorBytes), permutesBytes(permutesBytes) {}

  LogicalResult matchAndRewrite(tile::LookupOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    if (!isa<VectorType>(op.getType()))
      rewriter.replaceOp(op, loadByte(builder, op));
    else
      rewriter.replaceOp(op, Lookup(builder, op.getTable(), vectorBytes, permutesBytes).look(op.getPosition()));
    return success();
  }

  int64_t vectorBytes;
  bool permutesBytes;
};

} // namespace

void freestone::codegen::populateExpandLookupPatterns(RewritePatternSet &patterns, unsigned vectorBytes,
                                                      bool permutesBytes) {
  patterns.add<ExpandLookup>(patterns.getContext(), vectorBytes, permutesBytes);
}
