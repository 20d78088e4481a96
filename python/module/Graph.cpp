#include "python/module/Graph.h"

#include "freestone/graph.h"
#include "python/module/Settings.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace freestone;
using freestone::python::Settings;

namespace {

/// A program under construction, during the call of its builder alone.
class Graph {
public:
  explicit Graph(freestone_graph *graph) : graph(graph) {}
  void end() { graph = nullptr; }

  void symbol(const std::string &name, int64_t minimum, std::optional<int64_t> maximum) {
    check(freestone_graph_symbol(graph, name.c_str(), minimum, maximum.value_or(INT64_MAX)));
  }
  int64_t input(const std::string &name, const std::string &type, const std::vector<std::string> &shape,
                const std::optional<std::string> &symbol) {
    std::vector<const char *> sizes;
    for (const std::string &size : shape)
      sizes.push_back(size.c_str());
    int64_t tensor = 0;
    check(freestone_graph_input(graph, name.c_str(), type.c_str(), static_cast<int32_t>(sizes.size()), sizes.data(),
                                symbol ? symbol->c_str() : nullptr, &tensor));
    return tensor;
  }
  int64_t state(const std::string &name, const std::string &type, const std::vector<int64_t> &dims) {
    int64_t tensor = 0;
    check(freestone_graph_state(graph, name.c_str(), type.c_str(), static_cast<int32_t>(dims.size()), dims.data(),
                                &tensor));
    return tensor;
  }
  void update(const std::string &name, int64_t tensor) { check(freestone_graph_update(graph, name.c_str(), tensor)); }
  int64_t weight(const std::string &name, const std::string &type, const std::vector<int64_t> &dims) {
    int64_t tensor = 0;
    check(freestone_graph_weight(graph, name.c_str(), type.c_str(), static_cast<int32_t>(dims.size()), dims.data(),
                                 &tensor));
    return tensor;
  }
  int64_t constant(const std::string &type, const std::vector<int64_t> &dims, nb::bytes data) {
    int64_t tensor = 0;
    check(freestone_graph_constant(graph, type.c_str(), static_cast<int32_t>(dims.size()), dims.data(), data.c_str(),
                                   data.size(), &tensor));
    return tensor;
  }
  int64_t apply(const std::string &operation, const std::vector<int64_t> &operands,
                const std::optional<std::string> &attributes, const std::optional<std::string> &node) {
    int64_t tensor = 0;
    check(freestone_graph_apply(graph, operation.c_str(), operands.data(), operands.size(),
                                attributes ? attributes->c_str() : nullptr, node ? node->c_str() : nullptr, &tensor));
    return tensor;
  }
  std::string describe(int64_t tensor) const {
    const char *text = freestone_graph_describe(graph, tensor);
    if (!text)
      throw Error(FREESTONE_INVALID_ARGUMENT, "there is no tensor of this number");
    return text;
  }
  void output(const std::string &name, int64_t tensor) { check(freestone_graph_output(graph, name.c_str(), tensor)); }

private:
  freestone_graph *graph;
};

/// The call of a Python function, whose exception is kept until the compilation has ended.
struct Build {
  nb::object function;
  std::exception_ptr thrown;

  static freestone_status call(void *user, freestone_graph *graph) {
    auto &self = *static_cast<Build *>(user);
    nb::gil_scoped_acquire acquired;
    try {
      nb::object wrapped = nb::cast(Graph(graph));
      try {
        self.function(wrapped);
      } catch (...) {
        nb::cast<Graph &>(wrapped).end();
        throw;
      }
      nb::cast<Graph &>(wrapped).end();
      return FREESTONE_OK;
    } catch (...) {
      self.thrown = std::current_exception();
      return FREESTONE_CANCELLED;
    }
  }
};

std::pair<Artifact, std::string> compileGraph(const std::string &key, nb::object function, Settings &settings) {
  Build build{std::move(function), nullptr};
  freestone_graph_source source = {sizeof(source), key.c_str(), Build::call, &build};
  freestone_artifact *artifact = nullptr;
  char *statistics = nullptr;
  settings.during([&] {
    freestone_compiler_settings chosen = settings.get();
    freestone_status status = freestone_compile_graph(&source, &chosen, &artifact, &statistics);
    if (!build.thrown)
      check(status);
    return 0;
  });
  if (build.thrown)
    std::rethrow_exception(build.thrown);
  std::string text = statistics;
  freestone_free(statistics);
  return {Artifact(artifact), std::move(text)};
}

} // namespace

void python::addGraph(nb::module_ &module) {
  nb::class_<Graph>(module, "Graph", "A program under construction; see include/freestone/graph.h.")
      .def("symbol", &Graph::symbol, nb::arg("name"), nb::arg("minimum"), nb::arg("maximum").none())
      .def("input", &Graph::input, nb::arg("name"), nb::arg("type"), nb::arg("shape"),
           nb::arg("symbol").none() = nb::none())
      .def("state", &Graph::state, nb::arg("name"), nb::arg("type"), nb::arg("dims"))
      .def("update", &Graph::update, nb::arg("name"), nb::arg("tensor"))
      .def("weight", &Graph::weight, nb::arg("name"), nb::arg("type"), nb::arg("dims"))
      .def("constant", &Graph::constant, nb::arg("type"), nb::arg("dims"), nb::arg("data"))
      .def("apply", &Graph::apply, nb::arg("operation"), nb::arg("operands"), nb::arg("attributes").none(),
           nb::arg("node").none())
      .def("describe", &Graph::describe, nb::arg("tensor"))
      .def("output", &Graph::output, nb::arg("name"), nb::arg("tensor"));
  module.def("compile_graph", compileGraph, nb::arg("key"), nb::arg("build"), nb::arg("settings"),
             "The artifact of a program that `build` builds, called with a Graph where the cache has none of this key, "
             "and JSON about its compilation.");
}
