// The metadata of an artifact: the compiler's description of the code for the runtime. Stored as CBOR.
//
// All indices are 0-based, all sizes are bytes unless stated otherwise. A "slot" is an index into an entry's table of
// sizes: first the values of the entry's symbols, then all sizes that the compiled `bind` derives from them, constants
// included.
#ifndef FREESTONE_RUNTIME_ARTIFACT_DESCRIPTOR_H
#define FREESTONE_RUNTIME_ARTIFACT_DESCRIPTOR_H

#include "runtime/DType.h"
#include "runtime/Status.h"
#include "runtime/artifact/Panels.h"
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace freestone::runtime {

/// Incremented whenever a field of this file is added, removed or changes its meaning. Other versions are refused.
constexpr int64_t descriptorVersion = 11;

/// 128 bits of xxh3, in canonical (big-endian) order.
using Checksum = std::array<uint8_t, 16>;

constexpr int floatSymbolBits = 32;

/// The origin of a symbol's value.
enum class SymbolSource {
  InputDim,     ///< dimension `index` of input `input`
  InputElement, ///< element `index` of input `input`, read when a run begins; of floats in units of 2^-32
  RunTime,      ///< written by the program itself at run time; before that it has the value of slot `bound`, or `lower`
};

struct Symbol {
  std::string name;
  int64_t lower = 0;
  int64_t upper = INT64_MAX; ///< inclusive
  SymbolSource source = SymbolSource::InputDim;
  int64_t input = -1;     ///< InputDim, InputElement
  int64_t index = -1;     ///< InputDim, InputElement
  int64_t bound = -1;     ///< RunTime: slot of its upper bound, which depends on no later RunTime symbol; -1: none
  int64_t multipleOf = 1; ///< all values are multiples of it; at least 1
  int64_t scale = 1;      ///< InputDim: the dimension is the value times it; at least 1
};

enum class ValueKind {
  Tensor,
  Sequence,         ///< any number of elements, in a stack
  Optional,         ///< a stack of one or none
  String,           ///< not supported
  OptionalSequence, ///< a sequence, or none
  Part,             ///< belongs to one of those, of which the stack is what users see
};

/// An input or output of an entry. Row-major and contiguous: its buffer's `bytesSlot` is exactly the bytes of its
/// elements. Only outputs of `init` may be packed and padded; `dimSlots` is then the shape before packing.
///
/// Sequences and optionals are stacks of their elements along a new first dimension. Along the other dimensions the
/// stack has room for the greatest element. Parts come behind all other inputs (outputs).
struct TensorInfo {
  std::string name;
  DType dtype = DType::f32;
  ValueKind kind = ValueKind::Tensor;
  std::vector<std::string> shape; ///< for messages: "b", "4*s", "768"; one for each of `dimSlots`
  std::vector<int64_t> dimSlots;  ///< slot of each dimension
  int64_t buffer = -1;            ///< its buffer, of kind Input or Output
  /// Of a stack: the dimensions of an element, ascending, in which elements differ, and the names of these sizes.
  /// Inputs have equal sizes of one name in elements at the same place; empty names are no names.
  std::vector<int64_t> openAxes = {};
  std::vector<std::string> openNames = {};
  int64_t sizes = -1; ///< of a stack with open dimensions: the input (output) [length, open dimensions] x i64 with them
  int64_t presence = -1; ///< of an optional sequence: the input (output) [] x i1 that tells whether it is there
  int64_t lacking = 0;   ///< so many of the first dimensions, all open, may an element lack; its sizes there are -1

  bool isStack() const { return kind != ValueKind::Tensor && kind != ValueKind::Part; }
};

/// The number of tensors that users see: those before the parts.
size_t countValues(const std::vector<TensorInfo> &tensors);

enum class BufferKind {
  Input,  ///< the caller's memory, read-only, aligned to its element; referenced by exactly one TensorInfo
  Output, ///< the caller's or the runtime's memory, aligned to its element; referenced by exactly one TensorInfo
  Weight, ///< bytes of `weights[weight]`, read-only
  State,  ///< the bytes of `states[state]`; exactly one buffer of an entry references it
  Arena,  ///< the instance's memory; contents undefined when a run begins
  Alias,  ///< `bytesSlot` bytes of buffer `base` from byte `offsetSlot` on
  Growing ///< as Arena, but its size depends on symbols without a bound: `slices`, each FREESTONE_GROWING_STRIDE apart
};

struct Buffer {
  BufferKind kind = BufferKind::Arena;
  int64_t bytesSlot = -1;
  int64_t alignment = 64;  ///< Arena: power of two, at most 4096
  int64_t weight = -1;     ///< Weight
  int64_t state = -1;      ///< State
  int64_t base = -1;       ///< Alias: an earlier buffer
  int64_t offsetSlot = -1; ///< Alias: slot of the offset in bytes
  /// Arena: the live range, from the first phase that touches this buffer to the one from which on all touches are
  /// known to be done. Two buffers may share bytes if their live ranges do not overlap.
  int64_t first = 0, freed = 0;
  /// Arena: the phase from which on they are known to be done by waits other than windows. Two buffers that share bytes,
  /// where one is touched first from `freed` of the other on and before this, need a window that is as wide as all.
  int64_t released = 0;
  int64_t slices = 0; ///< Growing: at least 1. Output: 1 if its size depends on symbols without a bound, else 0
};

/// A relation between two slots, checked as soon as their sizes are bound, before anything that comes after runs.
struct Assertion {
  enum class Relation { Equal, LessEqual };
  int64_t left = -1; ///< slot of the actual value
  Relation relation = Relation::Equal;
  int64_t right = -1; ///< slot of the required value, or of the upper bound
  int64_t after = -1; ///< the phase that binds the last RunTime symbol on which the slots depend; -1: before a run
  std::string text;   ///< names the left side: "dimension 1 of input 'mask'"
};

/// A tensor operand of a service: row-major, from the beginning of one buffer.
struct ServiceTensor {
  DType dtype = DType::f32;
  std::vector<int64_t> dimSlots; ///< slot of each dimension
  int64_t buffer = -1;
};

/// A call of a function of the application. It reads the inputs and writes the outputs, without concurrent accesses to
/// them.
struct ServiceCall {
  std::string name;
  int64_t version = 1; ///< of the function; must match exactly
  std::vector<ServiceTensor> inputs, outputs;
};

/// The tiles of one program's call.
struct Space {
  enum class Dealing {
    ByTime, ///< so that no worker waits for long
    Evenly, ///< worker 0 has tile 0
    Claimed ///< ByTime; a run may let workers claim them from each other. No other space has this deal.
  };
  int64_t tilesSlot = -1; ///< slot of the number of tiles
  int64_t timeSlot = -1;  ///< slot of the estimated nanoseconds of one worker for all tiles; 0: unknown
  int64_t deal = -1;      ///< spaces with the same deal have equally many tiles, dealt to the same workers
  Dealing dealing = Dealing::ByTime;
};

/// The elements that the tiles of a space touch of one of its buffers.
struct Blocks {
  int64_t space = 0;     ///< of the phase
  int64_t elements = -1; ///< slot of the elements of a block; -1: any elements
  int64_t tiles = -1;    ///< slot of the number of neighbouring tiles that share a block; -1 without blocks
};

/// What two spaces touch of the same buffer, so that their tiles may not run at the same time.
struct Meeting {
  Blocks later, earlier;
};

/// A wait for the workers that have touched, in an earlier phase, what a worker is about to touch; ~phase: in the
/// iteration before of a loop.
struct Window {
  int64_t phase = 0;
  std::vector<Meeting> meetings;
};

/// One step of every worker, with its names for messages and traces.
struct Phase {
  enum class Begin {
    Apart,    ///< of each worker when it can
    Together, ///< of all workers at about the same time: loops and branches begin or end here
  };
  std::string label;            ///< names of ONNX nodes
  std::string program;          ///< the program that computes it
  std::vector<int64_t> buffers; ///< the buffers that it reads or writes, each once
  std::vector<Space> spaces;
  std::vector<int64_t> awaits; ///< earlier phases whose tiles must be done before it begins
  int64_t awaitsAll = -1;      ///< the phase that all workers must have finished before it begins; -1: none
  /// Each worker waits for the tiles of some others. The code counts the windows of all phases in their order.
  std::vector<Window> windows;
  Begin begin = Begin::Apart;
};

/// The description of one entry of the artifact's table, in the same order.
struct Entry {
  std::string name; ///< "main" computes the model; "init" turns plain weights (inputs) into stored ones (outputs, named
                    ///< as `weights`)
  std::vector<Symbol> symbols; ///< values of slots [0, symbols.size())
  int64_t slotCount = 0;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  std::vector<Buffer> buffers;
  std::vector<Assertion> assertions;
  std::vector<ServiceCall> services; ///< in the numbering of the code
  std::vector<Phase> phases;         ///< in the order of the text; loops repeat some, branches leave some out
  int64_t dealCount = 0;             ///< the number of different deals
  int64_t scratchSlot = -1;          ///< slot of one worker's bytes of scratch, FREESTONE_SCRATCH_HEADER included
  int64_t scratchGrows = 0;          ///< 1 if they depend on symbols without a bound: FREESTONE_GROWING_STRIDE apart
  /// Floating-point operations of one run: on elements (a multiply-add is 2), and on padding rows and columns, whose
  /// results are discarded. Counts that overflow 64 bits are INT64_MAX. As expressions for users, and their slots; -1:
  /// not counted.
  std::string operations, padding;
  int64_t operationsSlot = -1, paddingSlot = -1;
};

/// Prefix of weights that no entry reads: files attached to the artifact, such as the description of a training step.
constexpr char attachmentPrefix[] = "attachment/";

/// Bytes that are equal in every run, stored after the code. A stripped weight is an output of `init` of this name,
/// else the plain weight of this name.
struct Weight {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape; ///< as stored: packed and padded
  int64_t bytes = 0;          ///< = product of `shape` times the element's bytes
  int64_t fileOffset = -1;    ///< multiple of 64; -1: stripped. Set by the writer of the file.
  Checksum checksum = {};     ///< set by the writer of the file
};

/// A value that persists from run to run, shared by all entries, which read it and write it in place.
struct StateInfo {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  int64_t bytes = 0;                     ///< = product of `shape` times the element's bytes
  int64_t initial = -1;                  ///< the weight with its first value, row-major and of equal size; -1: zeros
  int64_t panelAxis = 0, panelWidth = 0; ///< packed panels of a matrix; a width of 0: row-major

  Panels panels() const { return {panelAxis, panelWidth}; }
};

/// The machine that the code runs on.
struct Target {
  std::string arch;                  ///< "x86_64"
  std::string cpu;                   ///< LLVM's name, for messages
  std::vector<std::string> features; ///< LLVM's names of all features that the code needs: "avx2", "fma", "avx512f", …
};

struct Descriptor {
  int64_t version = descriptorVersion;
  int64_t abi = 0;       ///< FREESTONE_ABI_VERSION of the code
  std::string producer;  ///< the compiler's build, for messages
  std::string modelName; ///< for messages
  Target target;
  std::vector<Entry> entries;
  std::vector<std::string> segments; ///< entries that compute the model one after another; in this version ["main"]
  std::vector<Weight> weights;
  std::vector<StateInfo> states;
  std::vector<std::string> sites; ///< message of each site, with program and ONNX node; site number n is sites[n - 1]
  std::map<std::string, int64_t> statistics; ///< counters of the compilation

  const Entry *findEntry(const std::string &name) const;
  /// Whether the entry `init` makes this weight.
  bool makes(const Weight &weight) const;
};

/// Canonical: equal descriptors give equal bytes.
std::vector<uint8_t> encode(const Descriptor &descriptor);

/// The descriptor as readable JSON, in valid UTF-8.
std::string toJson(const Descriptor &descriptor);

/// Decodes and validates; malformed bytes give an error that names the field.
Result<Descriptor> decode(std::span<const uint8_t> bytes);

/// Checks every property that the runtime relies on: indices in range, consistent kinds, unique names.
Status validate(const Descriptor &descriptor);

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_ARTIFACT_DESCRIPTOR_H
