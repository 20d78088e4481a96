#ifndef FREESTONE_COMPILER_PLAN_MATRIXINPLACE_H
#define FREESTONE_COMPILER_PLAN_MATRIXINPLACE_H

#include "compiler/plan/ContractionForm.h"

namespace freestone::tile {

/// An operand of a contraction as a matrix in memory.
struct MatrixInPlace {
  unsigned input;
  /// Elements from a row of A, or a column of B, to the next one; from one step of k to the next.
  sym::Expr across, along;

  /// Nothing if it is stored otherwise, padded, computed, or a matrix of several loops.
  static std::optional<MatrixInPlace> getRows(ContractionForm &form);
  static std::optional<MatrixInPlace> getColumns(ContractionForm &form);
};

/// Operands of inner products whose vectors run along k: rows that lie along it in memory, and columns that do so, as a
/// whole or in the panels of another product, whose columns are steps of k here.
struct AlongDepth {
  /// What a row takes more as inner products than packed, the sums of lanes, so many steps of k repay.
  static constexpr int64_t stepsOfRow = 10;
  /// Of a block of results: with what a step loads, their sums fill 32 registers of 64 bytes, or 16.
  static constexpr int64_t blockColumns = 4;
  static int64_t getBlockRows(int64_t vectorBytes) { return vectorBytes == 64 ? 6 : 3; }
  /// More rows than two for each lane read the columns too often.
  static int64_t getMostRows(MicroKernelAttr kernel) { return 2 * kernel.getLanes(); }

  MatrixInPlace rows;
  /// The input of the columns; elements from one of them to the next, and from a group of as many steps as panels have
  /// columns to the next.
  unsigned columns;
  sym::Expr across, groups;
  bool arePanels;

  /// Nothing if operands are stored otherwise, padded, computed or converted, or no numbers of f32 or f64.
  static std::optional<AlongDepth> get(ContractionForm &form, int64_t width);
};

/// Rows of A that lie along k, which the micro-kernel of multiply-adds reads in place for few columns: packing an
/// element takes as long as its multiply-adds by one or two panels.
struct RowsInPlace {
  static constexpr int64_t mostPanels = 2;

  /// The most columns that read them so; 0 where there are no such runs, or rows are stored otherwise.
  static int64_t getMostColumns(ContractionForm &form, MicroKernelAttr kernel);
};

/// How dot products on vectors, also beside a matrix unit, read operands that few rows or columns would pack to use
/// them a few times.
struct ReadsInPlace {
  /// The most rows whose sums are updates: some steps of all columns, whose words are made in registers, are added to
  /// all of them. Their factors stay in registers.
  static constexpr int64_t mostRows = 4;
  /// The most columns of inner products, whose vectors run along the sum. A panel computes 32 columns whatever their
  /// number, so that so many inner products take less time where k has words enough to repay the sums of lanes.
  static constexpr int64_t mostColumns = 16, wordsOfColumn = 2;
  /// The same on vectors beside a matrix unit, whose panels are faster.
  static constexpr int64_t mostColumnsBeside = 4;
  /// The most panels that are multiplied by rows in place.
  static constexpr int64_t mostPanels = 8;

  /// Whether few rows may be updates, by columns that are neighbours.
  bool mayUpdate = false;
  /// Whether few columns, or few rows by columns that lie along the sum, may be inner products. The latter is known of
  /// a run.
  bool mayBeInner = false;
  /// Whether panels may be multiplied by rows in place.
  bool mayKeepRows = false;

  static ReadsInPlace get(ContractionForm &form);
  /// The most rows and columns that may be multiplied so, on vectors beside a matrix unit or not; 0 where there are no
  /// such runs.
  static int64_t getMostRows(ContractionForm &form);
  static int64_t getMostColumns(ContractionForm &form, bool isBeside);
  /// Whether a tree in which so many rows and columns read the other operand in place has inner products, and panels by
  /// rows in place.
  static bool hasInner(ContractionForm &form, int64_t rows, int64_t columns);
  static bool hasRowsInPlace(ContractionForm &form, int64_t columns);
  /// Whether columns are known to be so few that they are inner products.
  static bool isNarrow(ContractionForm &form);
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_MATRIXINPLACE_H
