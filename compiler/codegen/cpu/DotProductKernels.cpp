#include "compiler/codegen/cpu/DotProductKernels.h"

#include "compiler/plan/DotProductLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

static std::string getFunctionName(const tile::DotProductFactors &factors) {
  return "freestone_dot_products_" + factors.getName();
}

static StringRef getFunctionName(TileFunction function) {
  return function == TileFunction::enter ? "freestone_dot_products_enter" : "freestone_dot_products_leave";
}

static FunctionType getKernelType(Builder &builder) {
  Type i64 = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  return builder.getFunctionType({i64, i64, pointer, i64, pointer, pointer, i64, pointer, i64}, {});
}

static func::FuncOp declare(ModuleOp module, StringRef name, FunctionType type) {
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto declaration = func::FuncOp::create(builder, module.getLoc(), name, type);
  declaration.setPrivate();
  return declaration;
}

func::FuncOp freestone::codegen::declareDotProducts(ModuleOp module, const tile::DotProductFactors &factors) {
  Builder builder(module.getContext());
  return declare(module, getFunctionName(factors), getKernelType(builder));
}

func::FuncOp freestone::codegen::declareTileFunction(ModuleOp module, TileFunction function) {
  return declare(module, getFunctionName(function), FunctionType::get(module.getContext(), {}, {}));
}

Value freestone::codegen::addDotProducts(OpBuilder &builder, Location location, const tile::DotProductFactors &factors,
                                         Value sums, Value lhs, Value rhs) {
  int64_t lanes = cast<VectorType>(sums.getType()).getNumElements() * factors.getStepsOfWord();
  auto elements = VectorType::get({lanes}, factors.getElementType(builder.getContext()));
  auto toElements = [&](Value words) -> Value { return vector::BitCastOp::create(builder, location, elements, words); };
  StringRef intrinsic = factors.areIntegers ? "llvm.x86.avx512.vpdpbusd.512" : "llvm.x86.avx512bf16.dpbf16ps.512";
  assert((!factors.areIntegers || factors.isLhsSigned != factors.isRhsSigned) && "one factor is unsigned");
  // The unsigned factor comes first.
  if (factors.areIntegers && factors.isLhsSigned)
    std::swap(lhs, rhs);
  return LLVM::CallIntrinsicOp::create(builder, location, sums.getType(), builder.getStringAttr(intrinsic),
                                       ValueRange{sums, toElements(lhs), toElements(rhs)})
      .getResult(0);
}

namespace {

class DotProductKernelEmitter {
public:
  explicit DotProductKernelEmitter(ModuleOp module)
      : builder(OpBuilder::atBlockEnd(module.getBody())), module(module), location(module.getLoc()),
        i64(builder.getI64Type()), pointer(LLVM::LLVMPointerType::get(builder.getContext())) {}

  void emitTileKernel(const tile::DotProductFactors &factors);
  void emitVectorKernel(const tile::DotProductFactors &factors);
  void emitEnter();
  void emitLeave();

private:
  /// Bytes of a tile's row, of a row of sums or of B, of a tile, and of a group of a strip or panel.
  static constexpr int64_t tileRow = 64, panelRow = 128, tileBytes = 1024, groupBytes = 2048;
  static constexpr int64_t stripRows = tile::DotProductLayout::unit;
  /// Rows that a group prefetches, and the strips that do.
  static constexpr int64_t rowsAhead = 8, stripsAhead = 4;
  /// Rows whose accumulators fit into vector registers, two vectors each; a strip is three blocks.
  static constexpr int64_t blockRows[] = {11, 11, 10};
  /// The heights of blocks that are emitted: with few rows left, the next greater one computes them.
  static constexpr int64_t heights[] = {1, 2, 3, 4, 6, 8, 10, 11};

