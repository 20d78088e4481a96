#include "compiler/driver/ImportTraining.h"

#include "compiler/artifact/BuildDescriptor.h"
#include "compiler/grad/Differentiate.h"
#include "compiler/grad/Rematerialise.h"
#include "compiler/step/ParameterLayouts.h"
#include "compiler/simplify/Passes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "words/NearNames.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::driver;

namespace {

bool isSame(const Weight &one, const Weight &other) {
  return one.elementType == other.elementType && one.dims == other.dims && one.bytes == other.bytes;
}

/// Moves a function to the module of another model. Weights that the importer created get new names there; a graph that
/// shares no weights with the model gets new names for all of its own.
func::FuncOp adopt(ImportedModel &into, ImportedModel &&from, StringRef name, bool sharesWeights) {
  auto function = cast<func::FuncOp>(from.module->lookupSymbol("main"));
  function->remove();
  into.module->push_back(function);
  function.setSymName(name);
  llvm::StringMap<std::string> renamed;
  function.walk([&](graph::WeightOp op) {
    const Weight *weight = from.weights->find(op.getName());
    if (!weight)
      return;
    const Weight *known = into.weights->find(op.getName());
    if (sharesWeights && known && isSame(*known, *weight))
      return;
    std::string &own = renamed[op.getName()];
    if (own.empty()) {
      own = known || !sharesWeights ? (name + "/" + op.getName()).str() : op.getName().str();
      into.weights->add(own, weight->elementType, weight->dims, weight->bytes);
    }
    op.setName(own);
  });
  into.weights->keepAlive(std::move(from.weights));
  return function;
}

/// Reads a graph for a part of the step (a loss, an optimizer) into the model's module; erased once it is inlined.
LogicalResult importGraph(ImportedModel &model, StringRef path, StringRef name, StringRef what, func::FuncOp &graph,
                          ImportError &error) {
  if (path.empty())
    return success();
  FailureOr<ImportedModel> imported = importOnnx(model.module->getContext(), path, {}, error);
  auto refuse = [&](const Twine &why) {
    error = {ImportError::Kind::Usage, (what + " '" + path + "': " + why).str()};
    return failure();
  };
  if (failed(imported))
    return refuse(error.message);
  if (!imported->module)
    return refuse(imported->report.unsupported.front().describe());
  if (!imported->report.random.empty())
    return refuse("node '" + imported->report.random.front().node + "' draws random numbers, which it can't do here");
  graph = adopt(model, std::move(*imported), name, /*sharesWeights=*/false);
  return success();
}

/// The inputs of a step: those of the model, the labels, and numbers.
std::vector<PortReport> reportInputs(func::FuncOp step) {
  std::vector<PortReport> ports;
  for (BlockArgument argument : step.getArguments()) {
    auto name = step.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "graph.name");
    if (!name)
      continue;
    auto type = cast<graph::TensorType>(argument.getType());
    PortReport &port = ports.emplace_back(
        PortReport{name.str(), std::string(runtime::dtypeName(artifact::dtypeOf(type.getElementType())))});
    for (sym::Expr size : type.getShape())
      port.shape.push_back(size.str());
  }
  return ports;
}

/// The model's outputs that the loss may take: the named one, those that the user's loss graph takes by name, or all.
SmallVector<Value> findLosses(func::FuncOp main, step::LossChoice loss) {
  SmallVector<Value> all, named;
  for (unsigned index = 0; index < main.getNumResults(); ++index) {
    auto name = main.getResultAttrOfType<StringAttr>(index, "graph.name");
    if (!name)
      continue;
    Value output = main.getBody().front().getTerminator()->getOperand(index);
    all.push_back(output);
    bool isTaken = name == loss.output;
    for (unsigned number = 0; loss.graph && number < loss.graph.getNumArguments(); ++number)
      isTaken |= loss.graph.getArgAttrOfType<StringAttr>(number, "graph.name") == name;
    if (isTaken)
      named.push_back(output);
  }
  return named.empty() ? all : named;
}

/// Adds scalars that the program holds as constants: nothing shows that they are parameters.
void addNumbers(const ImportedModel &model, MLIRContext *context, std::vector<step::Parameter> &parameters) {
  for (const std::string &name : model.numbers) {
    step::Parameter parameter;
    parameter.name = name;
    parameter.type = graph::TensorType::getStatic({}, Float32Type::get(context));
    parameter.couldBeTrained = true;
    parameter.reason = "a single number";
    parameters.push_back(std::move(parameter));
  }
}

/// The usual values of sizes of the data.
llvm::StringMap<int64_t> findHints(func::FuncOp function, const TrainingOptions &training) {
  llvm::StringMap<int64_t> hints;
  for (BlockArgument argument : function.getArguments()) {
    if (function.getArgAttr(argument.getArgNumber(), "graph.state"))
      continue;
    for (auto [axis, size] : llvm::enumerate(cast<graph::TensorType>(argument.getType()).getShape())) {
      int64_t hint = axis == 0 ? training.batchHint : training.lengthHint;
      if (auto multiple = size.asMultiple(); multiple && hint > 0)
        hints.try_emplace(multiple->first, llvm::divideCeil(hint, multiple->second));
    }
  }
  return hints;
}

/// Requests recomputation, which is decided after gradients and forward pass are simplified.
void requestRecompute(func::FuncOp function, const TrainingOptions &training) {
  SmallVector<unsigned> losses;
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    auto name = function.getResultAttrOfType<StringAttr>(index, "graph.name"),
         state = function.getResultAttrOfType<StringAttr>(index, "graph.state");
    if ((name && name == "loss") || (state && state == "accumulated/loss"))
      losses.push_back(index);
  }
  grad::requestRecompute(function, losses, training.recompute, findHints(function, training));
}

} // namespace

