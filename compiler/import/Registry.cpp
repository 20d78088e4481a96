#include "compiler/import/Registry.h"

using namespace llvm;

namespace freestone::importer {

Registry::Registry() {
  registerElementwise(*this);
  registerLogic(*this);
  registerActivations(*this);
  registerConstants(*this);
  registerShape(*this);
  registerSlicing(*this);
  registerReductions(*this);
  registerContractions(*this);
  registerConvolutions(*this);
  registerPooling(*this);
  registerNormalization(*this);
  registerIndexing(*this);
  registerSequences(*this);
  registerQuantization(*this);
  registerControlFlow(*this);
  registerScan(*this);
  registerResizing(*this);
  registerRearranging(*this);
  registerDataDependent(*this);
  registerRecurrent(*this);
  registerGridSampling(*this);
  registerRandom(*this);
  registerTraining(*this);
  registerLosses(*this);
  registerSignalProcessing(*this);
  registerRoiPooling(*this);
  registerDeformableConvolution(*this);
  registerUnfolding(*this);
  registerDeterminant(*this);
  registerQuantizedOperators(*this);
  registerFusedAttention(*this);
  registerFusedOperators(*this);
  registerTraditionalModels(*this);
  registerTreeEnsembles(*this);
}

const Registry &Registry::instance() {
  static const Registry registry;
  return registry;
}

void Registry::add(StringRef name, Versions versions, Entry::BuildOne build) {
  addMany(name, versions, [build = std::move(build)](Node &node) { node.setOutput(0, build(node)); });
}

void Registry::addMany(StringRef name, Versions versions, Entry::BuildAll build) {
  byName[name.str()].push_back({versions.since, versions.until, std::move(build)});
}

/// The name of an operator's entries.
static std::string keyOf(StringRef domain, StringRef name) {
  return domain.empty() || domain == "ai.onnx" ? name.str() : (domain + "." + name).str();
}

const Entry *Registry::find(StringRef domain, StringRef name, int opset) const {
  auto entries = byName.find(keyOf(domain, name));
  if (entries == byName.end())
    return nullptr;
  for (const Entry &entry : entries->second)
    if (entry.since <= opset && opset <= entry.until)
      return &entry;
  return nullptr;
}

bool Registry::knows(StringRef domain, StringRef name) const { return byName.count(keyOf(domain, name)); }

} // namespace freestone::importer
