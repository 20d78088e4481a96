#ifndef FREESTONE_COMPILER_DRIVER_REGISTRATION_H
#define FREESTONE_COMPILER_DRIVER_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace freestone {

/// Our dialects, and those of upstream that programs hold between import and code.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Every pass by its name, and the named pipelines. Once a process.
void registerAllPasses();

} // namespace freestone

#endif // FREESTONE_COMPILER_DRIVER_REGISTRATION_H
