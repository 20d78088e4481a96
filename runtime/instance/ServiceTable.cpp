#include "runtime/instance/ServiceTable.h"

#include "runtime/instance/Tensor.h"
#include <algorithm>
#include <string>

using namespace freestone::runtime;

ServiceTable::Views::Views(const std::vector<ServiceTensor> &described) : described(&described) {
  for (const ServiceTensor &tensor : described)
    shapes.emplace_back(tensor.dimSlots.size());
  for (size_t i = 0; i < described.size(); ++i)
    tensors.push_back(toDLTensor(nullptr, described[i].dtype, shapes[i]));
}

void ServiceTable::Views::fill(const freestone_run_context &context) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const ServiceTensor &tensor = (*described)[i];
    tensors[i].data = context.buffers[tensor.buffer];
    for (size_t axis = 0; axis < tensor.dimSlots.size(); ++axis)
      shapes[i][axis] = context.sizes[tensor.dimSlots[axis]];
  }
}

/// "service 'x', version 2"
static std::string describe(const ServiceCall &call) {
  return "service '" + call.name + "', version " + std::to_string(call.version);
}

Result<std::unique_ptr<ServiceTable>> ServiceTable::create(const Entry &entry,
                                                           std::span<const freestone_service> offered) {
  auto table = std::make_unique<ServiceTable>();
  auto phase = entry.phases.begin(); // phases call the services in the order of this list
  for (const freestone_service &service : offered)
    if (!service.name || !service.function)
      return Status(Code::InvalidArgument, "a service has no name or no function");
  for (const ServiceCall &call : entry.services) {
    auto isSame = [&](const freestone_service &service) { return call.name == service.name; };
    auto isExact = [&](const freestone_service &service) { return isSame(service) && service.version == call.version; };
    auto found = std::ranges::find_if(offered, isExact);
    if (found != offered.end()) {
      phase = std::find_if(phase, entry.phases.end(), [&](const Phase &p) { return p.program == call.name; });
      const std::string *node = phase == entry.phases.end() ? nullptr : &phase++->label;
      table->calls.push_back({&call, node, found->function, found->user, Views(call.inputs), Views(call.outputs)});
      continue;
    }
    auto other = std::ranges::find_if(offered, isSame);
    std::string reason = other == offered.end()
                             ? "which the application does not offer"
                             : "but the application offers version " + std::to_string(other->version);
    return Status(Code::Incompatible, "the model needs the " + describe(call) + ", " + reason);
  }
  return table;
}

void ServiceTable::enter(freestone_run_context &context) {
  context.services = this;
  context.call_service = callService;
  firstFailure = {};
  made = 0;
}

int32_t ServiceTable::callService(freestone_run_context *context, int64_t number) {
  auto &table = *static_cast<ServiceTable *>(context->services);
  Call &call = table.calls[number];
  ++table.made;
  call.inputs.fill(*context);
  call.outputs.fill(*context);
  int32_t code = call.function(call.user, call.inputs.tensors.data(), call.inputs.tensors.size(),
                               call.outputs.tensors.data(), call.outputs.tensors.size());
  if (code == 0)
    return 0;
  std::string node = call.node ? "node '" + *call.node + "': " : "";
  table.firstFailure = {Code::RunFailed,
                        node + "the " + describe(*call.described) + ", failed with " + std::to_string(code)};
  return 1;
}
