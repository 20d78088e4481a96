#ifndef FREESTONE_TRAIN_MODEL_GRAPHRENAMES_H
#define FREESTONE_TRAIN_MODEL_GRAPHRENAMES_H

#include "formats/Bytes.h"
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace freestone::train {

/// An initializer that the model's file lacks: some nodes there share another initializer instead.
struct SeparateInitializer {
  std::string name, of;
  /// Its uses: inputs of nodes of the main graph, as pairs of positions in the file.
  std::vector<std::pair<int64_t, int64_t>> inputs = {};
  /// The position of the Identity node that copied the shared initializer to this name; the initializer replaces it.
  std::optional<int64_t> identity = {};
};

/// The changes to a serialized main graph, besides its initializers, that give nodes initializers of their own.
class GraphRenames {
public:
  explicit GraphRenames(std::span<const SeparateInitializer> separate);

  /// The names of the copies of an initializer.
  std::vector<std::string> copiesOf(const std::string &initializer) const;
  bool dropsNode(int64_t position) const { return dropped.contains(position); }
  /// A NodeProto with renamed inputs; nothing if it is unchanged.
  std::optional<std::string> renameInputs(int64_t position, formats::Bytes node) const;

private:
  std::multimap<std::string, std::string> copies;
  std::map<int64_t, std::map<int64_t, std::string>> inputs; ///< by position of the node, then of the input
  std::set<int64_t> dropped;
};

/// The name of a serialized ValueInfoProto.
std::string readValueName(formats::Bytes info);
/// A serialized ValueInfoProto, renamed.
std::string renameValue(formats::Bytes info, const std::string &name);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_MODEL_GRAPHRENAMES_H
