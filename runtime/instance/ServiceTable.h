#ifndef FREESTONE_RUNTIME_INSTANCE_SERVICETABLE_H
#define FREESTONE_RUNTIME_INSTANCE_SERVICETABLE_H

#include "freestone/runtime.h"
#include "runtime/artifact/Descriptor.h"
#include "runtime/artifact/abi.h"
#include <memory>
#include <span>
#include <vector>

namespace freestone::runtime {

/// The application's functions that an entry's program calls, with preallocated views: a call allocates nothing. Used
/// by worker 0 only.
class ServiceTable {
public:
  /// Finds a function for every call; `offered` is only read during this call. Error: Incompatible names the first
  /// service that is missing in the required version.
  static Result<std::unique_ptr<ServiceTable>> create(const Entry &entry, std::span<const freestone_service> offered);

  /// Prepares a run: compiled code then calls through the context.
  void enter(freestone_run_context &context);
  /// The message of the first failed call since `enter`.
  const Status &failure() const { return firstFailure; }
  /// The number of calls since `enter`.
  uint64_t callCount() const { return made; }

private:
  struct Views {
    std::vector<DLTensor> tensors;
    std::vector<std::vector<int64_t>> shapes;
    const std::vector<ServiceTensor> *described;

    explicit Views(const std::vector<ServiceTensor> &tensors);
    void fill(const freestone_run_context &context);
  };
  struct Call {
    const ServiceCall *described;
    const std::string *node; ///< the node of the call; null if the descriptor has none
    int32_t (*function)(void *user, const DLTensor *inputs, size_t inputCount, const DLTensor *outputs,
                        size_t outputCount);
    void *user;
    Views inputs, outputs;
  };

  static int32_t callService(freestone_run_context *context, int64_t call);

  std::vector<Call> calls;
  Status firstFailure;
  uint64_t made = 0;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_INSTANCE_SERVICETABLE_H
