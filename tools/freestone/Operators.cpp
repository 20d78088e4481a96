// freestone operators: lists the supported ONNX operators, as docs/operators.md.

#include "tools/freestone/Compiler.h"
#include "tools/freestone/Verbs.h"
#include <fmt/format.h>

namespace freestone::tools {

void addOperatorsVerb(CLI::App &app) {
  CLI::App *verb = app.add_subcommand("operators", "Lists the ONNX operators that the compiler knows, as Markdown.");
  verb->callback([] { fmt::print("{}", Compiler::listOperators()); });
}

} // namespace freestone::tools
