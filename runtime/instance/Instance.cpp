#include "runtime/instance/Instance.h"

#include "runtime/instance/StateUses.h"
#include "runtime/timeline/Clock.h"
#include "runtime/workers/WorkerCount.h"
#include <algorithm>

using namespace freestone::runtime;

Instance::Instance(std::shared_ptr<const Artifact> artifact, const Entry &entry, int workers, const Options &options)
    : artifact(std::move(artifact)), program(entry), functions(this->artifact->function(entry)),
      planner(entry, functions.bind, Dealer(entry, workers, {options.switches.deals, options.switches.company})),
      inputValues(countValues(entry.inputs)), outputValues(countValues(entry.outputs)), inputs(entry.inputs.size()),
      sequences(entry.inputs.size()), outputs(entry.outputs.size()),
      queueDepth(options.queueDepth ? options.queueDepth : 2), switches(options.switches),
      lastUses(findLastUses(entry, this->artifact->descriptor().states.size())),
      claims(entry, options.switches.claims ? workers : 1), competition(options.assumeBusy),
      turnSpinPolicy(switches.spin ? SpinPolicy::Spin::Shortly : SpinPolicy::Spin::Never) {
  symbols.reserve(entry.symbols.size());
  addPlace(workers);
}

Result<std::unique_ptr<Instance>> Instance::create(std::shared_ptr<const Artifact> artifact, const Entry &entry,
                                                   Options options) {
  constexpr int mostWorkers = 4096;
  WorkerCount count = chooseWorkerCount(options.threads);
  if (options.threads < 0 || count.workers > mostWorkers)
    return Status(Code::InvalidArgument,
                  "the number of threads must be 0 (automatic) or 1 to " + std::to_string(mostWorkers));
  constexpr int deepestQueue = 1024;
  if (options.queueDepth < 0 || options.queueDepth > deepestQueue)
    return Status(Code::InvalidArgument,
                  "the depth of the queue must be 0 (automatic) or 1 to " + std::to_string(deepestQueue));
  if (options.log)
    options.log("entry '" + entry.name + "': " + std::to_string(count.workers) +
                (count.workers == 1 ? " worker (" : " workers (") + count.reason + ")");

  std::unique_ptr<Instance> instance(new Instance(std::move(artifact), entry, count.workers, options));
  if (Status status = instance->useState(std::move(options.state)); !status.ok())
    return status;
  Result<std::unique_ptr<ServiceTable>> services = ServiceTable::create(entry, options.services);
  if (!services.ok())
    return services.status();
  instance->services = std::move(*services);
  instance->memory = Memory::create(options.memory, options.maxMemory);
  if (Status status = instance->reserveGrowing(count.workers); !status.ok())
    return status;
  Result<std::unique_ptr<Gang>> gang =
      Gang::start(count.workers, options.switches, std::move(options.cancelled), std::move(options.crew));
  if (!gang.ok())
    return gang.status();
  instance->gang = std::move(*gang);
  if (options.trace || options.timeline)
    instance->startTracing(std::move(options.timeline));
  return instance;
}

void Instance::startTracing(std::shared_ptr<Timeline> given) {
  timeline = std::move(given);
  if (!timeline)
    return gang->startTracing(program.phases.size(), {});
  std::string owner = program.name == "main" ? "" : program.name + ": ";
  for (int worker = 0; worker < threads(); ++worker)
    lanes.push_back(&timeline->addLane(owner + "worker " + std::to_string(worker)));
  for (int worker = 0; worker < threads(); ++worker)
    plannedLanes.push_back(&timeline->addLane(owner + "planned: worker " + std::to_string(worker)));
  for (const Phase &phase : program.phases) {
    taskNames.push_back(timeline->nameOf(phase.label, phase.program));
    waitNames.push_back(timeline->nameOf("wait for " + phase.label));
  }
  gang->startTracing(program.phases.size(), [this](int worker, const Trace &trace) { recordTasks(worker, trace); });
}

/// Records, for the first run with these sizes, what each worker should do from now on.
void Instance::recordPlan(PreparedRun &run) {
  if (!timeline || recordedSizes == run.sizes)
    return;
  recordedSizes = run.sizes;
  int64_t start = now();
  for (const PlannedSpan &span : run.dealer.plan(run.sizes, run.deals)) {
    Timeline::Event event = {start + int64_t(span.begin), start + int64_t(span.end)};
    event.name = taskNames[span.phase];
    event.run = run.number;
    event.firstTile = span.firstTile;
    event.tiles = span.tiles;
    event.ofTiles = span.ofTiles;
    plannedLanes[span.worker]->add(event);
  }
}

