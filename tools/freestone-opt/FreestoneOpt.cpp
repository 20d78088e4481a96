// Runs passes by name over programs in MLIR's text form; registers every dialect and pass of the compiler.

#include "compiler/driver/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  freestone::registerAllDialects(registry);
  freestone::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Freestone's pass driver\n", registry));
}