  func::FuncOp open(StringRef name, FunctionType type);
  void close() { func::ReturnOp::create(builder, location); }
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, location, value); }
  Value word(int64_t value) {
    return LLVM::ConstantOp::create(builder, location, i64, builder.getI64IntegerAttr(value));
  }
  Value toIndex(Value value) { return arith::IndexCastOp::create(builder, location, builder.getIndexType(), value); }
  Value advance(Value base, LLVM::GEPArg bytes) {
    return LLVM::GEPOp::create(builder, location, pointer, builder.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
  }
  Value toWord(Value index) { return arith::IndexCastOp::create(builder, location, i64, index); }
  /// Prefetches a row of a panel, and returns the address of the next one.
  Value prefetchRow(Value row, Value pitch) {
    for (int32_t line = 0; line < panelRow; line += tileRow)
      LLVM::Prefetch::create(builder, location, advance(row, line), /*rw=*/0, /*hint=*/2, /*cache=*/1);
    return advance(row, pitch);
  }
  void call(StringRef intrinsic, ArrayRef<int64_t> tiles, ValueRange rest = {});
  void forStrips(ValueRange arguments, llvm::function_ref<void(Value strip, Value a, Value c)> body);
  void emitIf(Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = {});
  Value isSet(Value word) {
    return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, word,
                                 arith::ConstantIntOp::create(builder, location, i64, 0));
  }
  void addHalves(Value c);
  void forSums(Value c, int64_t count, llvm::function_ref<void(int64_t tile, Value address)> body);
  func::FuncOp emitBlock(const tile::DotProductFactors &factors, int64_t rows);
  void callBlock(ArrayRef<func::FuncOp> blocks, Value rows, int64_t most, ValueRange operands);

  OpBuilder builder;
  ModuleOp module;
  Location location;
  Type i64, pointer;
};

} // namespace

func::FuncOp DotProductKernelEmitter::open(StringRef name, FunctionType type) {
  builder.setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(builder, location, name, type);
  builder.setInsertionPointToStart(function.addEntryBlock());
  return function;
}

void DotProductKernelEmitter::call(StringRef intrinsic, ArrayRef<int64_t> tiles, ValueRange rest) {
  SmallVector<Value> operands = llvm::map_to_vector(tiles, [&](int64_t tile) -> Value {
    return LLVM::ConstantOp::create(builder, location, builder.getI8Type(), builder.getI8IntegerAttr(tile));
  });
  llvm::append_range(operands, rest);
  LLVM::CallIntrinsicOp::create(builder, location, builder.getStringAttr(intrinsic), operands);
}

void DotProductKernelEmitter::forStrips(ValueRange arguments,
                                        llvm::function_ref<void(Value strip, Value a, Value c)> body) {
  Value strips = arith::CeilDivUIOp::create(builder, location, toIndex(arguments[0]), constant(stripRows));
  auto loop =
      scf::ForOp::create(builder, location, constant(0), strips, constant(1), ValueRange{arguments[2], arguments[5]});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value a = loop.getRegionIterArg(0), c = loop.getRegionIterArg(1);
  body(loop.getInductionVar(), a, c);
  scf::YieldOp::create(builder, location, ValueRange{advance(a, arguments[3]), advance(c, stripRows * panelRow)});
}

