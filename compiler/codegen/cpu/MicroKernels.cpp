#include "compiler/codegen/cpu/MicroKernels.h"

#include "compiler/codegen/cpu/InnerKernel.h"
#include "compiler/codegen/cpu/KernelBlocks.h"
#include "compiler/codegen/cpu/UpdateKernel.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

static FunctionType getKernelType(OpBuilder &builder, KernelKind kind);

namespace {

/// Emits the blocks of a shape, and the driver that calls them.
class KernelEmitter : KernelBlocks {
public:
  KernelEmitter(OpBuilder &builder, Location location, KernelKind kind, Type elementType, tile::MicroKernelAttr shape)
      : KernelBlocks(builder, location, kind, elementType, shape) {}

  void emit();

private:
  void emitDriver();

  /// Keyed by height; plus `prefetchingKey` for variants with prefetching, which are at least `leastPrefetching` high.
  /// Blocks of up to `mostNarrow` columns are keyed by their number of columns plus `narrowKey`, those of a last
  /// panel's vectors by their height plus `lastKey`.
  SmallVector<std::pair<int64_t, func::FuncOp>> blocks;
  static constexpr int64_t prefetchingKey = 64, narrowKey = 128, lastKey = 256;
  /// Blocks that prefetch a packed panel together, where there are as many: memory brings no line in each of their steps.
  static constexpr int64_t blocksOfPanel = 4;
  /// Multiply-adds of vectors that take as long as to store one sum of such columns.
  static constexpr int64_t stepsOfStore = 8;
  int64_t leastPrefetching = 0, mostNarrow = 0, mostLast = 0;
};

} // namespace

