// import_report [--print] MODEL…: imports each model and prints one line for it: IMPORTED, UNSUPPORTED or INVALID with the reason.
#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/import/ImportOnnx.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace freestone;

static void printPorts(llvm::StringRef kind, llvm::ArrayRef<PortReport> ports) {
  for (const PortReport &port : ports) {
    llvm::outs() << "  " << kind << " " << port.name << ": " << port.type << "[";
    llvm::interleaveComma(port.shape, llvm::outs());
    llvm::outs() << "]\n";
  }
}

int main(int argc, char **argv) {
  bool print = false;
  for (int index = 1; index < argc; ++index) {
    llvm::StringRef path = argv[index];
    if (path == "--print") {
      print = true;
      continue;
    }
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    ImportError error;
    mlir::FailureOr<ImportedModel> model = importOnnx(&context, path, {}, error);
    if (failed(model)) {
      llvm::outs() << "INVALID " << path << ": " << error.message << "\n";
      continue;
    }
    if (!model->module) {
      const UnsupportedNode &first = model->report.unsupported.front();
      llvm::outs() << "UNSUPPORTED " << path << ": " << first.op << " '" << first.node << "': " << first.reason << "\n";
      continue;
    }
    llvm::outs() << "IMPORTED " << path << "\n";
    if (print) {
      printPorts("input", model->report.inputs);
      printPorts("output", model->report.outputs);
      model->module->print(llvm::outs());
    }
  }
  return 0;
}