void DotProductKernelEmitter::emitIf(Value condition, llvm::function_ref<void()> then,
                                     llvm::function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(builder, location, condition, /*withElseRegion=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  then();
  if (!otherwise)
    return;
  builder.setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

/// The parts of A and B whose products count, the small ones first; neighbours share one. Of three parts, the others
/// are below the last bit of the largest product.
static SmallVector<std::pair<int64_t, int64_t>> getPartsOfProducts(const tile::DotProductFactors &factors) {
  assert((factors.parts == 1 || factors.parts == 3) && "an f32 has three parts");
  if (factors.parts == 1)
    return {{0, 0}};
  return {{0, 2}, {0, 1}, {1, 1}, {1, 0}, {2, 0}, {0, 0}};
}

/// The tiles of a strip's accumulators, four row-major, or two of half a strip.
void DotProductKernelEmitter::forSums(Value c, int64_t count,
                                      llvm::function_ref<void(int64_t tile, Value address)> body) {
  for (int64_t tile = 0; tile < count; ++tile)
    body(tile, advance(c, static_cast<int32_t>(tile / 2 * 16 * panelRow + tile % 2 * tileRow)));
}

/// Adds the lower half of a strip's sums of f32 to the upper one.
void DotProductKernelEmitter::addHalves(Value c) {
  auto type = VectorType::get({16}, builder.getF32Type());
  auto loop = scf::ForOp::create(builder, location, constant(0), constant(stripRows / 2), constant(1), ValueRange{c});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value row = loop.getRegionIterArg(0);
  for (int32_t half = 0; half < panelRow; half += tileRow) {
    Value at = advance(row, half), other = advance(row, half + static_cast<int32_t>(stripRows / 2 * panelRow));
    Value sum = arith::AddFOp::create(builder, location, LLVM::LoadOp::create(builder, location, type, at, 64),
                                      LLVM::LoadOp::create(builder, location, type, other, 64));
    LLVM::StoreOp::create(builder, location, sum, at, 64);
  }
  scf::YieldOp::create(builder, location, ValueRange{advance(row, panelRow)});
}

/// Tiles 0 to 3 are accumulators, 4 and 5 rows of A, 6 and 7 columns of B.
void DotProductKernelEmitter::emitTileKernel(const tile::DotProductFactors &factors) {
  ValueRange arguments = open(getFunctionName(factors), getKernelType(builder)).getArguments();
  std::string multiply = "llvm.x86.tdpbf16ps";
  if (factors.areIntegers)
    multiply =
        std::string("llvm.x86.tdpb") + (factors.isLhsSigned ? "s" : "u") + (factors.isRhsSigned ? "s" : "u") + "d";
  Value panelPitch = word(panelRow), tilePitch = word(tileRow), rows = toIndex(arguments[0]);
  auto emitStrip = [&](Value stripA, Value c, int64_t sums, bool passes, Value ahead, Value pitch) {
    // Half a strip has too few accumulators for the latency of products in turns: those of every other part have their
    // own, which are added in the end.
    bool areApart = sums < 4 && factors.parts > 1;
    emitIf(
        isSet(arguments[6]),
        [&] {
          forSums(c, sums,
                  [&](int64_t tile, Value address) { call("llvm.x86.tileloadd64", tile, {address, panelPitch}); });
        },
        [&] { forSums(c, sums, [&](int64_t tile, Value) { call("llvm.x86.tilezero", tile); }); });
    for (int64_t tile = sums; areApart && tile < 2 * sums; ++tile)
      call("llvm.x86.tilezero", tile);
    auto loop = scf::ForOp::create(builder, location, constant(0), toIndex(arguments[1]), constant(1),
                                   ValueRange{stripA, arguments[4], ahead});
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Value a = loop.getRegionIterArg(0), b = loop.getRegionIterArg(1), next = loop.getRegionIterArg(2);
      auto load = [&](int64_t tile, Value base, int64_t bytes, Value pitch) {
        call("llvm.x86.tileloadd64", tile, {advance(base, static_cast<int32_t>(bytes)), pitch});
      };
      auto bytes = static_cast<int32_t>(factors.parts * groupBytes);
      Value coming;
      if (passes) {
        // The next group; behind the last comes the first of the next panel.
        Value number = arith::AddIOp::create(builder, location, loop.getInductionVar(), constant(1));
        Value isInside =
            arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, number, toIndex(arguments[1]));
        coming = arith::SelectOp::create(builder, location, isInside, advance(b, bytes), arguments[7]);
      }
      auto products = getPartsOfProducts(factors);
      // Spread over the products.
      auto prefetch = [&](size_t number) {
        auto share = [&](int64_t all, size_t done) { return static_cast<int32_t>(all * done / products.size()); };
        constexpr int32_t line = tileRow;
        for (int32_t at = share(bytes / line, number); passes && at < share(bytes / line, number + 1); ++at)
          LLVM::Prefetch::create(builder, location, advance(coming, at * line), /*rw=*/0, /*hint=*/3, /*cache=*/1);
        bool hasRows = factors.parts > 1 && !passes && !areApart;
        for (int32_t row = share(rowsAhead, number); hasRows && row < share(rowsAhead, number + 1); ++row)
          next = prefetchRow(next, pitch);
      };
      auto multiplyApart = [&] {
        int64_t partsOfA[] = {-1, -1}, partOfB = -1;
        for (auto [number, parts] : llvm::enumerate(products)) {
          auto [ofA, ofB] = parts;
          prefetch(number);
          if (std::exchange(partOfB, ofB) != ofB)
            for (int64_t half = 0; half < 2; ++half)
              load(6 + half, b, ofB * groupBytes + half * tileRow, panelPitch);
          // The largest part stays in its tile.
          int64_t place = ofA > 0, first = number % 2 == 0 ? 2 : 0;
          if (std::exchange(partsOfA[place], ofA) != ofA)
            load(4 + place, a, ofA * groupBytes, tilePitch);
          call(multiply, {first, 4 + place, 6});
          call(multiply, {first + 1, 4 + place, 7});
        }
      };
      auto multiplyTogether = [&] {
        int64_t partOfA = -1, partOfB = -1;
        for (auto [number, parts] : llvm::enumerate(products)) {
          auto [ofA, ofB] = parts;
          prefetch(number);
          bool isNewA = std::exchange(partOfA, ofA) != ofA, isNewB = std::exchange(partOfB, ofB) != ofB;
          if (isNewB)
            load(6, b, ofB * groupBytes, panelPitch);
          if (isNewA)
            load(4, a, ofA * groupBytes, tilePitch);
          call(multiply, {0, 4, 6});
          if (isNewB)
            load(7, b, ofB * groupBytes + tileRow, panelPitch);
          call(multiply, {1, 4, 7});
          if (sums < 4)
            continue;
          if (isNewA)
            load(5, a, ofA * groupBytes + tileBytes, tilePitch);
          call(multiply, {2, 5, 6});
          call(multiply, {3, 5, 7});
        }
      };
      if (areApart)
        multiplyApart();
      else
        multiplyTogether();
      scf::YieldOp::create(builder, location, ValueRange{advance(a, bytes), advance(b, bytes), next});
    }
    forSums(c, areApart ? 2 * sums : sums, [&](int64_t tile, Value address) {
      call("llvm.x86.tilestored64", tile, {address, panelPitch});
    });
    if (areApart)
      addHalves(c);
  };
  forStrips(arguments, [&](Value strip, Value stripA, Value c) {
    Value before = arith::MulIOp::create(builder, location, strip, constant(stripRows));
    Value left = arith::SubIOp::create(builder, location, rows, before);
    Value isWhole = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sgt, left, constant(stripRows / 2));
    auto emitEither = [&](bool passes, Value ahead, Value pitch) {
      emitIf(
          isWhole, [&] { emitStrip(stripA, c, 4, passes, ahead, pitch); },
          [&] { emitStrip(stripA, c, 2, passes, ahead, pitch); });
    };
    // Later strips prefetch the first row again.
    Value isFirst = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, strip, constant(stripsAhead));
    Value pitch = arith::SelectOp::create(builder, location, isFirst, toIndex(arguments[8]), constant(0));
    Value groups = arith::MulIOp::create(builder, location, strip, toIndex(arguments[1]));
    Value distance = arith::MulIOp::create(
        builder, location, arith::MulIOp::create(builder, location, groups, constant(rowsAhead)), pitch);
    Value ahead = advance(arguments[7], toWord(distance)), pitchWord = toWord(pitch);
    if (factors.parts == 1)
      return emitEither(/*passes=*/false, ahead, pitchWord);
    Value isOne = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, strip, constant(0));
    Value passes = arith::AndIOp::create(
        builder, location, isOne,
        arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, toIndex(arguments[8]), constant(0)));
    emitIf(
        passes, [&] { emitEither(/*passes=*/true, ahead, pitchWord); },
        [&] { emitEither(/*passes=*/false, ahead, pitchWord); });
  });
  close();
}

