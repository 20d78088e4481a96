#ifndef FREESTONE_COMPILER_IMPORT_OPERATORS_CARRIEDSIZES_H
#define FREESTONE_COMPILER_IMPORT_OPERATORS_CARRIEDSIZES_H

#include "compiler/import/ModelBuilder.h"

namespace freestone::importer {

/// The sizes of what a loop carries, learnt by building its body: at first as if they stayed the same, then as they
/// follow the number of the iteration. A size that is s before the loop and grows by c is s + c * trip.
class CarriedSizes {
public:
  /// `most` is the number of iterations at most; null: unknown. With `readsTrip`, sizes in the body follow from the
  /// iteration's number whatever is carried.
  CarriedSizes(ModelBuilder &builder, llvm::ArrayRef<mlir::Value> first, Expr most, bool readsTrip);

  /// Of the carried values within the body.
  llvm::ArrayRef<mlir::Type> types() const { return carried; }
  /// The symbol of the iteration's number; null where no size follows it.
  Expr trip() const { return number; }
  /// The symbols that are declared from here on belong to the body that is built next.
  void beginBody() { declared = builder.sizeFacts().symbols().size(); }

  enum class Outcome {
    /// The body is built for the sizes of every iteration.
    Agrees,
    /// The body must be built again, with the types as they are now.
    Again,
    /// A size changes in a way that does not follow the number of the iteration.
    Differs
  };
  /// What the body gave for the next iteration.
  Outcome learn(llvm::ArrayRef<mlir::Value> next);
  /// A type within the body where the iteration's number is another.
  mlir::Type typeAt(mlir::Type type, Expr trip) const;

private:
  Expr at(Expr size, Expr trip) const;
  bool isGrowth(Expr change) const;
  void declareTrip();

  ModelBuilder &builder;
  llvm::SmallVector<mlir::Type> carried;
  Expr most, number;
  size_t declared = 0;
};

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_OPERATORS_CARRIEDSIZES_H