/// Records a worker's activity of the current run on the timeline.
void Instance::recordTasks(int worker, const Trace &trace) const {
  for (const Trace::Span &span : trace.getSpans()) {
    Timeline::Event event = {span.begin, span.end};
    event.name = (span.isWait ? waitNames : taskNames)[span.phase];
    event.run = executing->number;
    if (!span.isWait) {
      double bytes = 0;
      for (int64_t buffer : program.phases[span.phase].buffers)
        bytes += static_cast<double>(executing->sizes[program.buffers[buffer].bytesSlot]);
      double ofPhase = 0;
      for (const Space &space : program.phases[span.phase].spaces)
        ofPhase += static_cast<double>(executing->sizes[space.tilesSlot]);
      event.firstTile = span.firstTile;
      event.tiles = span.tiles;
      event.ofTiles = span.ofTiles;
      event.bytes = static_cast<int64_t>(bytes * static_cast<double>(span.tiles) / std::max(ofPhase, 1.0));
    }
    lanes[worker]->add(event);
  }
}

Status Instance::useState(std::shared_ptr<State> given) {
  if (given && &given->artifact() != artifact.get())
    return {Code::InvalidArgument, "the state belongs to another artifact"};
  if (std::ranges::find(program.buffers, BufferKind::State, &Buffer::kind) == program.buffers.end())
    return {};
  if (!given) {
    Result<std::shared_ptr<State>> created = State::create(artifact);
    if (!created.ok())
      return created.status();
    given = std::move(*created);
  }
  kept = std::move(given);
  return {};
}

/// Parts are no values of their own.
Status Instance::checkKind(const std::vector<TensorInfo> &values, size_t index, const char *what,
                           bool isSequence) const {
  if (index >= (&values == &program.inputs ? inputValues : outputValues))
    return {Code::InvalidArgument, "there is no " + std::string(what) + " " + std::to_string(index)};
  if (values[index].isStack() == isSequence)
    return {};
  return {Code::InvalidArgument,
          std::string(what) + " '" + values[index].name + "' is " +
              (isSequence ? "a tensor, no sequence" : "a sequence or an optional; use the functions for sequences")};
}

static const std::string intermediates = "the memory of the model's intermediates";

/// Runs execute one at a time, so that they share this memory as they share the arena.
Status Instance::reserveGrowing(int workers) {
  growing.resize(program.buffers.size() + 1);
  auto reserve = [&](Block &block, int64_t slices) -> Status {
    Result<Block> reserved = memory->reserve(slices, FREESTONE_GROWING_STRIDE, intermediates);
    if (!reserved.ok())
      return reserved.status();
    block = std::move(*reserved);
    return {};
  };
  for (size_t i = 0; i < program.buffers.size(); ++i)
    if (const Buffer &buffer = program.buffers[i]; buffer.kind == BufferKind::Growing)
      if (Status status = reserve(growing[i], buffer.slices); !status.ok())
        return status;
  return program.scratchGrows ? reserve(growing.back(), workers) : Status();
}

Status Instance::setInput(size_t index, const DLTensor &tensor) {
  if (Status status = checkKind(program.inputs, index, "input", /*isSequence=*/false); !status.ok())
    return status;
  if (Status status = viewTensor(tensor, program.inputs[index], "input", incoming); !status.ok())
    return status;
  return setInput(index, incoming);
}

Status Instance::setInput(size_t index, const TensorView &view) {
  inputs[index] = view;
  current = nullptr;
  return {};
}

Status Instance::setSequence(size_t index, std::span<const DLTensor> elements) {
  if (Status status = checkKind(program.inputs, index, "input", /*isSequence=*/true); !status.ok())
    return status;
  Sequence given;
  if (Status status = viewSequence(elements, program.inputs[index], given); !status.ok())
    return status;
  sequences[index] = std::move(given);
  current = nullptr;
  return {};
}