/// Emits a function that accumulates a block of rows in vectors:
///   void block(i64 groups, ptr A, ptr B, ptr C, i64 accumulate)
func::FuncOp DotProductKernelEmitter::emitBlock(const tile::DotProductFactors &factors, int64_t rows) {
  FunctionType type = builder.getFunctionType({i64, pointer, pointer, pointer, i64}, {});
  func::FuncOp function = open("block_" + std::to_string(rows), type);
  function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  ValueRange arguments = function.getArguments();
  Value groups = arguments[0], a = arguments[1], b = arguments[2], c = arguments[3];
  auto sumType = VectorType::get({16}, factors.getSumType(builder.getContext()));
  auto wordType = VectorType::get({16}, builder.getI32Type());
  Value zeros = arith::ConstantOp::create(builder, location, builder.getZeroAttr(sumType));
  SmallVector<Value> addresses, state;
  for (int64_t number = 0; number < 2 * rows; ++number)
    addresses.push_back(advance(c, static_cast<int32_t>(number * tileRow)));
  auto before = scf::IfOp::create(
      builder, location, isSet(arguments[4]),
      [&](OpBuilder &, Location) {
        SmallVector<Value> sums = llvm::map_to_vector(addresses, [&](Value address) -> Value {
          return LLVM::LoadOp::create(builder, location, sumType, address, 64);
        });
        scf::YieldOp::create(builder, location, sums);
      },
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(builder, location, SmallVector<Value>(addresses.size(), zeros));
      });
  llvm::append_range(state, before.getResults());
  state.append({a, b});
  auto groupLoop = scf::ForOp::create(builder, location, constant(0), toIndex(groups), constant(1), state);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(groupLoop.getBody());
    Value groupA = groupLoop.getRegionIterArgs()[2 * rows];
    auto loop =
        scf::ForOp::create(builder, location, constant(0), constant(16), constant(1), groupLoop.getRegionIterArgs());
    {
      OpBuilder::InsertionGuard inner(builder);
      builder.setInsertionPointToStart(loop.getBody());
      ValueRange values = loop.getRegionIterArgs();
      Value left = values[2 * rows], right = values[2 * rows + 1];
      SmallVector<Value> next, columns;
      for (int32_t half = 0; half < 2; ++half)
        columns.push_back(LLVM::LoadOp::create(builder, location, wordType,
                                               advance(right, half * static_cast<int32_t>(tileRow)), 64));
      for (int64_t row = 0; row < rows; ++row) {
        Value word = LLVM::LoadOp::create(builder, location, builder.getI32Type(),
                                          advance(left, static_cast<int32_t>(row * tileRow)), 4);
        Value spread = vector::BroadcastOp::create(builder, location, wordType, word);
        for (int64_t half = 0; half < 2; ++half)
          next.push_back(addDotProducts(builder, location, factors, values[2 * row + half], spread, columns[half]));
      }
      next.push_back(advance(left, 4));
      next.push_back(advance(right, static_cast<int32_t>(panelRow)));
      scf::YieldOp::create(builder, location, next);
    }
    SmallVector<Value> next(loop.getResults());
    next[2 * rows] = advance(groupA, groupBytes);
    scf::YieldOp::create(builder, location, next);
  }
  for (auto [address, sum] : llvm::zip(addresses, groupLoop.getResults()))
    LLVM::StoreOp::create(builder, location, sum, address, 64);
  close();
  return function;
}

