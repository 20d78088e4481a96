// The part of the C ABI that supplies the weights of artifacts which carry none.
#include "runtime/interface/Interface.h"

using namespace freestone::runtime;

size_t freestone_artifact_missing_weight_count(const freestone_artifact *artifact) {
  return artifact ? artifact->supply.needed().size() : 0;
}

freestone_status freestone_artifact_missing_weight(const freestone_artifact *artifact, size_t index,
                                                   freestone_value_info *info) {
  return guarded([&] {
    return artifact ? describeValue(artifact->supply.needed(), artifact->missingShapes, index, info)
                    : nullArgument("artifact");
  });
}

freestone_status freestone_artifact_supply_weight(freestone_artifact *artifact, const char *name,
                                                  const DLTensor *tensor) {
  return guarded([&] {
    if (!artifact || !name || !tensor)
      return nullArgument(!artifact ? "artifact" : name ? "tensor" : "name");
    return artifact->supply.supply(name, *tensor);
  });
}

freestone_status freestone_artifact_finish_weights(freestone_artifact *artifact, int32_t threads) {
  return guarded([&] { return artifact ? artifact->supply.finish(threads) : nullArgument("artifact"); });
}

freestone_status freestone_artifact_stored_weight(const freestone_artifact *artifact, size_t index, const void **data,
                                                  size_t *bytes) {
  return guarded([&] {
    if (!artifact || !data || !bytes)
      return nullArgument(!artifact ? "artifact" : data ? "bytes" : "data");
    const std::vector<Weight> &weights = artifact->artifact->descriptor().weights;
    if (index >= weights.size())
      return Status(Code::InvalidArgument, "there is no weight " + std::to_string(index));
    *data = artifact->artifact->weight(index);
    *bytes = weights[index].bytes;
    if (!*data)
      return Status(Code::InvalidArgument, "weight '" + weights[index].name + "' is missing: supply the weights first");
    return Status();
  });
}

freestone_status freestone_artifact_attachment(const freestone_artifact *artifact, const char *name, const void **data,
                                               size_t *bytes) {
  return guarded([&] {
    if (!artifact || !name || !data || !bytes)
      return nullArgument(!artifact ? "artifact" : !name ? "name" : data ? "bytes" : "data");
    const std::vector<Weight> &weights = artifact->artifact->descriptor().weights;
    auto found = std::ranges::find(weights, attachmentPrefix + std::string(name), &Weight::name);
    if (found == weights.end())
      return Status(Code::InvalidArgument, std::string("nothing named '") + name + "' is attached to the artifact");
    *data = artifact->artifact->weight(found - weights.begin());
    *bytes = found->bytes;
    return Status();
  });
}
