#include "compiler/plan/FormTrees.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace freestone;

/// The tree of a gradient of [64, 8] filters of so many taps; `freestone inspect --tiles` shows the trees of
/// convolutions and windows, gradients of weights are in training steps.
static std::string getTreeOfGradient(int64_t taps, llvm::StringRef numbers) {
  MLIRContext context;
  context.loadDialect<sym::SymDialect, graph::GraphDialect, tile::TileDialect, arith::ArithDialect>();
  std::string source = llvm::formatv(R"(
tile.program @p symbols [](%x: !graph.tensor<[8, 4, 14, 14], f32>, %g: !graph.tensor<[4, 64, 14, 14], f32>)
    -> (!graph.tensor<[8, 64, {0}, {0}], f32>) {{
  %0 = tile.compute [8, 64, {0}, {0}, 4, 14, 14] [parallel, parallel, parallel, parallel, reduction, reduction, reduction]
      ins(%x : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - {1}, d3 + d6 - {1})>,
          %g : affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d1, d5, d6)>)
      fill [0.0 : f32, unit] init [0.0 : f32] {{
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!graph.tensor<[8, 4, 14, 14], f32>, !graph.tensor<[4, 64, 14, 14], f32>) -> !graph.tensor<[8, 64, {0}, {0}], f32>
  tile.return %0 : !graph.tensor<[8, 64, {0}, {0}], f32>
})",
                                     taps, taps / 2);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  std::string kernel = "#tile.weight_gradient<kernel = <rows = 14, vectors = 2, lanes = 16, unroll = 2>, ";
  auto tiling = dyn_cast_or_null<tile::WeightGradientTilingAttr>(parseAttribute(kernel + numbers.str(), &context));
  if (!module || !tiling)
    return "";
  tile::ProgramOp program = *module->getOps<tile::ProgramOp>().begin();
  tile::WeightGradientForm form = *tile::WeightGradientForm::get(program.getComputes().front());
  std::string text;
  llvm::raw_string_ostream(text) << tile::getTree(form, tile::WeightGradientTiles::get(form, tiling), /*computes=*/1);
  return text;
}

TEST(FormTreesTest, WeightGradientSumsOverPartsThenEvaluates) {
  // Seven of 14 rows have 98 positions.
  EXPECT_EQ(getTreeOfGradient(3, "places = 98, plane = 65536, sums = 1, least_tiles = 1>"),
            "[#tile.blocks<axis = 1, step = 8, dealt = true, body = ["
            "#tile.blocks<axis = 2, step = 1, dealt = true, body = ["
            "#tile.blocks<axis = 3, step = 1, dealt = false, body = ["
            "#tile.blocks<axis = 4, step = 7, dealt = false, body = [#tile.packed<compute = 0, input = 0>, "
            "#tile.blocks<axis = 2, step = 1, dealt = false, body = [#tile.packed<compute = 0, input = 1>, "
            "#tile.multiply<compute = 0, columns = 2>]>]>]>, "
            "#tile.blocks<axis = 2, step = 1, dealt = false, body = ["
            "#tile.blocks<axis = 1, step = 1, dealt = false, body = ["
            "#tile.blocks<axis = 5, step = 1, dealt = false, body = ["
            "#tile.blocks<axis = 6, step = 1, dealt = false, body = ["
            "#tile.vectors<axis = 7, lanes = 16, together = 1, body = [#tile.evaluate<lanes = 7, along = 1>]>"
            "]>]>]>]>]>]>]");
}

TEST(FormTreesTest, WeightGradientOfSingleTapsMayCopyChannelsApart) {
  std::string text = getTreeOfGradient(1, "places = 196, plane = 65536, sums = 1, least_tiles = 1, apart = true>");
  EXPECT_TRUE(llvm::StringRef(text).contains("#tile.packed<compute = 0, input = 0, apart = true>")) << text;
}

