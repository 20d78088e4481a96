// Comparisons, logic, and the choice between two tensors.
#include "compiler/import/Registry.h"

using namespace llvm;

namespace freestone::importer {
namespace {

void addComparison(Registry &registry, StringRef name, int since, CompareKind predicate) {
  registry.add(name, {since}, [predicate](Node &node) { return compare(predicate, node.input(0), node.input(1)); });
}

void addLogical(Registry &registry, StringRef name, BinaryKind kind) {
  registry.add(name, {7}, [kind](Node &node) { return binary(kind, node.input(0), node.input(1)); });
}

} // namespace

void registerLogic(Registry &registry) {
  addComparison(registry, "Equal", 7, CompareKind::eq);
  addComparison(registry, "Less", 7, CompareKind::lt);
  addComparison(registry, "LessOrEqual", 12, CompareKind::le);
  addComparison(registry, "Greater", 7, CompareKind::gt);
  addComparison(registry, "GreaterOrEqual", 12, CompareKind::ge);
  addLogical(registry, "And", BinaryKind::and_);
  addLogical(registry, "Or", BinaryKind::or_);
  addLogical(registry, "Xor", BinaryKind::xor_);
  registry.add("Not", {1}, [](Node &node) { return logicalNot(node.input(0)); });
  registry.add("Where", {9}, [](Node &node) { return select(node.input(0), node.input(1), node.input(2)); });
}

} // namespace freestone::importer
