#ifndef FREESTONE_DISTRIBUTED_EXECUTE_RANKMEMORY_H
#define FREESTONE_DISTRIBUTED_EXECUTE_RANKMEMORY_H

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace freestone::distributed {

/// Bytes of a rank for its stages, besides code: planned, or held. Without results of a few numbers, and what rounds
/// states up.
struct RankMemory {
  uint64_t states = 0;        ///< parameters, gradients, moments, statistics
  uint64_t slots = 0;         ///< values of micro-batches under way
  uint64_t exchanged = 0;     ///< numbers that decide updates
  uint64_t evaluation = 0;    ///< values between stages in evaluations
  uint64_t intermediates = 0; ///< of all entries, with scratch

  uint64_t total() const { return states + slots + exchanged + evaluation + intermediates; }
  nlohmann::json print() const;
  static RankMemory read(const nlohmann::json &json);

  bool operator==(const RankMemory &) const = default;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_RANKMEMORY_H
