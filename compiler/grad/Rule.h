#ifndef FREESTONE_COMPILER_GRAD_RULE_H
#define FREESTONE_COMPILER_GRAD_RULE_H

#include "compiler/expressions/Expressions.h"
#include "llvm/ADT/DenseMap.h"

namespace freestone::grad {

using namespace expressions;

/// The gradients of a block during the backward sweep: those found so far, by value, and the values that need one. A
/// value without an entry has the gradient 0, which is never built.
struct Gradients {
  llvm::DenseMap<mlir::Value, mlir::Value> found;
  /// Values on a path from a wanted value to a seeded one.
  llvm::DenseSet<mlir::Value> active;
};

/// The context of a rule: one operator whose results have gradients.
class Backward {
public:
  Backward(mlir::Operation *op, GraphBuilder &builder, Gradients &gradients)
      : builder(builder), op(op), gradients(gradients) {}

  Tensor operand(unsigned index = 0) { return tensor(op->getOperand(index)); }
  Tensor result(unsigned index = 0) { return tensor(op->getResult(index)); }
  Tensor tensor(mlir::Value value) { return Tensor(builder, value); }
  /// The gradient of a result; null if it is 0, which it never is for operators with one result.
  Tensor gradient(unsigned index = 0);

  /// Whether the gradient of an operand, or of a value it depends on, is wanted.
  bool wants(mlir::Value value) const { return gradients.active.contains(value); }
  bool wants(unsigned operand) const { return wants(op->getOperand(operand)); }
  /// Adds to the gradient of a value, unless it is not wanted or `gradient` is null. Must have the value's type.
  void add(mlir::Value value, Tensor gradient);
  void add(unsigned operand, Tensor gradient) { add(op->getOperand(operand), gradient); }

  /// Refuses the operator, with the reason and a remedy.
  llvm::LogicalResult refuse(const llvm::Twine &reason);

  GraphBuilder &builder;

private:
  mlir::Operation *op;
  Gradients &gradients;
};

/// The diagnostic of an operator on a path to the loss that can't be differentiated.
llvm::LogicalResult refuseGradient(mlir::Operation *op, const llvm::Twine &reason);

/// The rule for each operator.
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
void addGrowingLoopRules(RuleTable &table);
void addIndexingRules(RuleTable &table);
void addOrderingRules(RuleTable &table);
void addReductionRules(RuleTable &table);
void addScanRules(RuleTable &table);
void addShapeRules(RuleTable &table);
void addWindowRules(RuleTable &table);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_RULE_H
