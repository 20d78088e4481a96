// The part of the C ABI that deals with instances.
#include "runtime/interface/Interface.h"
#include <algorithm>

using namespace freestone::runtime;

static Status create(freestone_artifact &artifact, const freestone_instance_options &given,
                     freestone_instance **handle) {
  if ((given.allocate == nullptr) != (given.deallocate == nullptr))
    return {Code::InvalidArgument, "give both allocate and deallocate, or neither"};
  if (!artifact.artifact->isComplete())
    return {Code::InvalidArgument, "the artifact carries no weights: supply and finish them first"};
  Instance::Options options;
  options.threads = given.threads;
  options.queueDepth = given.queue_depth;
  options.switches = {.spin = !(given.switched_off & FREESTONE_SPIN),
                      .moves = !(given.switched_off & FREESTONE_MOVES),
                      .alerts = !(given.switched_off & FREESTONE_ALERTS),
                      .deals = !(given.switched_off & FREESTONE_DEALS),
                      .company = !(given.switched_off & FREESTONE_COMPANY),
                      .crew = !(given.switched_off & FREESTONE_CREW),
                      .claims = !(given.switched_off & FREESTONE_CLAIMS),
                      .overlap = !(given.switched_off & FREESTONE_OVERLAP)};
  options.maxMemory = given.max_memory;
  options.assumeBusy = given.assume_busy != 0;
  options.trace = given.trace != 0;
  options.services = {given.services, given.services ? given.service_count : 0};
  options.memory = {given.user, given.allocate, given.deallocate};
  if (given.log)
    options.log = [log = given.log, user = given.user](const std::string &message) {
      log(user, FREESTONE_LOG_INFO, message.c_str());
    };
  if (given.cancelled)
    options.cancelled = [cancelled = given.cancelled, user = given.user] { return cancelled(user) != 0; };
  if (given.crew)
    options.crew = [crew = given.crew, user = given.user](int workers, void (*body)(void *, int32_t), void *data) {
      return crew(user, workers, body, data) != 0;
    };
  if (given.timeline)
    options.timeline = given.timeline->timeline;
  if (given.state)
    options.state = given.state->state;
  const char *name = given.entry ? given.entry : "main";
  const Entry *entry = artifact.findEntry(name);
  if (!entry)
    return {Code::InvalidArgument, std::string("the artifact has no entry '") + name + "'"};
  Result<std::unique_ptr<Instance>> created = Instance::create(artifact.artifact, *entry, std::move(options));
  if (!created.ok())
    return created.status();
  *handle = new freestone_instance(std::move(*created));
  return {};
}

freestone_status freestone_instance_create(freestone_artifact *artifact, const freestone_instance_options *options,
                                           freestone_instance **instance) {
  return guarded([&] {
    if (!artifact || !instance)
      return nullArgument(artifact ? "instance" : "artifact");
    *instance = nullptr;
    return create(*artifact, readStruct(options), instance);
  });
}

void freestone_instance_release(freestone_instance *instance) { delete instance; }

int32_t freestone_instance_threads(const freestone_instance *instance) {
  return instance ? instance->instance->threads() : 0;
}

size_t freestone_instance_input_count(const freestone_instance *instance) {
  return instance ? countValues(instance->instance->entry().inputs) : 0;
}

size_t freestone_instance_output_count(const freestone_instance *instance) {
  return instance ? countValues(instance->instance->entry().outputs) : 0;
}

freestone_status freestone_instance_input_info(const freestone_instance *instance, size_t index,
                                               freestone_value_info *info) {
  return guarded([&] {
    return instance ? describeValue(instance->instance->entry().inputs, instance->inputShapes, index, info)
                    : nullArgument("instance");
  });
}

freestone_status freestone_instance_output_info(const freestone_instance *instance, size_t index,
                                                freestone_value_info *info) {
  return guarded([&] {
    return instance ? describeValue(instance->instance->entry().outputs, instance->outputShapes, index, info)
                    : nullArgument("instance");
  });
}

freestone_status freestone_instance_set_input(freestone_instance *instance, size_t index, const DLTensor *tensor) {
  return guarded([&] {
    if (!instance || !tensor)
      return nullArgument(instance ? "tensor" : "instance");
    return instance->instance->setInput(index, *tensor);
  });
}

freestone_status freestone_instance_set_sequence(freestone_instance *instance, size_t index, const DLTensor *elements,
                                                 size_t count) {
  return guarded([&] {
    if (!instance || (!elements && count > 0))
      return nullArgument(instance ? "elements" : "instance");
    return instance->instance->setSequence(index, {elements, count});
  });
}

freestone_status freestone_instance_set_absent(freestone_instance *instance, size_t index) {
  return guarded([&] { return instance ? instance->instance->setAbsent(index) : nullArgument("instance"); });
}