/// Calls the lowest block with so many rows, of which there are 1 to `most`.
void DotProductKernelEmitter::callBlock(ArrayRef<func::FuncOp> blocks, Value rows, int64_t most, ValueRange operands) {
  SmallVector<int64_t> cases;
  for (int64_t used = 1; used < most; ++used)
    cases.push_back(used);
  auto choice = scf::IndexSwitchOp::create(builder, location, TypeRange{}, rows, cases, cases.size());
  auto emitCall = [&](Region &region, int64_t used) {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&region);
    func::CallOp::create(builder, location, blocks[llvm::lower_bound(heights, used) - std::begin(heights)], operands);
    scf::YieldOp::create(builder, location);
  };
  for (auto [region, used] : llvm::zip_equal(choice.getCaseRegions(), cases))
    emitCall(region, used);
  emitCall(choice.getDefaultRegion(), most);
}

void DotProductKernelEmitter::emitVectorKernel(const tile::DotProductFactors &factors) {
  SmallVector<func::FuncOp> blocks;
  for (int64_t rows : heights)
    blocks.push_back(emitBlock(factors, rows));
  ValueRange arguments = open(getFunctionName(factors), getKernelType(builder)).getArguments();
  Value rows = toIndex(arguments[0]);
  forStrips(arguments, [&](Value strip, Value a, Value c) {
    Value before = arith::MulIOp::create(builder, location, strip, constant(stripRows));
    Value left = arith::SubIOp::create(builder, location, rows, before);
    int64_t first = 0;
    for (int64_t most : blockRows) {
      Value some = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sgt, left, constant(first));
      emitIf(some, [&] {
        Value inBlock = arith::SubIOp::create(builder, location, left, constant(first));
        callBlock(blocks, inBlock, most,
                  {arguments[1], advance(a, static_cast<int32_t>(first * tileRow)), arguments[4],
                   advance(c, static_cast<int32_t>(first * panelRow)), arguments[6]});
      });
      first += most;
    }
  });
  close();
}

