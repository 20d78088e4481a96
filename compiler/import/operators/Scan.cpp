// Scan: a body for every step of sequences. Where the shapes of states change, a short one is unrolled.
#include "compiler/expressions/Scan.h"
#include "compiler/import/GraphImporter.h"
#include "compiler/import/Registry.h"
#include "compiler/import/operators/Regions.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// Longer scans are not unrolled.
constexpr int64_t maxUnrolled = 64;

/// An axis of scanned tensors, and whether they are read from the end; the lists may be absent.
int64_t entryOf(ArrayRef<int64_t> list, int64_t index) { return index < int64_t(list.size()) ? list[index] : 0; }

Tensor moveAxis(Tensor x, int64_t from, int64_t to) {
  if (!x || from == to)
    return x;
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  permutation.erase(permutation.begin() + from);
  permutation.insert(permutation.begin() + to, from);
  return transpose(x, permutation);
}

/// Unrolls a scan: returns the final states, then the collected values, with the steps first.
std::optional<Values> unroll(Node &node, const onnx::GraphProto &body, Values states, ArrayRef<Tensor> sequences,
                             int64_t steps) {
  ModelBuilder &builder = node.builder();
  std::vector<SmallVector<Tensor>> collected(body.output_size() - states.size());
  for (int64_t step = 0; step < steps; ++step) {
    Values arguments = states;
    for (Tensor sequence : sequences)
      arguments.push_back(squeeze(slice(sequence, 0, builder.size(step), builder.size(1)), {0}));
    std::optional<Values> outputs = node.importer().importBody(body, arguments);
    if (!outputs)
      return std::nullopt;
    if (!llvm::all_of(*outputs, [](const ModelValue &output) { return output.kind == ModelValue::Kind::Tensor; }))
      return node.refuse("its body gives sequences or optionals"), std::nullopt;
    for (auto [index, output] : enumerate(*outputs))
      if (index < states.size())
        states[index] = output;
      else
        collected[index - states.size()].push_back(unsqueeze(output.tensor, {0}));
  }
  for (ArrayRef<Tensor> parts : collected)
    states.push_back(concat(parts, 0));
  return states;
}

/// Reorders the collected values as the node specifies, along its axes.
void setScanned(Node &node, ArrayRef<Tensor> outputs, int64_t states) {
  SmallVector<int64_t> axes = node.integers("scan_output_axes"), directions = node.integers("scan_output_directions");
  for (auto [index, result] : enumerate(outputs)) {
    Tensor output = result;
    int64_t place = int64_t(index) - states;
    if (place >= 0 && output) {
      std::optional<int64_t> axis = node.normalize(entryOf(axes, place), output.rank());
      if (entryOf(directions, place))
        output = slice(output, 0, output.dim(0) - 1, output.dim(0), -1);
      output = axis ? moveAxis(output, 0, *axis) : Tensor();
    }
    node.setOutput(index, output);
  }
}

/// Of operator set 9 and later.
void scanNode(Node &node) {
  const onnx::GraphProto *body = bodyOf(node, "body");
  int64_t scanned = node.integer("num_scan_inputs"), states = node.inputCount() - scanned;
  if (!body)
    return;
  if (scanned < 1 || states < 0 || body->input_size() != node.inputCount() || body->output_size() < states) {
    node.reject("its body does not fit its inputs");
    return;
  }
  ModelBuilder &builder = node.builder();
  SmallVector<int64_t> inputAxes = node.integers("scan_input_axes"),
                       inputDirections = node.integers("scan_input_directions");
  Values first;
  SmallVector<Tensor> scannedTensors;
  Expr length;
  for (int64_t index = 0; index < node.inputCount(); ++index) {
    Tensor input = node.input(index);
    if (!input)
      return;
    if (index < states) {
      first.push_back(input);
      continue;
    }
    std::optional<int64_t> axis = node.normalize(entryOf(inputAxes, index - states), input.rank());
    if (!axis)
      return;
    input = moveAxis(input, *axis, 0);
    if (input && entryOf(inputDirections, index - states))
      input = slice(input, 0, input.dim(0) - 1, input.dim(0), -1);
    Shape expected(input ? input.shape() : ArrayRef<Expr>());
    if (length && !expected.empty())
      expected[0] = length;
    input = conform(input, expected, "the lengths of what is scanned");
    if (!input)
      return;
    length = input.dim(0);
    scannedTensors.push_back(input);
  }
  std::vector<Tensor> carried;
  for (const ModelValue &state : first)
    carried.push_back(state.tensor);
  std::vector<Tensor> outputs = scan(builder, carried, scannedTensors, [&](ArrayRef<Tensor> arguments) {
    return importTensors(node, *body, Values(arguments.begin(), arguments.end()));
  });
  std::optional<int64_t> steps = length.asConstant();
  if (outputs.empty() && !builder.stopped() && steps && *steps > 0 && *steps <= maxUnrolled)
    for (const ModelValue &output : unroll(node, *body, first, scannedTensors, *steps).value_or(Values()))
      outputs.push_back(output.tensor);
  if (outputs.empty() && !builder.stopped())
    node.refuse("the shape of what it carries changes from one step to the next");
  setScanned(node, outputs, states);
}

/// Of operator set 8, which scans the sequences of each sample of a batch: a scan over samples of scans over steps.
void scanBatches(Node &node) {
  const onnx::GraphProto *body = bodyOf(node, "body");
  int64_t scanned = node.integer("num_scan_inputs"), states = node.inputCount() - 1 - scanned;
  if (!body)
    return;
  if (scanned < 1 || states < 0 || body->input_size() != node.inputCount() - 1 || body->output_size() < states) {
    node.reject("its body does not fit its inputs");
    return;
  }
  if (node.has(0)) {
    node.refuse("the lengths of the sequences of a batch are given");
    return;
  }
  SmallVector<int64_t> directions = node.integers("directions");
  std::vector<Tensor> samples;
  for (int64_t index = 1; index < node.inputCount(); ++index) {
    Tensor input = node.input(index);
    if (!input)
      return;
    int64_t place = index - 1 - states;
    if (int64_t least = place < 0 ? 1 : 2; input.rank() < least) {
      node.reject("an input has no dimension of the batch, or of steps");
      return;
    }
    if (place >= 0 && entryOf(directions, place))
      input = slice(input, 1, input.dim(1) - 1, input.dim(1), -1);
    Shape expected(input.shape());
    if (!samples.empty())
      expected[0] = samples.front().dim(0);
    if (!(input = conform(input, expected, "the samples of what is scanned")))
      return;
    samples.push_back(input);
  }
  std::vector<Tensor> outputs = scan(node.builder(), {}, samples, [&](ArrayRef<Tensor> sample) {
    return scan(node.builder(), sample.take_front(states), sample.drop_front(states), [&](ArrayRef<Tensor> arguments) {
      return importTensors(node, *body, Values(arguments.begin(), arguments.end()));
    });
  });
  if (outputs.empty() && !node.builder().stopped())
    node.refuse("the shape of what it carries changes from one step to the next");
  for (auto [index, output] : enumerate(outputs))
    node.setOutput(index, output);
}

} // namespace

void registerScan(Registry &registry) {
  registry.addMany("Scan", {8, 8}, scanBatches);
  registry.addMany("Scan", {9}, scanNode);
}

} // namespace freestone::importer
