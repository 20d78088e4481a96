#ifndef FREESTONE_COMPILER_IMPORT_OPERATORS_CARRIEDSIZES_H
#define FREESTONE_COMPILER_IMPORT_OPERATORS_CARRIEDSIZES_H

#include "compiler/import/ModelBuilder.h"
#include "llvm/ADT/StringSet.h"

namespace freestone::importer {

/// The sizes of what a loop carries, learnt by building its body: at first as if they stayed the same, then as they
/// follow the number of the iteration, or else change. A size that is s before the loop and always grows by c is
/// s + c * trip; others are symbols that each iteration binds.
class CarriedSizes {
public:
  /// `most` is the number of iterations at most; null: unknown. With `readsTrip`, sizes in the body follow from the
  /// iteration's number whatever is carried.
  CarriedSizes(ModelBuilder &builder, llvm::ArrayRef<mlir::Value> first, Expr most, bool readsTrip);

  /// Of the carried values within the body.
  llvm::ArrayRef<mlir::Type> types() const { return carried; }
  /// The symbol of the iteration's number; null where no size follows it.
  Expr trip() const { return number; }
  /// Whether sizes change that do not follow the iteration's number.
  bool hasOthers() const { return !changing.empty(); }
  /// The symbols that are declared from here on belong to the body that is built next.
  void beginBody() { declared = builder.sizeFacts().symbols().size(); }

  enum class Outcome {
    /// The body is built for the sizes of every iteration.
    Agrees,
    /// The body must be built again, with the types as they are now.
    Again,
    /// The rank or the type of a value changes.
    Differs
  };
  /// What the body gave for the next iteration.
  Outcome learn(llvm::ArrayRef<mlir::Value> next);
  /// The types behind a loop of `trips` iterations; null where no size follows them.
  llvm::SmallVector<mlir::Type> lastTypes(Expr trips);
  /// How many iterations have a size of the first one, where that follows from the iteration's number and changes.
  std::optional<int64_t> iterationsOfSize(Expr size) const;
  /// Whether the body determines a size of a type.
  bool isOfBody(mlir::Type type) const;

private:
  Expr at(Expr size, Expr trip) const;
  bool isOfBody(Expr size) const;
  void declareTrip();

  ModelBuilder &builder;
  llvm::SmallVector<mlir::Type> carried;
  Expr most, number;
  /// The names of sizes that follow no number.
  llvm::StringSet<> changing;
  size_t declared = 0;
};

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_OPERATORS_CARRIEDSIZES_H
