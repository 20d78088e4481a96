#ifndef FREESTONE_DISTRIBUTED_EXECUTE_STAGEPROGRAM_H
#define FREESTONE_DISTRIBUTED_EXECUTE_STAGEPROGRAM_H

#include "distributed/execute/PipelineDescription.h"
#include "train/step/StepEntry.h"
#include "train/step/TrainedState.h"
#include <set>

namespace freestone::distributed {

/// A value of the pipeline in some memory.
struct PlacedValue {
  void *data = nullptr;
  const std::vector<int64_t> *dims = nullptr;
};

/// An entry of a stage with the values of the pipeline that it reads and makes, by their numbers in the description.
class StageEntry {
public:
  /// `name`: of PipelineDescription.
  StageEntry(const Artifact &artifact, const std::string &name, const PipelineDescription &pipeline, const State &state,
             const train::Execution &execution);

  struct Port {
    int value;
    size_t index; ///< of the entry's inputs or outputs
  };
  const std::vector<Port> &reads() const { return read; }
  const std::vector<Port> &makes() const { return made; }
  /// The type of a value that this entry reads or makes.
  freestone_dtype typeOf(const Port &port, bool isRead) const {
    return (isRead ? entry.inputs : entry.outputs)[port.index].dtype;
  }
  /// The dimensions of a value at these sizes.
  std::vector<int64_t> shapeOf(const Port &port, bool isRead, const std::vector<int64_t> &sizes);

  /// Bytes of its intermediates at these sizes, with scratch, in whole pages.
  uint64_t countIntermediates(const std::vector<int64_t> &sizes);

  /// Runs on values in their places, by numbers, and on fields of data. Throws freestone::Error.
  void run(const std::vector<PlacedValue> &values, std::span<const formats::TensorView> fields,
           const std::vector<int64_t> &sizes);

  train::StepEntry entry;

private:
  std::vector<freestone_size> named(const std::vector<int64_t> &sizes) const;

  const PipelineDescription &pipeline;
  std::vector<Port> read, made;
  std::optional<size_t> sizesIndex; ///< of `pipe/sizes`
  char nothing = 0;                 ///< the data of a tensor without elements
};

/// One stage of a training step: its state, and its entries, which run one at a time. Not thread-safe.
class StageProgram {
public:
  /// `artifact` is of this stage. `about` and `pipeline` must outlive it.
  StageProgram(const Artifact &artifact, int stage, const PipelineDescription &pipeline,
               const train::StepDescription &about, const train::Execution &execution);

  int stage() const { return number; }
  train::TrainedState &state() { return trained; }
  const train::TrainedState &state() const { return trained; }
  /// The names of all inputs of all entries.
  std::set<std::string> inputs() const;
  const std::map<std::string, std::unique_ptr<StageEntry>> &all() const { return entries; }
  /// Null where the stage has nothing to do there.
  StageEntry *find(const std::string &entry);
  /// Binds a number of the step in all entries; it must stay where it is.
  template <typename Number> void setNumber(const std::string &name, Number *value) {
    for (auto &[key, entry] : entries)
      entry->entry.setNumber(name, value);
  }

private:
  int number;
  train::TrainedState trained;
  std::map<std::string, std::unique_ptr<StageEntry>> entries;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_STAGEPROGRAM_H
