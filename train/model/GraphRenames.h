#ifndef FREESTONE_TRAIN_GRAPHRENAMES_H
#define FREESTONE_TRAIN_GRAPHRENAMES_H

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

/// An initializer that the model's file has not: what some nodes take there in place of another one.
struct SeparateInitializer {
  std::string name, of;
  /// What takes it: inputs of nodes of the main graph, both by their positions in the file.
  std::vector<std::pair<int64_t, int64_t>> inputs = {};
  /// The Identity that has made a value of this name of the other, by its position; the initializer takes its place.
  std::optional<int64_t> identity = {};
};

/// What changes in a serialised main graph, besides its initializers, so that nodes take initializers of their own.
class GraphRenames {
public:
  explicit GraphRenames(std::span<const SeparateInitializer> separate);

  /// The names of the copies that an initializer gets.
  std::vector<std::string> copiesOf(const std::string &initializer) const;
  bool dropsNode(int64_t position) const { return dropped.contains(position); }
  /// A NodeProto with other names of inputs; nothing where it stays as it is.
  std::optional<std::string> renameInputs(int64_t position, formats::Bytes node) const;

private:
  std::multimap<std::string, std::string> copies;
  std::map<int64_t, std::map<int64_t, std::string>> inputs; ///< by position of the node, then of the input
  std::set<int64_t> dropped;
};

/// The name in a serialised ValueInfoProto.
std::string readValueName(formats::Bytes info);
/// It with another name.
std::string renameValue(formats::Bytes info, const std::string &name);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_GRAPHRENAMES_H
