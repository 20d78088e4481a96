// The data of a training, of which each rank reads the fields that its stages take.
#ifndef FREESTONE_DISTRIBUTED_EXECUTE_RANKDATA_H
#define FREESTONE_DISTRIBUTED_EXECUTE_RANKDATA_H

#include "train/data/Loader.h"
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

namespace freestone::distributed {

/// Opens data of the training in this process; they stay open. Called by the thread of each rank whose stages take
/// fields. Throws train::Error.
using OpenData = std::function<const train::Dataset &(train::DataUse use)>;

/// The command by which other ranks load the same batches as rank 0.
nlohmann::json describeLoad(const train::DataName &name, const train::Dataset &data,
                            const train::LoaderOptions &options, const train::LoaderPosition &start);
/// The same batch in every rank's sequence.
nlohmann::json describeBatch(const train::Batch &batch);

/// The batches of a rank other than the first one. Not thread-safe. Throws train::Error, also where its data are
/// not those of rank 0.
class RankData {
public:
  /// `inputs` are those of the rank's stages.
  RankData(std::set<std::string> inputs, OpenData open) : inputs(std::move(inputs)), open(std::move(open)) {}

  /// Does a command of `describeLoad`, in place of the one before with the same use.
  void load(const nlohmann::json &command);
  /// The fields of the next batch, which rank 0 describes; none if the stages take none. Valid until the next call, or
  /// for as many as rank 0 holds batches.
  std::vector<formats::TensorView> take(train::DataUse use, const nlohmann::json &batch);

private:
  /// A dataset that is read.
  struct Source {
    std::vector<std::unique_ptr<train::Dataset>> parts;
    std::unique_ptr<train::Loader> loader;
  };

  std::set<std::string> inputs;
  OpenData open;
  std::map<train::DataUse, Source> sources;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_RANKDATA_H
