#include "compiler/import/ImportOnnx.h"
#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/sym/Syntax.h"
#include "compiler/import/CheckModel.h"
#include "compiler/import/GraphImporter.h"
#include "compiler/import/ModelImport.h"
#include "compiler/import/RandomReach.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace llvm;
using namespace freestone;
using namespace freestone::importer;

ModelImport::ModelImport(mlir::MLIRContext *context, ModelFile &file, const ImportOptions &options, ImportError &error)
    : file(file), graph(file.model().graph()), options(options), error(error) {
  context->loadDialect<graph::GraphDialect, sym::SymDialect, mlir::func::FuncDialect>();
  result.module = mlir::ModuleOp::create(mlir::UnknownLoc::get(context), file.model().graph().name());
  result.weights = std::make_unique<WeightStore>();
  mlir::OpBuilder builder(result.module->getBodyRegion());
  auto main = mlir::func::FuncOp::create(builder, builder.getUnknownLoc(), "main", builder.getFunctionType({}, {}));
  main.addEntryBlock();
  this->builder = std::make_unique<ModelBuilder>(main, *result.weights);
  this->builder->setInsertionPointToEnd(&main.getBody().front());
  this->builder->options = options;
}

/// Whether the exporter's rewriter has folded a batch normalization into a convolution, by its list of the rules that
/// made the node.
static bool holdsFoldedNorm(const onnx::NodeProto &node) {
  return any_of(node.metadata_props(), [](const onnx::StringStringEntryProto &entry) {
    return entry.key() == "pkg.onnxscript.rewriter.rule_name" && StringRef(entry.value()).contains("FuseBatchNorm");
  });
}

/// Bounds of `32*units`, as a model names its dimension, as those of `units`.
static DimBound asBoundOfSymbol(mlir::MLIRContext *context, const DimBound &bound) {
  FailureOr<Expr> named = sym::parseExpr(context, bound.symbol);
  auto multiple = succeeded(named) ? named->asMultiple() : std::nullopt;
  if (!multiple)
    return bound;
  auto [symbol, factor] = *multiple;
  return {symbol.str(), llvm::divideCeilSigned(bound.minimum, factor), bound.maximum / factor,
          std::lcm(bound.multipleOf, factor) / factor};
}

LogicalResult ModelImport::applyBounds() {
  for (const DimBound &given : options.dimBounds) {
    DimBound bound = asBoundOfSymbol(builder->getContext(), given);
    if (bound.minimum < 0 || bound.minimum > bound.maximum || bound.multipleOf < 1 ||
        bound.maximum / bound.multipleOf * bound.multipleOf < bound.minimum)
      return fail(ImportError::Kind::Usage, "the range of '" + bound.symbol + "' is empty or negative");
    if (!builder->sizeFacts().symbols().contains(bound.symbol)) {
      std::string known;
      for (const auto &[name, symbol] : builder->sizeFacts().symbols())
        known += (known.empty() ? "" : ", ") + name;
      return fail(ImportError::Kind::Usage, "the model has no symbol '" + bound.symbol + "'" +
                                                (known.empty() ? ": all its sizes are constant" : "; it has " + known));
    }
    if (bound.minimum == bound.maximum)
      builder->makeEqual(Expr::symbol(builder->getContext(), bound.symbol), builder->size(bound.minimum),
                         "bound sizes");
    else
      builder->sizeFacts().restrict(bound.symbol, {bound.minimum, bound.maximum}, bound.multipleOf);
  }
  return success();
}