/// Configures all tiles with 16 rows of 64 bytes.
void DotProductKernelEmitter::emitEnter() {
  open(getFunctionName(TileFunction::enter), builder.getFunctionType({}, {}));
  // Palette 1; from byte 16, the row length of each tile in 16 bits; from byte 48, its number of rows in 8 bits.
  constexpr int64_t rowBytes = 0x0040'0040'0040'0040, rows = 0x1010'1010'1010'1010;
  constexpr int64_t words[] = {1, 0, rowBytes, rowBytes, 0, 0, rows, 0};
  Value configuration = LLVM::AllocaOp::create(builder, location, pointer, i64, word(std::size(words)), 64);
  for (auto [number, value] : llvm::enumerate(words))
    LLVM::StoreOp::create(builder, location, word(value), advance(configuration, static_cast<int32_t>(8 * number)), 8);
  call("llvm.x86.ldtilecfg", {}, configuration);
  close();
}

void DotProductKernelEmitter::emitLeave() {
  open(getFunctionName(TileFunction::leave), builder.getFunctionType({}, {}));
  call("llvm.x86.tilerelease", {});
  close();
}

static ModuleOp nest(ModuleOp module, StringRef name) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  return ModuleOp::create(builder, module.getLoc(), name);
}

void freestone::codegen::emitDotProductKernel(ModuleOp module, const tile::DotProductFactors &factors,
                                              tile::DotProductUnit unit) {
  DotProductKernelEmitter emitter(nest(module, "dot_products_" + factors.getName()));
  if (unit == tile::DotProductUnit::vectors)
    return emitter.emitVectorKernel(factors);
  emitter.emitTileKernel(factors);
}

void freestone::codegen::emitTileFunctions(ModuleOp module) {
  DotProductKernelEmitter emitter(nest(module, tileModuleName));
  emitter.emitEnter();
  emitter.emitLeave();
}
