#ifndef FREESTONE_PYTHON_MODULE_GRAPH_H
#define FREESTONE_PYTHON_MODULE_GRAPH_H

#include <nanobind/nanobind.h>

namespace freestone::python {

/// Adds the class Graph, a program under construction, and `compile_graph`.
void addGraph(nanobind::module_ &module);

} // namespace freestone::python

#endif // FREESTONE_PYTHON_MODULE_GRAPH_H