void ModelImport::setAttributes(mlir::func::FuncOp main) {
  mlir::OpBuilder &ir = *builder;
  builder->recordSizes();
  for (auto [index, name] : enumerate(inputNames))
    main.setArgAttr(index, "graph.name", ir.getStringAttr(name));
  if (main.getNumArguments() > inputNames.size())
    main.setArgAttr(inputNames.size(), "graph.random_key", ir.getUnitAttr());
  for (auto [index, name] : enumerate(outputNames))
    main.setResultAttr(index, "graph.name", ir.getStringAttr(name));
  SmallVector<mlir::Attribute> statistics;
  for (auto &[name, next] : builder->statistics) {
    if (options.updatesStatistics())
      main.setResultAttr(outputNames.size() + statistics.size(), "graph.state", ir.getStringAttr(name));
    statistics.push_back(ir.getStringAttr(name));
  }
  if (!statistics.empty())
    main->setAttr("graph.statistics", ir.getArrayAttr(statistics));
  if (!builder->classWeights.empty())
    main->setAttr("graph.class_weights", ir.getStrArrayAttr(builder->classWeights.getArrayRef()));
}

LogicalResult ModelImport::finish() {
  if (failed(addOutputs()))
    return failure();
  if (options.updatesStatistics())
    for (auto &[name, next] : builder->statistics)
      outputs.push_back(next.value());
  if (std::optional<Refusal> refusal = builder->takeRefusal())
    return fail(ImportError::Kind::Internal, "the outputs were not built: " + refusal->reason);
  if (!result.report.unsupported.empty())
    return success();
  mlir::func::FuncOp main = builder->function();
  builder->create<mlir::func::ReturnOp>(outputs);
  main.setType(
      builder->getFunctionType(main.getBody().front().getArgumentTypes(), mlir::ValueRange(outputs).getTypes()));
  setAttributes(main);
  // What belongs to an output is reached as that output.
  std::vector<std::string> reached = outputNames;
  for (const SequencePort &port : result.sequences)
    for (std::string &name : reached)
      if (!port.isInput && (name == port.sizes || name == port.presence))
        name = port.name;
  findReach(main, reached, result.report.random);
  std::string complaint;
  mlir::ScopedDiagnosticHandler handler(builder->getContext(), [&](mlir::Diagnostic &diagnostic) {
    complaint += (complaint.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  if (failed(mlir::verify(*result.module)))
    return fail(ImportError::Kind::Internal, "the imported program is not valid: " + complaint);
  return success();
}

FailureOr<ImportedModel> ModelImport::run() {
  std::string complaint;
  if (failed(checkModel(file.model(), complaint)))
    return fail(ImportError::Kind::Invalid, complaint);
  scope.opsets[""] = 1;
  for (const onnx::OperatorSetIdProto &set : file.model().opset_import()) {
    std::string domain = set.domain() == "ai.onnx" ? "" : set.domain();
    scope.opsets[domain] = set.version();
    result.report.opsets.push_back({domain, set.version()});
  }
  result.report.nodes = graph.node_size();
  result.report.foldedNorms = count_if(graph.node(), holdsFoldedNorm);
  if (failed(separateParameters()) || failed(importInputs()) || failed(applyBounds()) || failed(importWeights()))
    return failure();
  GraphImporter nodes(*builder, file.model(), result.report);
  nodes.importMain(scope, graph.node());
  if (std::optional<Refusal> refusal = builder->takeRefusal())
    return fail(ImportError::Kind::Invalid, refusal->reason);
  if (failed(finish()))
    return failure();
  reportPorts();
  if (!result.report.unsupported.empty())
    result.module = {};
  return std::move(result);
}

std::string UnsupportedNode::describe() const {
  if (!part.empty())
    return part + " '" + node + "': " + reason;
  return "node '" + node + "' (" + op + ", opset " + std::to_string(opset) + "): " + reason;
}

FailureOr<ImportedModel> freestone::importOnnx(mlir::MLIRContext *context, StringRef path,
                                               const ImportOptions &options, ImportError &error) {
  FailureOr<ModelFile> file = ModelFile::open(path, error.message);
  if (failed(file))
    return failure();
  return ModelImport(context, *file, options, error).run();
}

FailureOr<ImportedModel> freestone::importOnnxBytes(mlir::MLIRContext *context, ArrayRef<char> bytes,
                                                    const ImportOptions &options, ImportError &error) {
  FailureOr<ModelFile> file = ModelFile::parse(bytes, error.message);
  if (failed(file))
    return failure();
  return ModelImport(context, *file, options, error).run();
}