freestone_status freestone_instance_set_output(freestone_instance *instance, size_t index, const DLTensor *tensor) {
  return guarded([&] { return instance ? instance->instance->setOutput(index, tensor) : nullArgument("instance"); });
}

/// Calls `use` with the sizes by name.
template <typename Use>
static Status withSizes(freestone_instance *instance, const freestone_size *sizes, size_t count, Use use) {
  if (!instance || (!sizes && count > 0))
    return nullArgument(instance ? "sizes" : "instance");
  std::vector<std::pair<std::string_view, int64_t>> values;
  for (const freestone_size &size : std::span(sizes, count)) {
    if (!size.symbol)
      return nullArgument("symbol");
    values.emplace_back(size.symbol, size.value);
  }
  return use(values);
}

freestone_status freestone_instance_plan_memory(freestone_instance *instance, const freestone_size *sizes,
                                                size_t size_count, freestone_memory_need *need) {
  return guarded([&] {
    return withSizes(instance, sizes, size_count, [&](const auto &values) -> Status {
      Result<Instance::Need> needed = instance->instance->planMemory(values);
      if (!needed.ok())
        return needed.status();
      freestone_memory_need told = {};
      told.arena_bytes = needed->arenaBytes;
      told.scratch_bytes = needed->scratchBytes;
      told.output_bytes = needed->outputBytes;
      told.state_bytes = needed->stateBytes;
      return writeStruct(need, told);
    });
  });
}

static Status writeDims(Result<std::vector<int64_t>> planned, int64_t *dims) {
  if (!planned.ok())
    return planned.status();
  if (!dims && !planned->empty())
    return nullArgument("dims");
  std::ranges::copy(*planned, dims);
  return {};
}

freestone_status freestone_instance_plan_input(freestone_instance *instance, const freestone_size *sizes,
                                               size_t size_count, size_t index, int64_t *dims) {
  return guarded([&] {
    return withSizes(instance, sizes, size_count,
                     [&](const auto &values) { return writeDims(instance->instance->planInput(values, index), dims); });
  });
}

freestone_status freestone_instance_plan_output(freestone_instance *instance, const freestone_size *sizes,
                                                size_t size_count, size_t index, int64_t *dims) {
  return guarded([&] {
    return withSizes(instance, sizes, size_count, [&](const auto &values) {
      return writeDims(instance->instance->planOutput(values, index), dims);
    });
  });
}

freestone_status freestone_instance_prepare(freestone_instance *instance) {
  return guarded([&] { return instance ? instance->instance->prepare() : nullArgument("instance"); });
}

freestone_status freestone_instance_run(freestone_instance *instance) {
  return guarded([&] { return instance ? instance->instance->run() : nullArgument("instance"); });
}

freestone_status freestone_instance_submit(freestone_instance *instance, int64_t *run) {
  return guarded([&] {
    if (!instance)
      return nullArgument("instance");
    Result<int64_t> number = instance->instance->submit();
    if (!number.ok())
      return number.status();
    if (run)
      *run = *number;
    return Status();
  });
}

freestone_status freestone_instance_submit_call(freestone_instance *instance, void (*function)(void *user),
                                                void *user) {
  return guarded([&] {
    if (!instance || !function)
      return nullArgument(instance ? "function" : "instance");
    return instance->instance->submitCall(function, user);
  });
}

freestone_status freestone_instance_wait(freestone_instance *instance, int64_t run) {
  return guarded([&] { return instance ? instance->instance->wait(run) : nullArgument("instance"); });
}

freestone_status freestone_instance_output_shape(const freestone_instance *instance, size_t index, int64_t *dims) {
  return guarded([&] {
    if (!instance || !dims)
      return nullArgument(instance ? "dims" : "instance");
    Result<TensorView> view = instance->instance->output(index);
    if (!view.ok())
      return view.status();
    std::ranges::copy(view->shape, dims);
    return Status();
  });
}

freestone_status freestone_instance_output(const freestone_instance *instance, size_t index, DLTensor *view) {
  return guarded([&] {
    if (!instance || !view)
      return nullArgument(instance ? "view" : "instance");
    Result<TensorView> output = instance->instance->output(index);
    if (!output.ok())
      return output.status();
    auto &shape = const_cast<freestone_instance *>(instance)->viewShapes[index];
    shape = std::move(output->shape);
    *view = toDLTensor(output->data, instance->instance->entry().outputs[index].dtype, shape);
    return Status();
  });
}