/// Blocks of rows and columns of a transposition, and squares of them; vectors along rows where results are
/// interleaved.
static std::string getTreeOfTransposition(llvm::StringRef shape, llvm::StringRef map, llvm::StringRef tilingText) {
  MLIRContext context;
  context.loadDialect<sym::SymDialect, graph::GraphDialect, tile::TileDialect>();
  std::string source = llvm::formatv(R"(
tile.program @p symbols [](%x: !graph.tensor<[5, 3, 700], f32>) -> (!graph.tensor<[{0}], f32>) {{
  %0 = tile.compute [{0}] [parallel, parallel, parallel] ins(%x : affine_map<(d0, d1, d2) -> ({1})>) {{
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[5, 3, 700], f32>) -> !graph.tensor<[{0}], f32>
  tile.return %0 : !graph.tensor<[{0}], f32>
})",
                                     shape, map);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  auto tiling = dyn_cast_or_null<tile::TranspositionTilingAttr>(parseAttribute(tilingText, &context));
  if (!module || !tiling)
    return "";
  tile::ComputeOp compute = (*module->getOps<tile::ProgramOp>().begin()).getComputes().front();
  std::string text;
  llvm::raw_string_ostream(text) << tile::getTree(tile::TranspositionTiles::get(compute, tiling), tiling,
                                                  /*computes=*/1);
  return text;
}

TEST(FormTreesTest, TranspositionGoesSquareBySquare) {
  EXPECT_EQ(
      getTreeOfTransposition("700, 3, 5", "d2, d1, d0",
                             "#tile.transposition<across = 0, rows = 64, columns = 32, width = 8, lanes = 8>"),
      "[#tile.blocks<axis = 0, step = 1, dealt = true, body = ["
      "#tile.blocks<axis = 1, step = 64, dealt = true, body = ["
      "#tile.blocks<axis = 2, step = 32, dealt = true, body = ["
      "#tile.blocks<axis = 1, step = 8, dealt = false, body = ["
      "#tile.blocks<axis = 2, step = 8, dealt = false, body = [#tile.evaluate<computes = [0], lanes = 2, along = 1>]>"
      "]>]>]>]>]");
}

TEST(FormTreesTest, InterleavedTranspositionHasVectorsAlongRows) {
  EXPECT_EQ(
      getTreeOfTransposition("5, 700, 3", "d0, d2, d1",
                             "#tile.transposition<across = 1, rows = 512, columns = 3, width = 3, lanes = 8>"),
      "[#tile.blocks<axis = 0, step = 1, dealt = true, body = ["
      "#tile.blocks<axis = 1, step = 512, dealt = true, body = ["
      "#tile.blocks<axis = 2, step = 3, dealt = true, body = ["
      "#tile.blocks<axis = 1, step = 8, dealt = false, body = ["
      "#tile.blocks<axis = 2, step = 3, dealt = false, body = [#tile.evaluate<computes = [0], lanes = 1, along = 2>]>"
      "]>]>]>]>]");
}

TEST(FormTreesTest, MapGoesRowByRowThroughPartsOfRows) {
  MLIRContext context;
  context.loadDialect<sym::SymDialect, graph::GraphDialect, tile::TileDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
tile.program @p symbols [](%x: !graph.tensor<[7, 4096], f32>) -> (!graph.tensor<[7, 4096], f32>) {
  %0 = tile.compute [7, 4096] [parallel, parallel] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : (!graph.tensor<[7, 4096], f32>) -> !graph.tensor<[7, 4096], f32>
  tile.return %0 : !graph.tensor<[7, 4096], f32>
})",
                                                             &context);
  auto tiling = dyn_cast_or_null<tile::MapTilingAttr>(
      parseAttribute("#tile.map<rows = 2, columns = 256, lanes = 16, vectors = 1>", &context));
  ASSERT_TRUE(module && tiling);
  tile::ProgramOp program = *module->getOps<tile::ProgramOp>().begin();
  std::string text;
  llvm::raw_string_ostream(text) << tile::getTree(tile::RowForm::get(program, tiling), program.getComputes());
  EXPECT_EQ(text, "[#tile.blocks<axis = 0, step = 2, dealt = true, body = ["
                  "#tile.blocks<axis = 1, step = 256, dealt = true, body = ["
                  "#tile.blocks<axis = 0, step = 1, dealt = false, body = ["
                  "#tile.vectors<axis = 1, lanes = 16, together = 1, body = ["
                  "#tile.evaluate<computes = [0], lanes = 1, along = 0>]>]>]>]>]");
}

