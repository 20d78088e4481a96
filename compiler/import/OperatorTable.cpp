// docs/operators.md, from the registry.
#include "compiler/import/ImportOnnx.h"
#include "compiler/import/OperatorLimits.h"
#include "compiler/import/Registry.h"
#include "compiler/import/Schemas.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace freestone {

static SmallVector<StringRef> reasonsOf(StringRef name) {
  SmallVector<StringRef> reasons;
  for (const importer::OperatorLimit &limit : importer::getOperatorLimits())
    if (is_contained(split(limit.operators, ' '), name))
      reasons.push_back(limit.reason);
  return reasons;
}

void printOperatorTable(raw_ostream &os) {
  using namespace importer;
  os << "# Operators\n\n"
     << "ONNX's operators that have an entry in the importer, with the operator sets that it is for. An operator that "
        "is not in\n"
     << "this table is compiled through its ONNX function body where it has one; all others are refused by name.\n\n"
     << "An operator is partial where the last column says so: `freestone check` refuses a node with that reason.\n\n"
     << "| operator | operator sets | refused |\n|---|---|---|\n";
  for (const auto &[name, entries] : Registry::instance().entries()) {
    os << "| " << name << " | ";
    for (auto [index, entry] : enumerate(entries)) {
      os << (index ? ", " : "") << entry.since << " to ";
      if (entry.until == Versions::newest)
        os << "newest";
      else
        os << entry.until;
    }
    os << " | " << join(reasonsOf(name), "; ") << " |\n";
  }
}

} // namespace freestone