namespace {
/// An exported DLPack tensor, with the memory it refers to.
struct TakenTensor {
  DLManagedTensor managed = {};
  std::vector<int64_t> shape;
  std::shared_ptr<OutputMemory> memory;
};

void deleteTaken(DLManagedTensor *managed) {
  auto *taken = static_cast<TakenTensor *>(managed->manager_ctx);
  // Release: orders the consumer's reads before the next run's writes.
  if (taken->memory)
    taken->memory->takers.fetch_sub(1, std::memory_order_release);
  delete taken;
}

/// A tensor in the memory of an output.
DLManagedTensor *take(freestone_instance &instance, size_t index, TensorView view) {
  auto taken = std::make_unique<TakenTensor>();
  taken->shape = std::move(view.shape);
  taken->memory = instance.instance->outputMemory(index);
  taken->managed.dl_tensor = toDLTensor(view.data, instance.instance->entry().outputs[index].dtype, taken->shape);
  taken->managed.manager_ctx = taken.get();
  taken->managed.deleter = deleteTaken;
  if (taken->memory)
    taken->memory->takers.fetch_add(1, std::memory_order_relaxed);
  return &taken.release()->managed;
}
} // namespace

freestone_status freestone_instance_take_output(freestone_instance *instance, size_t index, DLManagedTensor **tensor) {
  return guarded([&] {
    if (!instance || !tensor)
      return nullArgument(instance ? "tensor" : "instance");
    Result<TensorView> output = instance->instance->output(index);
    if (!output.ok())
      return output.status();
    *tensor = take(*instance, index, std::move(*output));
    return Status();
  });
}

freestone_status freestone_instance_output_length(const freestone_instance *instance, size_t index, int64_t *length) {
  return guarded([&] {
    if (!instance || !length)
      return nullArgument(instance ? "length" : "instance");
    Result<int64_t> known = instance->instance->outputLength(index);
    if (!known.ok())
      return known.status();
    *length = *known;
    return Status();
  });
}

freestone_status freestone_instance_output_element(freestone_instance *instance, size_t index, size_t element,
                                                   DLTensor *view) {
  return guarded([&] {
    if (!instance || !view)
      return nullArgument(instance ? "view" : "instance");
    Result<TensorView> found = instance->instance->outputElement(index, element);
    if (!found.ok())
      return found.status();
    std::vector<std::vector<int64_t>> &shapes = instance->elementShapes[index];
    shapes.resize(std::max(shapes.size(), element + 1));
    shapes[element] = std::move(found->shape);
    *view = toDLTensor(found->data, instance->instance->entry().outputs[index].dtype, shapes[element]);
    return Status();
  });
}

freestone_status freestone_instance_take_element(freestone_instance *instance, size_t index, size_t element,
                                                 DLManagedTensor **tensor) {
  return guarded([&] {
    if (!instance || !tensor)
      return nullArgument(instance ? "tensor" : "instance");
    Result<TensorView> found = instance->instance->outputElement(index, element);
    if (!found.ok())
      return found.status();
    *tensor = take(*instance, index, std::move(*found));
    return Status();
  });
}

freestone_status freestone_instance_counters(const freestone_instance *instance, freestone_counters *counters) {
  return guarded([&] {
    if (!instance)
      return nullArgument("instance");
    Instance::Counters now = instance->instance->counters();
    freestone_counters value = {};
    value.runs = now.runs;
    value.binds = now.binds;
    value.plan_hits = now.planHits;
    value.allocations = now.allocations;
    value.phases = now.phases;
    value.waits = now.waits;
    value.sleeps = now.sleeps;
    value.moves = now.moves;
    value.arena_bytes = now.arenaBytes;
    value.planned_bytes = now.plannedBytes;
    value.live_bytes = now.liveBytes;
    value.operations = now.operations;
    value.padding_operations = now.paddingOperations;
    value.submits = now.submits;
    value.host_waits = now.queue.waits;
    value.host_wait_ns = now.queue.waitedNs;
    value.starved = now.queue.starved;
    value.busy_ns = now.queue.busyNs;
    value.parks = now.parks;
    value.alerts = now.alerts;
    value.chunks = now.chunks;
    value.borrowed = now.borrowed;
    value.entries = now.entries;
    value.host_calls = now.hostCalls;
    value.claiming_runs = now.claimingRuns;
    value.steals = now.steals;
    value.preemptions = now.preemptions;
    value.kept_whole = now.keptWhole;
    value.kept_near = now.keptNear;
    return writeStruct(counters, value);
  });
}

freestone_status freestone_instance_trace(const freestone_instance *instance, freestone_trace_span *spans,
                                          size_t capacity, size_t *count) {
  return guarded([&] {
    if (!instance || !count || (!spans && capacity > 0))
      return nullArgument(!instance ? "instance" : count ? "spans" : "count");
    *count = 0;
    instance->instance->drain();
    int64_t begin = INT64_MAX;
    for (int worker = 0; worker < instance->instance->threads(); ++worker)
      for (const Trace::Span &span : instance->instance->trace(worker).getSpans())
        begin = std::min(begin, span.begin);
    for (int worker = 0; worker < instance->instance->threads(); ++worker) {
      for (const Trace::Span &span : instance->instance->trace(worker).getSpans()) {
        if (*count < capacity)
          spans[*count] = {worker, span.isWait, span.phase, span.phase, span.begin - begin, span.end - begin};
        ++*count;
      }
    }
    return Status();
  });
}