/// Calls the block of the given height while enough rows are left, then one for the rest. The first calls prefetch: a
/// line of each of the next panel's rows; those of `apart` groups of rows.
void KernelEmitter::emitDriver() {
  OpBuilder::InsertionGuard guard(builder);
  bool isInPlace = readsInPlace(kind);
  Type i64 = builder.getI64Type();
  auto function =
      func::FuncOp::create(builder, location, getKernelName(kind, elementType, shape), getKernelType(builder, kind));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  ValueRange arguments = entry->getArguments();
  Value rows = arguments[0], most = arguments[1], columns = arguments[2], depth = arguments[3], a = arguments[4],
        offsets = arguments[5], b = arguments[isInPlace ? 6 : 5], c = arguments[isInPlace ? 7 : 6];
  Value ldc = isInPlace ? word(shape.getWidth()) : arguments[7], accumulate = arguments[8];
  auto add = [&](Value x, Value y) -> Value { return arith::AddIOp::create(builder, location, x, y); };
  auto multiply = [&](Value x, Value y) -> Value { return arith::MulIOp::create(builder, location, x, y); };
  auto compare = [&](arith::CmpIPredicate predicate, Value x, int64_t y) -> Value {
    return arith::CmpIOp::create(builder, location, predicate, x, word(y));
  };
  auto select = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(builder, location, condition, x, y);
  };
  Value brought = c, broughtPitch;
  if (isInPlace) {
    Value adds = compare(arith::CmpIPredicate::ne, accumulate, 0);
    broughtPitch = select(adds, word(shape.getWidth() * bytes), word(0));
  } else {
    brought = arguments[11];
    broughtPitch = arguments[12];
  }
  auto fits = [&](int64_t most) { return compare(arith::CmpIPredicate::sle, columns, most); };
  Value distanceOfShare = word(lineBytes), pitchAhead = arguments[10], shares = word(getPanelLines(elementType, shape));
  if (packsRows(kind) && !streams(kind)) {
    // A share is one line of each row, or neighbouring rows, which follow each other in packed panels.
    int64_t rowBytes = shape.getWidth() * bytes, ofStep = rowBytes / blocksOfPanel;
    Value isPacked = compare(arith::CmpIPredicate::eq, arguments[10], rowBytes);
    Value areEnough = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sgt, rows,
                                            multiply(most, word(blocksOfPanel - 1)));
    Value areRows = arith::AndIOp::create(builder, location, isPacked, areEnough);
    distanceOfShare = select(areRows, multiply(depth, word(ofStep)), distanceOfShare);
    pitchAhead = select(areRows, word(ofStep), pitchAhead);
    shares = select(areRows, word(blocksOfPanel), shares);
  }
  Value isNarrow = mostNarrow > 0 ? fits(mostNarrow) : Value();
  Value isLast = mostLast > 0 ? fits(mostLast) : Value();
  scf::WhileOp::create(
      builder, location, TypeRange{i64, pointer, pointer, i64, pointer},
      ValueRange{rows, a, c, isInPlace && kind != KernelKind::apart ? arguments[10] : word(0), brought},
      [&](OpBuilder &, Location, ValueRange values) {
        scf::ConditionOp::create(builder, location, compare(arith::CmpIPredicate::sgt, values[0], 0), values);
      },
      [&](OpBuilder &, Location, ValueRange values) {
        Value used = arith::MinSIOp::create(builder, location, values[0], most), height = used;
        if (readsScratch(kind))
          height = arith::AndIOp::create(builder, location, add(used, word(1)), word(-2));
        Value pitch = isInPlace ? word(shape.getWidth() * bytes) : pitchAhead;
        Value distance = streams(kind) ? word(0) : multiply(values[3], distanceOfShare), first = arguments[9];
        Value isAhead = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, values[3], shares);
        if (kind == KernelKind::apart) {
          auto isBefore = [&](Value end) -> Value {
            return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, values[3], end);
          };
          Value isOfB = isBefore(arguments[14]);
          Value group = select(isOfB, values[3], arith::SubIOp::create(builder, location, values[3], arguments[14]));
          first = select(isOfB, arguments[12], arguments[9]);
          pitch = select(isOfB, arguments[13], arguments[10]);
          distance = multiply(multiply(group, word(getGroupAhead(elementType))), pitch);
          isAhead = isBefore(add(arguments[11], arguments[14]));
        }
        Value ahead = element(first, builder.getI8Type(), distance);
        Value prefetches = arith::AndIOp::create(builder, location, isAhead,
                                                 compare(arith::CmpIPredicate::sge, height, leastPrefetching));
        Value key = hasPrefetchingBlocks(kind) ? select(prefetches, add(height, word(prefetchingKey)), height) : height;
        if (isLast)
          key = select(isLast, add(height, word(lastKey)), key);
        Value alongRows = isNarrow;
        if (isNarrow) {
          // What columns save in each step of k repays that their sums are stored one by one.
          Value saved = multiply(depth, arith::SubIOp::create(builder, location, height, columns));
          Value stored = multiply(multiply(height, columns), word(stepsOfStore));
          Value repays = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sgt, saved, stored);
          alongRows = arith::AndIOp::create(builder, location, isNarrow, repays);
        }
        if (alongRows)
          key = select(alongRows, add(columns, word(narrowKey)), key);
        SmallVector<int64_t> cases =
            llvm::map_to_vector(ArrayRef(blocks).drop_back(), [](auto &block) { return block.first; });
        bringRows(used, values[4], broughtPitch);
        auto choice = scf::IndexSwitchOp::create(builder, location, TypeRange{}, toIndex(key), cases, cases.size());
        auto emitCall = [&](Region &region, func::FuncOp block) {
          OpBuilder::InsertionGuard caseGuard(builder);
          builder.createBlock(&region);
          SmallVector<Value> operands = {columns,    depth,  values[1], values[2], ldc,
                                         accumulate, height, ahead,     pitch,     isInPlace ? offsets : values[1]};
          for (int32_t step = 0; step < unroll; ++step)
            operands.push_back(getRight(b, step, pitch));
          func::CallOp::create(builder, location, block, operands);
          scf::YieldOp::create(builder, location);
        };
        for (auto [region, block] : llvm::zip_equal(choice.getCaseRegions(), ArrayRef(blocks).drop_back()))
          emitCall(region, block.second);
        emitCall(choice.getDefaultRegion(), blocks.back().second);

        Value nextRows = kind == KernelKind::unpacked
                             ? element(values[1], builder.getI8Type(), multiply(height, pitch))
                             : element(values[1], multiply(height, isInPlace ? word(rowPitch) : depth));
        scf::YieldOp::create(builder, location,
                             ValueRange{arith::SubIOp::create(builder, location, values[0], used), nextRows,
                                        element(values[2], multiply(height, ldc)), add(values[3], word(1)),
                                        element(values[4], builder.getI8Type(), multiply(height, broughtPitch))});
      });
  func::ReturnOp::create(builder, location);
}

