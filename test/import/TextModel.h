#ifndef FREESTONE_TEST_IMPORT_TEXTMODEL_H
#define FREESTONE_TEST_IMPORT_TEXTMODEL_H

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/import/ImportOnnx.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "onnx/defs/parser.h"
#include <gtest/gtest.h>
#include <memory>
#include <string>

namespace freestone::test {

/// The bytes of a model in ONNX's text syntax; `body` is its graph, of opset 20 unless it specifies another.
inline std::string serialize(const std::string &body,
                             const std::string &header = "<ir_version: 10, opset_import: [\"\" : 20]>") {
  onnx::ModelProto model;
  std::string text = header + body;
  onnx::OnnxParser parser(text.c_str());
  auto status = parser.Parse(model);
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  std::string bytes;
  model.SerializeToString(&bytes);
  return bytes;
}

/// An imported model, with everything that it refers to.
struct Imported {
  std::unique_ptr<mlir::MLIRContext> context =
      std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  std::string bytes;
  ImportError error;
  ImportedModel model;
  bool succeeded = false;

  mlir::func::FuncOp main() { return *model.module.get().getOps<mlir::func::FuncOp>().begin(); }
  /// The number of operations of a kind.
  template <typename Op> int64_t count() {
    int64_t found = 0;
    main().walk([&](Op) { ++found; });
    return found;
  }
  int64_t countAll() {
    int64_t found = 0;
    main().walk([&](mlir::Operation *) { ++found; });
    return found - 2; // without the function and its return
  }
  std::string outputShape(size_t index = 0) {
    std::string text;
    for (const std::string &extent : model.report.outputs[index].shape)
      text += (text.empty() ? "" : ", ") + extent;
    return text;
  }
  /// The reason of the refusal.
  std::string reason() const {
    if (!succeeded)
      return error.message;
    return model.report.unsupported.empty() ? "" : model.report.unsupported.front().reason;
  }
};

inline Imported importBytes(std::string bytes, const ImportOptions &options = {}) {
  Imported imported;
  imported.bytes = std::move(bytes);
  auto model =
      importOnnxBytes(imported.context.get(), {imported.bytes.data(), imported.bytes.size()}, options, imported.error);
  if ((imported.succeeded = mlir::succeeded(model)))
    imported.model = std::move(*model);
  return imported;
}

inline Imported importText(const std::string &body, const ImportOptions &options = {}) {
  return importBytes(serialize(body), options);
}

} // namespace freestone::test

#endif // FREESTONE_TEST_IMPORT_TEXTMODEL_H
