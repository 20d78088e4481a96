#ifndef FREESTONE_COMPILER_GRAD_RULE_H
#define FREESTONE_COMPILER_GRAD_RULE_H

#include "compiler/expressions/Expressions.h"
#include "llvm/ADT/DenseMap.h"

namespace freestone::grad {

using namespace expressions;

/// The gradients of a block while it is swept from its end: those found so far by value, and which values need one. A
/// value without an entry has the gradient 0, which is never built.
struct Gradients {
  llvm::DenseMap<mlir::Value, mlir::Value> found;
  /// Values between what is wanted and what has a gradient.
  llvm::DenseSet<mlir::Value> active;
};

/// What a rule sees: one operator whose results have gradients.
class Backward {
public:
  Backward(mlir::Operation *op, GraphBuilder &builder, Gradients &gradients)
      : builder(builder), op(op), gradients(gradients) {}

  Tensor operand(unsigned index = 0) { return tensor(op->getOperand(index)); }
  Tensor result(unsigned index = 0) { return tensor(op->getResult(index)); }
  Tensor tensor(mlir::Value value) { return Tensor(builder, value); }
  /// The gradient of a result; null where it is 0, which the first result of an operator with one result never has.
  Tensor gradient(unsigned index = 0);

  /// Whether the gradient of an operand, or of any value that the operands are made of, is asked for.
  bool wants(mlir::Value value) const { return gradients.active.contains(value); }
  bool wants(unsigned operand) const { return wants(op->getOperand(operand)); }
  /// Adds to the gradient of a value, unless it is not asked for or the gradient is null. It has the type of the value.
  void add(mlir::Value value, Tensor gradient);
  void add(unsigned operand, Tensor gradient) { add(op->getOperand(operand), gradient); }

  /// Says why there is no gradient, and what to do.
  llvm::LogicalResult refuse(const llvm::Twine &reason);

  GraphBuilder &builder;

private:
  mlir::Operation *op;
  Gradients &gradients;
};

/// The diagnostic of an operator on a path to the loss that can't be differentiated.
llvm::LogicalResult refuseGradient(mlir::Operation *op, const llvm::Twine &reason);

/// Which rule is for which operator.
class RuleTable {
public:
  using Rule = llvm::LogicalResult (*)(mlir::Operation *, Backward &);

  /// All rules. Made once, never changed.
  static const RuleTable &get();

  template <typename Op, llvm::LogicalResult (*rule)(Op, Backward &)> void add() {
    rules[Op::getOperationName()] = [](mlir::Operation *op, Backward &backward) {
      return rule(llvm::cast<Op>(op), backward);
    };
  }
  /// Null where there is none.
  Rule find(mlir::Operation *op) const { return rules.lookup(op->getName().getStringRef()); }

private:
  llvm::DenseMap<llvm::StringRef, Rule> rules;
};

// One for each file of rules/.
void addCompositeRules(RuleTable &table);
void addContractionRules(RuleTable &table);
void addControlFlowRules(RuleTable &table);
void addConvolutionRules(RuleTable &table);
void addElementwiseRules(RuleTable &table);
void addIndexingRules(RuleTable &table);
void addOrderingRules(RuleTable &table);
void addReductionRules(RuleTable &table);
void addShapeRules(RuleTable &table);
void addWindowRules(RuleTable &table);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_RULE_H