void KernelEmitter::emit() {
  int64_t mostRows = shape.getRows(), unit = readsScratch(kind) ? 2 : 1;
  leastPrefetching = llvm::divideCeil(mostRows, 2);
  if (!streams(kind) && shape.getLastVectors() > 0) {
    mostLast = shape.getLastVectors() * lanes;
    int64_t most = kind == KernelKind::unpacked ? getUnpackedRows(shape, shape.getLastVectors()) : mostRows;
    for (int64_t rows = unit; rows <= most; rows += unit)
      blocks.emplace_back(rows + lastKey, emitBlock(rows, shape.getLastVectors(), /*prefetches=*/false));
  }
  if (packsRows(kind) && !streams(kind) && mostRows <= lanes)
    for (int64_t width = 1; width <= 8; width *= 2) {
      func::FuncOp block = emitNarrowBlock(width);
      while (mostNarrow < width)
        blocks.emplace_back(narrowKey + ++mostNarrow, block);
    }
  for (int64_t rows = unit; rows <= mostRows; rows += unit) {
    blocks.emplace_back(rows, emitBlock(rows, shape.getVectors(), /*prefetches=*/streams(kind)));
    if (hasPrefetchingBlocks(kind) && rows >= leastPrefetching)
      blocks.emplace_back(rows + prefetchingKey, emitBlock(rows, shape.getVectors(), /*prefetches=*/true));
  }
  emitDriver();
}

static std::string getTypeName(Type type) {
  return (isa<FloatType>(type) ? "f" : "i") + std::to_string(type.getIntOrFloatBitWidth());
}

static StringRef getKindName(KernelKind kind) {
  static constexpr StringRef names[] = {"contract", "stream", "unpacked", "update", "inner", "pairs",
                                        "window",   "down",   "across",   "apart",  "listed"};
  return names[static_cast<unsigned>(kind)];
}

/// A kernel's name by kind, type and shape: rows, columns and steps of a block, and their order.
static std::string getShapedName(KernelKind kind, Type elementType, tile::MicroKernelAttr shape) {
  return (getKindName(kind) + "_" + getTypeName(elementType) + "_" + Twine(shape.getRows()) + "x" +
          Twine(shape.getWidth()) + "x" + Twine(shape.getUnroll()) + (shape.getInOrder() ? "_in_order" : ""))
      .str();
}

int64_t freestone::codegen::getPanelLines(Type elementType, tile::MicroKernelAttr shape) {
  return llvm::divideCeil(shape.getWidth() * elementType.getIntOrFloatBitWidth() / 8, lineBytes);
}

std::string freestone::codegen::getKernelName(KernelKind kind, Type elementType, tile::MicroKernelAttr shape) {
  return "freestone_" + getShapedName(kind, elementType, shape);
}

static FunctionType getKernelType(OpBuilder &builder, KernelKind kind) {
  Type i64 = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  if (kind == KernelKind::update)
    return builder.getFunctionType({i64, i64, i64, pointer, pointer, i64, pointer, i64, i64, i64, i64}, {});
  if (kind == KernelKind::inner)
    return builder.getFunctionType({i64, i64, i64, pointer, i64, pointer, i64, i64, pointer, i64, i64}, {});
  if (kind == KernelKind::apart)
    return builder.getFunctionType({i64, i64, i64, i64, pointer, pointer, pointer, pointer, i64, pointer, i64, i64,
                                    pointer, i64, i64},
                                   {});
  if (readsInPlace(kind))
    return builder.getFunctionType({i64, i64, i64, i64, pointer, pointer, pointer, pointer, i64, pointer, i64}, {});
  return builder.getFunctionType({i64, i64, i64, i64, pointer, pointer, pointer, i64, i64, pointer, i64, pointer, i64},
                                 {});
}

func::FuncOp freestone::codegen::declareKernel(ModuleOp module, KernelKind kind, Type elementType,
                                               tile::MicroKernelAttr shape) {
  std::string name = getKernelName(kind, elementType, shape);
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto function = func::FuncOp::create(builder, module.getLoc(), name, getKernelType(builder, kind));
  function.setPrivate();
  return function;
}

Value freestone::codegen::getBlockHeight(Emission &emission, Value rows, int64_t most, int64_t unit) {
  Value one = emission.getConstant(1);
  Value blocks = emission.maximum(one, emission.ceilDivide(rows, emission.getConstant(most)));
  Value height = emission.ceilDivide(rows, blocks), step = emission.getConstant(unit);
  return emission.maximum(step, emission.multiply(emission.ceilDivide(height, step), step));
}

void freestone::codegen::emitMicroKernels(ModuleOp module, KernelKind kind, Type elementType,
                                          tile::MicroKernelAttr shape) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto nested = ModuleOp::create(builder, module.getLoc(), getShapedName(kind, elementType, shape));
  builder.setInsertionPointToStart(nested.getBody());
  if (kind != KernelKind::update && kind != KernelKind::inner)
    return KernelEmitter(builder, module.getLoc(), kind, elementType, shape).emit();
  auto function = func::FuncOp::create(builder, module.getLoc(), getKernelName(kind, elementType, shape),
                                       getKernelType(builder, kind));
  if (kind == KernelKind::update)
    emitUpdateKernel(function, elementType, shape.getLanes());
  else
    emitInnerKernel(function, elementType, shape);
}
