// Feeds the importer bytes that are no model, nearly a model, or an unusual one. It must return a program that
// verifies, or a reason; it must never crash, nor take seconds.
#include "compiler/import/ImportOnnx.h"
#include "mlir/IR/MLIRContext.h"

#include <cstdint>
#include <cstdlib>

using namespace freestone;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  ImportError error;
  auto model = importOnnxBytes(&context, {reinterpret_cast<const char *>(data), size}, {}, error);
  if (failed(model) && (error.message.empty() || error.kind == ImportError::Kind::Internal)) {
    llvm::errs() << "internal error: " << error.message << "\n";
    std::abort();
  }
  if (succeeded(model) && !model->module && model->report.unsupported.empty())
    std::abort();
  return 0;
}