FailureOr<ImportedTraining> driver::importTraining(MLIRContext *context, StringRef path, const ImportOptions &options,
                                                   const TrainingOptions &training, ImportError &error) {
  auto import = [&](ModelForm form) {
    ImportOptions own = options;
    own.form = form;
    own.keepWeights = true;
    own.freezeNorm = training.freezeNorm;
    own.noDropout = training.noDropout;
    own.maxTrip = training.maxTrip;
    own.ties = training.patterns.ties;
    own.keptNumbers = training.patterns.train;
    return importOnnx(context, path, own, error);
  };
  FailureOr<ImportedModel> step = import(ModelForm::Training);
  if (failed(step))
    return failure();
  ImportedTraining result;
  result.model = std::move(*step);
  if (!result.model.module)
    return result;
  FailureOr<ImportedModel> evaluation = import(ModelForm::Evaluation);
  if (failed(evaluation))
    return failure();
  if (!evaluation->module)
    return ImportedTraining{std::move(*evaluation), {}, {}, {}};
  adopt(result.model, std::move(*evaluation), "evaluate", /*sharesWeights=*/true);
  step::StepChoice choice = training.step;
  func::FuncOp &lossGraph = choice.loss.graph, &optimizerGraph = choice.optimizer.graph;
  if (failed(importGraph(result.model, training.lossFile, "loss_graph", "the loss", lossGraph, error)) ||
      failed(importGraph(result.model, training.optimizerFile, "update_graph", "the optimizer", optimizerGraph, error)))
    return failure();

  ModuleOp module = *result.model.module;
  auto main = cast<func::FuncOp>(module.lookupSymbol("main")),
       evaluate = cast<func::FuncOp>(module.lookupSymbol("evaluate"));
  auto fail = [&](ImportError::Kind kind, const Twine &message) {
    error = {kind, message.str()};
    return failure();
  };
  std::string complaint;
  FailureOr<std::vector<step::Parameter>> parameters =
      step::chooseParameters(main, findLosses(main, choice.loss), result.model.initializers, *result.model.weights,
                             training.patterns, complaint);
  if (failed(parameters)) {
    std::vector<std::string> names;
    for (const auto &initializer : result.model.initializers)
      names.push_back(initializer.first);
    return fail(ImportError::Kind::Usage, "the pattern '" + complaint + "' matches no float weight of the model" +
                                              words::suggest(complaint, names));
  }
  result.parameters = std::move(*parameters);
  addNumbers(result.model, context, result.parameters);

  std::string diagnostics;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    diagnostics += (diagnostics.empty() ? "" : "\n") + diagnostic.str();
    return success();
  });
  PassManager passes(context);
  passes.nest<func::FuncOp>().addPass(graph::createKeepBlockOrders({training.blockOrders}));
  passes.nest<func::FuncOp>().addPass(graph::createHoistFromScans({training.scanProducts}));
  if (failed(passes.run(module)))
    return fail(ImportError::Kind::Internal, "the model can't be simplified: " + diagnostics);
  // Packing does not apply: with narrow products, contractions read converted copies, which are packed on conversion;
  // an optimizer graph may depend on the order of elements.
  bool isPlain = choice.precision || choice.optimizer.graph;
  step::ParameterLayouts layouts(main, result.parameters, isPlain ? 0 : training.panelWidth);
  layouts.applyTo(main);
  layouts.applyTo(evaluate);
  // Products of loops are computed again on demand alone: they take long.
  bool recomputes = training.recompute != "none", recomputesLoops = recomputes && training.recompute != "auto";
  if (recomputesLoops)
    main->setAttr(grad::recomputesAttr, UnitAttr::get(context));
  step::StepFunctions functions{main, {}, evaluate, {}};
  if (training.step.accumulate) {
    functions.accumulate = main.clone();
    functions.accumulate.setSymName("accumulate");
    module.push_back(functions.accumulate);
  }
  if (training.step.apart) {
    OpBuilder builder(context);
    functions.update = func::FuncOp::create(main.getLoc(), "update", builder.getFunctionType({}, {}));
    module.push_back(functions.update);
    builder.setInsertionPointToEnd(functions.update.addEntryBlock());
    func::ReturnOp::create(builder, main.getLoc());
  }
  FailureOr<step::StepPorts> ports = step::buildTrainingStep(functions, choice, layouts.getStored(result.parameters),
                                                             *result.model.weights, complaint);
  if (failed(ports))
    return complaint.empty() ? fail(ImportError::Kind::Invalid, diagnostics)
                             : fail(ImportError::Kind::Usage, complaint);
  result.ports = std::move(*ports);
  result.model.report.inputs = reportInputs(main);
  result.sizeHints = findHints(main, training);
  for (func::FuncOp function : {main, evaluate, functions.accumulate, functions.update})
    if (function)
      layouts.describeIn(function);
  for (func::FuncOp graph : {lossGraph, optimizerGraph})
    if (graph)
      graph.erase();
  if (recomputes) {
    for (func::FuncOp function : {functions.step, functions.accumulate})
      if (function) {
        function->removeAttr(grad::recomputesAttr);
        requestRecompute(function, training);
      }
  }
  if (failed(mlir::verify(module)))
    return fail(ImportError::Kind::Internal, "the training step is not valid: " + diagnostics);
  return result;
}
