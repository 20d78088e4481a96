// The part of the C interface by which front ends build graphs.
#include "compiler/driver/InterfaceResults.h"
#include "compiler/frontend/FrontendGraph.h"

using namespace freestone;
using namespace freestone::driver;

struct freestone_graph {
  freestone_graph(Options options, std::string target)
      : compilation(options), target(std::move(target)), graph(compilation.getContext()) {}

  Compilation compilation;
  std::string target;
  frontend::FrontendGraph graph;
  std::string reason, description;
};

namespace {

constexpr int64_t refused = -1;

int64_t numberOf(freestone_graph *graph, frontend::FrontendGraph::Result result) {
  if (result)
    return *result;
  graph->reason = graph->graph.takeReason();
  return refused;
}

freestone_graph *create(const freestone_compile_options *given, freestone_compiler_result *error) {
  Options options = readOptions(*given);
  std::string target = options.device ? options.device->name : options.target;
  auto graph = std::make_unique<freestone_graph>(std::move(options), std::move(target));
  Failure failure;
  if (succeeded(graph->compilation.requireOptions(failure)))
    return graph.release();
  *error = failedWith(failure);
  return nullptr;
}

void release(freestone_graph *graph) { delete graph; }

const char *reason(const freestone_graph *graph) { return graph->reason.c_str(); }

void symbol(freestone_graph *graph, const char *name, int64_t minimum, int64_t maximum) {
  graph->graph.declareSymbol(name, {minimum, maximum});
}

int64_t input(freestone_graph *graph, const char *name, const char *type, int64_t rank, const char *const *shape,
              const char *symbol) {
  llvm::SmallVector<llvm::StringRef> sizes(shape, shape + rank);
  return numberOf(graph, graph->graph.addInput(name, type, sizes, symbol ? symbol : ""));
}

int64_t state(freestone_graph *graph, const char *name, const char *type, int64_t rank, const int64_t *dims) {
  return numberOf(graph, graph->graph.addState(name, type, {dims, static_cast<size_t>(rank)}));
}

int64_t update(freestone_graph *graph, const char *name, int64_t tensor) {
  bool isDone = tensor >= 0 && graph->graph.updateState(name, tensor);
  return numberOf(graph, isDone ? std::optional<size_t>(tensor) : std::nullopt);
}

int64_t weight(freestone_graph *graph, const char *name, const char *type, int64_t rank, const int64_t *dims) {
  return numberOf(graph, graph->graph.addWeight(name, type, {dims, static_cast<size_t>(rank)}));
}

int64_t constant(freestone_graph *graph, const char *type, int64_t rank, const int64_t *dims, const void *data,
                 size_t bytes) {
  return numberOf(graph, graph->graph.addConstant(type, {dims, static_cast<size_t>(rank)},
                                                  {static_cast<const char *>(data), bytes}));
}

int64_t apply(freestone_graph *graph, const char *operation, const int64_t *operands, size_t operandCount,
              const char *attributes, const char *node) {
  std::vector<size_t> results =
      graph->graph.apply(operation, {operands, operandCount}, attributes ? attributes : "", node ? node : "");
  return numberOf(graph, results.empty() ? std::nullopt : std::optional(results.front()));
}

const char *describe(freestone_graph *graph, int64_t tensor) {
  if (!graph->graph.has(tensor))
    return nullptr;
  graph->description.clear();
  llvm::raw_string_ostream(graph->description) << graph->graph.describe(tensor);
  return graph->description.c_str();
}

int64_t output(freestone_graph *graph, const char *name, int64_t tensor) {
  return numberOf(graph, graph->graph.has(tensor) && graph->graph.addOutput(name, tensor)
                             ? std::optional<size_t>(tensor)
                             : std::nullopt);
}

freestone_compiler_result compile(freestone_graph *graph, const char *path) {
  Failure failure;
  mlir::FailureOr<ImportedModel> model = graph->graph.finish(failure.text);
  if (failed(model))
    return failedWith(failure);
  graph->compilation.adopt(std::move(*model));
  if (failed(graph->compilation.compile(path, failure)))
    return failedWith(failure);
  return succeeded(describeStatistics(graph->compilation.getStatistics(), {}, graph->target, ""));
}

} // namespace

const freestone_graph_interface driver::graphInterface = {
    create, release, reason, symbol, input, state, update, weight, constant, apply, describe, output, compile,
};