Status Instance::setAbsent(size_t index) {
  if (Status status = checkKind(program.inputs, index, "input", /*isSequence=*/true); !status.ok())
    return status;
  if (program.inputs[index].kind == ValueKind::Sequence)
    return {Code::InvalidArgument, "input '" + program.inputs[index].name + "' is not optional"};
  sequences[index].emplace().isAbsent = true;
  current = nullptr;
  return {};
}

Status Instance::setOutput(size_t index, const DLTensor *tensor) {
  if (Status status = checkKind(program.outputs, index, "output", /*isSequence=*/false); !status.ok())
    return status;
  current = nullptr;
  if (!tensor) {
    outputs[index].reset();
    return {};
  }
  if (Status status = viewTensor(*tensor, program.outputs[index], "output", incoming); !status.ok())
    return status;
  outputs[index] = incoming;
  return {};
}

Result<std::vector<int64_t>> Instance::planShape(NamedSizes sizes, const std::vector<TensorInfo> &values, size_t index,
                                                 const char *what) {
  if (index >= (&values == &program.inputs ? inputValues : outputValues))
    return Status(Code::InvalidArgument, "there is no " + std::string(what) + " " + std::to_string(index));
  Result<SizePlan> plan = planner.planFor(sizes);
  if (!plan.ok())
    return plan.status();
  // Of a stack, those of its greatest element.
  std::vector<int64_t> dims;
  for (int64_t slot : std::span(values[index].dimSlots).subspan(values[index].isStack() ? 1 : 0))
    dims.push_back(plan->sizes[slot]);
  return dims;
}

Result<Instance::Need> Instance::planMemory(NamedSizes sizes) {
  Result<SizePlan> plan = planner.planFor(sizes);
  if (!plan.ok())
    return plan.status();
  Need need;
  need.arenaBytes = plan->arenaBytes;
  need.scratchBytes = plan->scratchBytes * threads();
  for (const TensorInfo &output : program.outputs)
    need.outputBytes += plan->sizes[program.buffers[output.buffer].bytesSlot];
  if (kept)
    need.stateBytes = kept->bytes();
  return need;
}

/// Prepares the next slot for the current inputs.
Status Instance::bind() {
  current = nullptr;
  if (Status status = bindSymbols(); !status.ok())
    return status;
  Result<const SizePlan *> planned = planner.plan(symbols);
  if (!planned.ok())
    return planned.status();
  const SizePlan &fresh = **planned;
  if (Status status = checkInputs(fresh); !status.ok())
    return status;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (Status status = checkOutput(fresh, i); !status.ok())
      return status;
  // Inputs refused so far have not overwritten any earlier outputs.
  PreparedRun &run = *places[nextPlace];
  if (run.job > 0)
    queue->await(run.job);
  run.number = run.job = 0;
  run.status = {};
  if (Status status = reserve(fresh, run); !status.ok())
    return status;
  fillTables(fresh, run);
  plannedBytes = fresh.arenaBytes;
  liveBytes = fresh.liveBytes;
  current = &run;
  return {};
}

/// Grows the arena if needed, and allocates new memory for outputs whose old memory a consumer still holds.
Status Instance::reserve(const SizePlan &plan, PreparedRun &run) {
  int64_t scratch = program.scratchGrows ? 0 : plan.scratchBytes * threads(), bytes = 0;
  if (__builtin_add_overflow(scratch, plan.arenaBytes, &bytes))
    return {Code::OutOfMemory, "the model's intermediates need more than 2^63 bytes"};
  if (bytes > arena.size()) {
    drain();
    arena = Block();
    Result<Block> larger = memory->allocate(bytes, intermediates);
    if (!larger.ok())
      return larger.status();
    arena = std::move(*larger);
  }
  if (Status status = packSequences(run); !status.ok())
    return status;
  run.isCompact.assign(outputs.size(), false);
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::shared_ptr<OutputMemory> &output = run.outputs[i];
    const TensorInfo &info = program.outputs[i];
    int64_t needed = plan.sizes[program.buffers[info.buffer].bytesSlot];
    bool grows = program.buffers[info.buffer].slices > 0;
    bool isFree = output && output->takers.load(std::memory_order_acquire) == 0;
    if (!outputs[i] && isFree && (grows || output->block.size() >= needed))
      continue;
    output.reset();
    if (outputs[i])
      continue;
    std::string purpose = "output '" + info.name + "'";
    Result<Block> block =
        grows ? memory->reserve(1, FREESTONE_GROWING_STRIDE, purpose) : memory->allocate(needed, purpose);
    if (!block.ok())
      return block.status();
    output = std::make_shared<OutputMemory>();
    output->purpose = std::move(purpose);
    output->block = std::move(*block);
  }
  return {};
}

