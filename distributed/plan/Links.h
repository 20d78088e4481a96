#ifndef FREESTONE_DISTRIBUTED_PLAN_LINKS_H
#define FREESTONE_DISTRIBUTED_PLAN_LINKS_H

#include "distributed/partition/Partition.h"
#include <optional>
#include <string>

namespace freestone::distributed {

/// The links between ranks, and how the ranks are placed: those of a machine first.
struct Links {
  std::vector<Level> levels; ///< from the innermost one outwards
  double latency = 0;        ///< seconds until the first byte of a message arrives

  /// Bytes a second between two ranks: of the innermost level that has both.
  double between(int rank, int other) const;
  /// The links between groups of so many consecutive ranks; nothing where a group would be parts of two machines.
  std::optional<Links> betweenGroups(int size) const;
  /// One machine with so many ranks.
  static Links oneMachine(int ranks);
  /// From JSON: {"latency": 1e-5, "levels": [{"ranks": 8, "bytes_per_second": 5e10}, {"ranks": 4, …}]}; the product of
  /// `ranks` is their number. Throws Error.
  static Links parse(const std::string &json);
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_PLAN_LINKS_H
