// The C ABI of freestone/graph.h: graphs are the compiler's own, which is loaded where one is built.
#include "freestone/graph.h"

#include "compilation/Compilation.h"
#include "compilation/CompilerLibrary.h"
#include "compilation/interface/Answers.h"

using namespace freestone;
using namespace freestone::compilation;

namespace {

const freestone_graph_interface &graphs() { return *openCompiler().graph; }

/// The number of a tensor, or the reason why there is none.
int64_t numberOf(freestone_graph *graph, int64_t number) {
  if (number < 0)
    throw Error(FREESTONE_UNSUPPORTED, graphs().reason(graph));
  return number;
}

} // namespace

freestone_status freestone_compile_graph(const freestone_graph_source *given,
                                         const freestone_compiler_settings *settings, freestone_artifact **artifact,
                                         char **statistics) {
  return answer([&] {
    require(given, "source");
    require(artifact, "artifact");
    freestone_graph_source source = readStruct(given);
    require(source.key, "key");
    require(reinterpret_cast<const void *>(source.build), "build");
    *artifact = nullptr;
    cache::Entry entry = obtain(orderOf(readStruct(settings)), source.key, [&](freestone_graph *graph) {
      if (freestone_status status = source.build(source.user, graph); status != FREESTONE_OK)
        throw Error(status, std::string(freestone_last_error()).c_str());
    });
    freestone_load_options options = {};
    options.struct_size = sizeof(options);
    options.file_bytes = entry.payloadBytes();
    check(freestone_artifact_load(entry.path().c_str(), &options, artifact));
    if (statistics)
      *statistics = copy(entry.about());
  });
}

freestone_status freestone_graph_symbol(freestone_graph *graph, const char *name, int64_t minimum, int64_t maximum) {
  return answer([&] {
    require(graph, "graph");
    require(name, "name");
    graphs().symbol(graph, name, minimum, maximum);
  });
}

freestone_status freestone_graph_input(freestone_graph *graph, const char *name, const char *type, int32_t rank,
                                       const char *const *shape, const char *symbol, int64_t *tensor) {
  return answer([&] {
    require(graph, "graph");
    require(name, "name");
    require(type, "type");
    require(tensor, "tensor");
    if (rank > 0)
      require(shape, "shape");
    *tensor = numberOf(graph, graphs().input(graph, name, type, rank, shape, symbol));
  });
}

freestone_status freestone_graph_state(freestone_graph *graph, const char *name, const char *type, int32_t rank,
                                       const int64_t *dims, int64_t *tensor) {
  return answer([&] {
    require(graph, "graph");
    require(name, "name");
    require(type, "type");
    require(tensor, "tensor");
    *tensor = numberOf(graph, graphs().state(graph, name, type, rank, dims));
  });
}

freestone_status freestone_graph_update(freestone_graph *graph, const char *name, int64_t tensor) {
  return answer([&] {
    require(graph, "graph");
    require(name, "name");
    numberOf(graph, graphs().update(graph, name, tensor));
  });
}

freestone_status freestone_graph_weight(freestone_graph *graph, const char *name, const char *type, int32_t rank,
                                        const int64_t *dims, int64_t *tensor) {
  return answer([&] {
    require(graph, "graph");
    require(name, "name");
    require(type, "type");
    require(tensor, "tensor");
    *tensor = numberOf(graph, graphs().weight(graph, name, type, rank, dims));
  });
}

freestone_status freestone_graph_constant(freestone_graph *graph, const char *type, int32_t rank, const int64_t *dims,
                                          const void *data, size_t bytes, int64_t *tensor) {
  return answer([&] {
    require(graph, "graph");
    require(type, "type");
    require(tensor, "tensor");
    *tensor = numberOf(graph, graphs().constant(graph, type, rank, dims, data, bytes));
  });
}

freestone_status freestone_graph_apply(freestone_graph *graph, const char *operation, const int64_t *operands,
                                       size_t operandCount, const char *attributes, const char *node, int64_t *tensor) {
  return answer([&] {
    require(graph, "graph");
    require(operation, "operation");
    require(tensor, "tensor");
    *tensor = numberOf(graph, graphs().apply(graph, operation, operands, operandCount, attributes, node));
  });
}

const char *freestone_graph_describe(freestone_graph *graph, int64_t tensor) {
  try {
    return graph ? graphs().describe(graph, tensor) : nullptr;
  } catch (...) {
    return nullptr;
  }
}

freestone_status freestone_graph_output(freestone_graph *graph, const char *name, int64_t tensor) {
  return answer([&] {
    require(graph, "graph");
    require(name, "name");
    numberOf(graph, graphs().output(graph, name, tensor));
  });
}
