// import_report [--print] [--operators] MODEL…: imports each model and prints one line for it.
//   INVALID or UNSUPPORTED with the reason; IMPORTED without data; otherwise the interpreter evaluates the data sets
//   beside it, in ONNX's layout, and the line is PASS or FAIL. Exits with 1 if any model is INVALID or fails.
#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/import/ImportOnnx.h"
#include "compiler/import/TensorData.h"
#include "compiler/interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace freestone;
using namespace freestone::importer;
using interpreter::HostTensor;

namespace {

struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-7;
};

Tolerance readTolerance(const llvm::Twine &path) {
  Tolerance tolerance;
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return tolerance;
  llvm::Expected<llvm::json::Value> value = llvm::json::parse((*file)->getBuffer());
  if (!value) {
    llvm::consumeError(value.takeError());
    return tolerance;
  }
  if (const llvm::json::Object *object = value->getAsObject()) {
    tolerance.relative = object->getNumber("rtol").value_or(tolerance.relative);
    tolerance.absolute = object->getNumber("atol").value_or(tolerance.absolute);
  }
  return tolerance;
}

std::optional<HostTensor> readTensor(mlir::MLIRContext *context, const llvm::Twine &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  onnx::TensorProto proto;
  TensorData data;
  std::string error;
  if (!file || !proto.ParseFromArray((*file)->getBufferStart(), (*file)->getBufferSize()) ||
      failed(decodeTensor(context, proto, {proto.raw_data().data(), proto.raw_data().size()}, data, error)))
    return std::nullopt;
  return HostTensor{data.type, {data.dims.begin(), data.dims.end()}, {data.bytes.begin(), data.bytes.end()}};
}

Content elementsOf(const HostTensor &tensor) {
  TensorData data;
  data.type = tensor.elementType;
  data.count = tensor.getNumElements();
  data.bytes = tensor.bytes;
  return contentOf(data).value_or(Content());
}

/// The first difference, or empty.
std::string compare(const HostTensor &actual, const HostTensor &expected, Tolerance tolerance) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (actual.elementType != expected.elementType || actual.dims != expected.dims) {
    os << "is " << actual.elementType << "[";
    llvm::interleaveComma(actual.dims, os);
    os << "], not " << expected.elementType << "[";
    llvm::interleaveComma(expected.dims, os);
    os << "]";
    return text;
  }
  if (expected.elementType.isBF16())
    tolerance.relative = std::max(tolerance.relative, 0x1p-6);
  Content left = elementsOf(actual), right = elementsOf(expected);
  for (auto [index, pair] : llvm::enumerate(llvm::zip_equal(left, right))) {
    double a = *std::get<0>(pair).asReal(), e = *std::get<1>(pair).asReal();
    bool close = a == e || (std::isnan(a) && std::isnan(e)) ||
                 std::abs(a - e) <= tolerance.absolute + tolerance.relative * std::abs(e);
    if (close)
      continue;
    os << "element " << index << " is " << a << ", not " << e;
    return text;
  }
  return text;
}

/// Evaluates one data set; returns the failure, or empty.
std::string runDataSet(const ImportedModel &model, llvm::StringRef folder, Tolerance tolerance) {
  mlir::MLIRContext *context = model.module.get()->getContext();
  auto main = *model.module.get().getOps<mlir::func::FuncOp>().begin();
  std::vector<HostTensor> inputs;
  for (unsigned index = 0; index < main.getNumArguments(); ++index) {
    auto tensor = readTensor(context, folder + "/input_" + llvm::Twine(index) + ".pb");
    if (!tensor)
      return "input " + std::to_string(index) + " can't be read";
    inputs.push_back(std::move(*tensor));
  }
  std::string complaint;
  mlir::ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic &diagnostic) {
    complaint += diagnostic.str() + "; ";
    return mlir::success();
  });
  auto outputs = interpreter::interpret(main, inputs, *model.weights);
  if (failed(outputs))
    return "the interpreter failed: " + complaint;
  for (auto [index, output] : llvm::enumerate(*outputs)) {
    auto expected = readTensor(context, folder + "/output_" + llvm::Twine(index) + ".pb");
    if (!expected)
      continue; // ONNX leaves out outputs that are not compared
    std::string difference = compare(output, *expected, tolerance);
    if (!difference.empty())
      return "output " + std::to_string(index) + ": " + difference;
  }
  return "";
}

void printPorts(llvm::StringRef kind, llvm::ArrayRef<PortReport> ports) {
  for (const PortReport &port : ports) {
    llvm::outs() << "  " << kind << " " << port.name << ": " << port.type << "[";
    llvm::interleaveComma(port.shape, llvm::outs());
    llvm::outs() << "]\n";
  }
}

bool report(llvm::StringRef path, bool print) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  ImportError error;
  mlir::FailureOr<ImportedModel> model = importOnnx(&context, path, {}, error);
  if (failed(model)) {
    llvm::outs() << "INVALID " << path << ": " << error.message << "\n";
    return false;
  }
  if (!model->module) {
    const UnsupportedNode &first = model->report.unsupported.front();
    llvm::outs() << "UNSUPPORTED " << path << ": " << first.op << " '" << first.node << "': " << first.reason << "\n";
    return true;
  }
  if (print) {
    printPorts("input", model->report.inputs);
    printPorts("output", model->report.outputs);
    model->module->print(llvm::outs());
  }
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  Tolerance tolerance = readTolerance(folder + "/data.json");
  int sets = 0;
  for (;; ++sets) {
    std::string data = (folder + "/test_data_set_" + llvm::Twine(sets)).str();
    if (!llvm::sys::fs::is_directory(data))
      break;
    std::string fault = runDataSet(*model, data, tolerance);
    if (!fault.empty()) {
      llvm::outs() << "FAIL " << path << ": " << fault << "\n";
      return false;
    }
  }
  llvm::outs() << (sets ? "PASS " : "IMPORTED ") << path << "\n";
  return true;
}

} // namespace

int main(int argc, char **argv) {
  bool print = false, good = true;
  for (int index = 1; index < argc; ++index) {
    if (llvm::StringRef(argv[index]) == "--print")
      print = true;
    else if (llvm::StringRef(argv[index]) == "--operators")
      printOperatorTable(llvm::outs());
    else
      good &= report(argv[index], print);
    llvm::outs().flush();
  }
  return good ? 0 : 1;
}
