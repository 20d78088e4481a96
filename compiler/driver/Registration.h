#ifndef FREESTONE_COMPILER_DRIVER_REGISTRATION_H
#define FREESTONE_COMPILER_DRIVER_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace freestone {

/// Registers Freestone's dialects, and those of upstream that programs use between import and code.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers every pass and the named pipelines. Once a process.
void registerAllPasses();

} // namespace freestone

#endif // FREESTONE_COMPILER_DRIVER_REGISTRATION_H