/// The tree of a program over x: [7, 64] by its tiling of rows.
static std::string getTreeOfRows(llvm::StringRef results, llvm::StringRef body, llvm::StringRef tilingText) {
  MLIRContext context;
  context.loadDialect<sym::SymDialect, graph::GraphDialect, tile::TileDialect, arith::ArithDialect>();
  std::string source = llvm::formatv("!x = !graph.tensor<[7, 64], f32>\n!w = !graph.tensor<[64, 6], f32>\n"
                                     "tile.program @p symbols [](%x: !x, %w: !w) -> ({0}) {{\n{1}\n}",
                                     results, body);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  auto tiling = dyn_cast_or_null<tile::RowsTilingAttr>(parseAttribute(tilingText, &context));
  if (!module || !tiling)
    return "";
  tile::ProgramOp program = *module->getOps<tile::ProgramOp>().begin();
  std::string why, text;
  FailureOr<tile::RowPasses> passes = tile::getRowPasses(program, tiling.getRowLoops(), why);
  if (failed(passes))
    return why;
  FailureOr<tile::RowForm> form = tile::RowForm::get(program, *passes, tiling, why);
  if (failed(form))
    return why;
  llvm::raw_string_ostream(text) << tile::getTree(*form, program.getComputes());
  return text;
}

TEST(FormTreesTest, RowsGoTogetherThroughTheirPasses) {
  EXPECT_EQ(getTreeOfRows("!x", R"(
  %0 = tile.compute [7, 64] [parallel, reduction] ins(%x : affine_map<(d0, d1) -> (d0, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    tile.yield %s : f32
  } : (!x) -> !graph.tensor<[7], f32>
  %1 = tile.compute [7, 64] [parallel, parallel]
       ins(%x : affine_map<(d0, d1) -> (d0, d1)>, %0 : affine_map<(d0, d1) -> (d0)>) {
  ^bb0(%a: f32, %sum: f32):
    %q = arith.divf %a, %sum : f32
    tile.yield %q : f32
  } : (!x, !graph.tensor<[7], f32>) -> !x
  tile.return %1 : !x)",
                          "#tile.rows<row_loops = 1, rows = 4, run_loops = [1, 1], lanes = [16, 16], "
                          "accumulators = [1, 1], together = 4, short_row = 128>"),
            "[#tile.blocks<axis = 0, step = 4, dealt = true, body = ["
            "#tile.blocks<axis = 0, step = 4, dealt = false, body = ["
            "#tile.vectors<axis = 1, lanes = 16, together = 1, body = ["
            "#tile.evaluate<computes = [0], lanes = 1, along = 0>]>, "
            "#tile.vectors<axis = 1, lanes = 16, together = 1, body = ["
            "#tile.evaluate<computes = [1], lanes = 1, along = 0>]>]>]>]");
}

TEST(FormTreesTest, BlocksOfResultsAreRowsOfTheGrid) {
  // Two blocks of rows times two of columns, three of them a tile.
  EXPECT_EQ(getTreeOfRows("!graph.tensor<[7, 6], f32>", R"(
  %0 = tile.compute [7, 6, 64] [parallel, parallel, reduction]
       ins(%x : affine_map<(d0, d1, d2) -> (d0, d2)>, %w : affine_map<(d0, d1, d2) -> (d2, d1)>) init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    tile.yield %s : f32
  } : (!x, !w) -> !graph.tensor<[7, 6], f32>
  tile.return %0 : !graph.tensor<[7, 6], f32>)",
                          "#tile.rows<row_loops = 2, rows = 3, run_loops = [1], lanes = [16], accumulators = [8], "
                          "block_rows = 4, block_columns = 4, packed = 1>"),
            "[#tile.blocks<axis = 0, step = 3, dealt = true, body = ["
            "#tile.blocks<axis = 0, step = 1, dealt = false, body = [#tile.packed<compute = 0, input = 1>, "
            "#tile.blocks<axis = 2, step = 4, dealt = false, body = ["
            "#tile.blocks<axis = 3, step = 4, dealt = false, body = ["
            "#tile.vectors<axis = 1, lanes = 16, together = 8, body = ["
            "#tile.evaluate<computes = [0], lanes = 1, along = 0>]>]>]>]>]>]");
}