/// Gives stacks and their parts data: in place where the elements lie as in a stack, else copies of this run's own.
Status Instance::packSequences(PreparedRun &run) {
  auto place = [&](size_t index) -> Status {
    Block &block = run.packed[index];
    TensorView &view = *inputs[index];
    if (!block.data() || block.size() < view.bytes) {
      Result<Block> larger = memory->allocate(view.bytes, "input '" + program.inputs[index].name + "'");
      if (!larger.ok())
        return larger.status();
      block = std::move(*larger);
    }
    view.data = block.data();
    return {};
  };
  for (size_t i = 0; i < inputValues; ++i) {
    const TensorInfo &info = program.inputs[i];
    if (!info.isStack())
      continue;
    const Sequence &sequence = *sequences[i];
    TensorView &stack = *inputs[i];
    stack.data = inPlace(sequence, stack);
    if (!stack.data) {
      if (Status status = place(i); !status.ok())
        return status;
      pack(sequence, info, stack, static_cast<char *>(stack.data));
    }
    if (info.sizes >= 0) {
      if (Status status = place(info.sizes); !status.ok())
        return status;
      packSizes(sequence, info, static_cast<int64_t *>(inputs[info.sizes]->data));
    }
    if (info.presence >= 0) {
      if (Status status = place(info.presence); !status.ok())
        return status;
      *static_cast<char *>(inputs[info.presence]->data) = !sequence.isAbsent;
    }
  }
  return {};
}

void Instance::fillTables(const SizePlan &plan, PreparedRun &run) {
  std::vector<void *> &buffers = run.buffers;
  std::ranges::copy(plan.sizes, run.sizes.begin());
  std::ranges::copy(plan.deals.firsts, run.deals.firsts.begin());
  std::ranges::copy(plan.deals.computing, run.deals.computing.begin());
  std::ranges::copy(plan.deals.grains, run.deals.grains.begin());
  run.windows = plan.windows;
  run.windowsWhereClaimed = plan.windowsWhereClaimed;
  char *shared = arena.data() + (program.scratchGrows ? 0 : plan.scratchBytes * threads());
  run.growths.clear();
  run.unsized = {};
  for (size_t i = 0; i < inputs.size(); ++i)
    buffers[program.inputs[i].buffer] = inputs[i]->data;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Buffer &buffer = program.buffers[program.outputs[i].buffer];
    buffers[program.outputs[i].buffer] = outputs[i] ? outputs[i]->data : run.outputs[i]->block.data();
    if (buffer.slices > 0)
      run.growths.push_back({&run.outputs[i]->block, buffer.bytesSlot, &run.outputs[i]->purpose});
  }
  if (program.scratchGrows)
    run.growths.push_back({&growing.back(), program.scratchSlot, &intermediates});
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Buffer &buffer = program.buffers[i];
    if (buffer.kind == BufferKind::Weight)
      buffers[i] = const_cast<void *>(artifact->weight(buffer.weight));
    if (buffer.kind == BufferKind::State)
      buffers[i] = kept->data(buffer.state);
    if (buffer.kind == BufferKind::Arena)
      buffers[i] = shared + plan.offsets[i];
    if (buffer.kind == BufferKind::Growing) {
      buffers[i] = growing[i].data();
      run.growths.push_back({&growing[i], buffer.bytesSlot, &intermediates});
    }
    if (buffer.kind == BufferKind::Alias)
      buffers[i] = static_cast<char *>(buffers[buffer.base]) + plan.offsets[i];
  }
  run.context.buffers = buffers.data();
  run.context.sizes = run.sizes.data();
  run.context.deals = run.deals.firsts.data();
  run.context.resize = PreparedRun::resize;
  run.context.run = &run;
  run.context.computing = run.deals.computing.data();
  run.context.grains = run.deals.grains.data();
  run.context.scratch = program.scratchGrows ? growing.back().data() : arena.data();
  run.context.scratch_stride = program.scratchGrows ? FREESTONE_GROWING_STRIDE : plan.scratchBytes;
}
