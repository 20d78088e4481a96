#ifndef FREESTONE_TEST_EXPRESSIONS_GRAPHFUNCTION_H
#define FREESTONE_TEST_EXPRESSIONS_GRAPHFUNCTION_H

#include "compiler/expressions/Expressions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

namespace freestone::expressions {

/// Fixture: a function at the graph level to build in.
class GraphFunction : public testing::Test {
protected:
  GraphFunction() {
    mlir::DialectRegistry registry;
    graph::registerGraphDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  Expr size(llvm::StringRef text) { return *sym::parseExpr(&context, text); }
  Shape shape(ArrayRef<llvm::StringRef> sizes) {
    return llvm::map_to_vector<4>(sizes, [&](llvm::StringRef text) { return size(text); });
  }
  graph::TensorType type(ArrayRef<llvm::StringRef> sizes, mlir::Type elementType) {
    return graph::TensorType::get(shape(sizes), elementType);
  }
  graph::TensorType f32(ArrayRef<llvm::StringRef> sizes) { return type(sizes, mlir::Float32Type::get(&context)); }
  graph::TensorType i64(ArrayRef<llvm::StringRef> sizes) { return type(sizes, mlir::IntegerType::get(&context, 64)); }

  mlir::Location location() { return mlir::NameLoc::get(mlir::StringAttr::get(&context, "node")); }
  /// Creates an empty function with these arguments; returns its block.
  mlir::Block *begin(ArrayRef<mlir::Type> arguments) {
    mlir::OpBuilder builder(&context);
    function = mlir::func::FuncOp::create(builder, location(), "f", builder.getFunctionType(arguments, {}));
    return function->addEntryBlock();
  }

  /// The names of the operations in order, without their dialect: "binary unary".
  std::string operations() {
    std::string names;
    for (mlir::Operation &op : function->getBody().front())
      names += (names.empty() ? "" : " ") + op.getName().stripDialect().str();
    return names;
  }
  /// The verifier's diagnostic; empty if there is none.
  std::string verify() {
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(&function->getBody().front());
    mlir::func::ReturnOp::create(builder, location());
    std::string message;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) { message = diagnostic.str(); });
    (void)mlir::verify(*function);
    return message;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::func::FuncOp> function;
};

} // namespace freestone::expressions

#endif // FREESTONE_TEST_EXPRESSIONS_GRAPHFUNCTION_H
