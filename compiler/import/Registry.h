#ifndef FREESTONE_COMPILER_IMPORT_REGISTRY_H
#define FREESTONE_COMPILER_IMPORT_REGISTRY_H

#include "compiler/import/Node.h"
#include "llvm/ADT/StringMap.h"
#include <functional>
#include <map>

namespace freestone::importer {

/// The definition of one operator in terms of the core, for a range of operator set versions.
struct Entry {
  using BuildAll = std::function<void(Node &)>;
  using BuildOne = std::function<Tensor(Node &)>;

  /// The first operator set it is right for, and the last one.
  int since;
  int until;
  BuildAll build;
};

struct Versions {
  static constexpr int newest = 1 << 30;
  int since;
  int until = newest;
};

/// The operators with an entry. Others are inlined by their ONNX function body.
class Registry {
public:
  static const Registry &instance();

  /// An operator with one result; the name is with its domain where that is not ONNX's own:
  /// `ai.onnx.preview.training.Adam`.
  void add(llvm::StringRef name, Versions versions, Entry::BuildOne build);
  /// An operator that sets its outputs itself.
  void addMany(llvm::StringRef name, Versions versions, Entry::BuildAll build);

  /// Null where the operator has no entry for this version.
  const Entry *find(llvm::StringRef domain, llvm::StringRef name, int opset) const;
  /// Whether it has an entry for any version.
  bool knows(llvm::StringRef domain, llvm::StringRef name) const;

  const std::map<std::string, std::vector<Entry>> &entries() const { return byName; }

private:
  Registry();

  std::map<std::string, std::vector<Entry>> byName;
};

// One per operator family, in the file of its name.
void registerElementwise(Registry &registry);
void registerLogic(Registry &registry);
void registerActivations(Registry &registry);
void registerConstants(Registry &registry);
void registerShape(Registry &registry);
void registerSlicing(Registry &registry);
void registerReductions(Registry &registry);
void registerContractions(Registry &registry);
void registerConvolutions(Registry &registry);
void registerPooling(Registry &registry);
void registerNormalization(Registry &registry);
void registerIndexing(Registry &registry);
void registerSequences(Registry &registry);
void registerQuantization(Registry &registry);
void registerControlFlow(Registry &registry);
void registerScan(Registry &registry);
void registerResizing(Registry &registry);
void registerRearranging(Registry &registry);
void registerDataDependent(Registry &registry);
void registerRecurrent(Registry &registry);
void registerGridSampling(Registry &registry);
void registerRandom(Registry &registry);
void registerTraining(Registry &registry);
void registerLosses(Registry &registry);
void registerSignalProcessing(Registry &registry);
void registerRoiPooling(Registry &registry);
void registerDeformableConvolution(Registry &registry);
void registerUnfolding(Registry &registry);
void registerDeterminant(Registry &registry);
void registerQuantizedOperators(Registry &registry);
void registerFusedAttention(Registry &registry);
void registerFusedOperators(Registry &registry);
void registerTraditionalModels(Registry &registry);
void registerTreeEnsembles(Registry &registry);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_REGISTRY_H
