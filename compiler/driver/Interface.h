// The only entry to libfreestone_compiler.so: a C interface that the command line and the language bindings load on
// demand, so that processes that only run artifacts load no LLVM. Plain data in, plain data out, nothing of MLIR.
#ifndef FREESTONE_COMPILER_DRIVER_INTERFACE_H
#define FREESTONE_COMPILER_DRIVER_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Incremented whenever a struct of this file changes other than by new fields at the end of
// `freestone_compile_options`.
enum { FREESTONE_COMPILER_INTERFACE_VERSION = 4 };

typedef enum freestone_compiler_status {
  FREESTONE_COMPILER_OK = 0,
  FREESTONE_COMPILER_FAILED = 1, // the model can't be read or is invalid, or writing failed, or an internal error
  FREESTONE_COMPILER_USAGE = 2,  // an option is wrong: unknown target, --dim of a symbol that the model does not have
  FREESTONE_COMPILER_UNSUPPORTED =
      3, // the model is valid, but uses a feature that can't be compiled; `error` names it, as `check` does
} freestone_compiler_status;

// `--dim seq=8:1024:8` and `--bind batch=8` (minimum == maximum).
typedef struct freestone_dim_bound {
  const char *symbol; // name of the symbol, as `check` prints it
  int64_t minimum;
  int64_t maximum;     // inclusive; INT64_MAX: unbounded
  int64_t multiple_of; // all values are multiples of it; 0: unknown
} freestone_dim_bound;

// The progress of a compilation; valid during the call. Fields may be added at the end.
typedef struct freestone_compile_progress {
  size_t struct_size;
  const char *phase; // that has begun or goes on: "import", "graph", "tile", "tune", "task", "sizes", "code",
                     // "package"; and "wait", while another process makes the same code
  int64_t done;      // programs compiled so far; reported after each in "code"
  int64_t total;     // number of programs; 0 in other phases
} freestone_compile_progress;

// Set `struct_size`, zero the rest, then fill. Strings are UTF-8, owned by the caller, and only read during the call.
typedef struct freestone_compile_options {
  size_t struct_size;         // sizeof(freestone_compile_options) of the caller
  const char *model_path;     // the .onnx file; external data are looked for beside it
  const char *output_path;    // the .stone file (compile); written under a temporary name and renamed
  const char *target;         // "host", "x86-64-v3" or "x86-64-v4"; null: "host"
  int32_t optimization_level; // 0…3
  int32_t strip_weights;      // non-zero: the artifact refers to its weights instead of containing them
  int32_t threads; // programs that are compiled at the same time, which changes nothing about the file; 0: as many as
                   // there are CPUs, if the free memory is enough for that
  size_t dim_bound_count;
  const freestone_dim_bound *dim_bounds;
  const char *print_ir_tree_dir; // folder for the module after every pass, as of --mlir-print-ir-tree-dir; null: none
  const char *training;          // JSON (see TrainingText.h): compiles a training step of the model; null: the model
  const char *disable;           // optimizations to leave out (see Switches.h), comma-separated; null: none
  // Receives the progress, from one thread at a time, not always the caller's. Must not call the compiler. May be null.
  void (*progress)(void *user, const freestone_compile_progress *progress);
  void *progress_user;      // handed to `progress`
  const char *cache_folder; // folder of the program cache, shared by models (see cache/README.md); null: no cache
  int32_t cache_read_only;  // non-zero: the cache is only read
  // Receives a sentence about the cache: a warning, of which callers show one, or the reason of a miss. May be null.
  void (*say)(void *user, int32_t is_warning, const char *sentence);
  void *say_user;         // handed to `say`
  int32_t explain_misses; // non-zero: `say` receives the reasons of misses
  // Size limit of `cache_folder` in bytes; 0: 8 GiB.
  uint64_t cache_max_bytes;
  // Milliseconds that the caller has already waited for a cache lock of a possibly dead machine; deducted from further
  // waits.
  int64_t cache_lock_timeout_spent;
  // Receives from `compile` a description of what was read, before anything is compiled: JSON, {"inputs": […],
  // "outputs": […]} as of check (of a training step its own inputs), and "training" as of compile. Returning 0 ends the
  // compilation as USAGE. May be null.
  int32_t (*accept)(void *user, const char *model);
  void *accept_user; // handed to `accept`
  // JSON as of `describe_device`: compiles for this device instead of `target`. Null: `target`.
  const char *device;
  const char *device_name; // of `device` in messages, such as its file
  // JSON as of `measure_machine`: how fast this machine is, for `target` "host". Null: estimates.
  const char *rates;
  // A file of tilings that replace the chosen ones, for measurements: lines of a program's name and its tiling. May be
  // null.
  const char *tilings;
  // Non-zero: times the best tilings of every contraction on this machine, and takes the fastest; for "host" alone.
  int32_t tune;
} freestone_compile_options;

// Result of every function. Both strings are null or allocated with malloc; release them through `free_result`.
typedef struct freestone_compiler_result {
  freestone_compiler_status status;
  char *text;  // the returned text (see each function); null unless documented
  char *error; // the whole message, without a trailing newline; null when status is OK
} freestone_compiler_result;

// A tensor for the interpreter: C-contiguous, little-endian, i1 as one byte 0/1 an element. The elements of a sequence
// are several tensors of one name, in order; one of rank -1 without data comes before them, as it must where there are
// none. An optional sequence that is not there is one without a type; as an input it may be left out.
typedef struct freestone_plain_tensor {
  const char *name; // name of the graph's input or output
  const char *type; // as in MLIR: f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 i1
  int64_t rank;
  const int64_t *dims;
  const void *data;
} freestone_plain_tensor;

// Receives one output of `interpret`; the tensor and all that it points to are valid during the call only.
typedef void (*freestone_take_tensor)(void *user, const freestone_plain_tensor *tensor);

// A program that a front end builds input by input and operation by operation, instead of reading it from a file.
// Not thread-safe; different graphs are independent.
typedef struct freestone_graph freestone_graph;

// How graphs are built. Tensors have numbers, from 0 on. Element types are named as in MLIR (`u8` for ui8). A size is a
// number or an expression of symbols ("4*s0 + 1", "s1 // 2", "Min(s0, 8)"), as text. The first function that returns a
// negative number ends the graph: `reason` says why, and only `release` may be called then.
typedef struct freestone_graph_interface {
  // Null with a message in `error`, which `free_result` frees, where the options are wrong. Of `options`, `model_path`,
  // `training`, `dim_bounds` and `accept` have no meaning; callbacks and their users must stay valid until `release`.
  freestone_graph *(*create)(const freestone_compile_options *options, freestone_compiler_result *error);
  void (*release)(freestone_graph *graph);
  const char *(*reason)(const freestone_graph *graph); // valid until the next call; never null

  // Bounds of a symbol, inclusive; INT64_MAX: unbounded. Symbols of inputs that are not declared are at least 0.
  void (*symbol)(freestone_graph *graph, const char *name, int64_t minimum, int64_t maximum);
  // An input of a program is C-contiguous. `symbol`, unless null, is a size that the only element of this input, an
  // integer, binds; it must not be declared. Every other symbol must be a dimension of some input.
  int64_t (*input)(freestone_graph *graph, const char *name, const char *type, int64_t rank, const char *const *shape,
                   const char *symbol);
  // A value that stays from run to run, and its value after a run, of the same type and shape, at most once for each. A
  // state without one keeps its value.
  int64_t (*state)(freestone_graph *graph, const char *name, const char *type, int64_t rank, const int64_t *dims);
  int64_t (*update)(freestone_graph *graph, const char *name, int64_t tensor);
  // A weight that the application keeps and seldom changes: what is made of it alone is states, made by entry "pack".
  int64_t (*weight)(freestone_graph *graph, const char *name, const char *type, int64_t rank, const int64_t *dims);
  // Copies `bytes`: elements, row-major, little-endian, i1 as one byte 0/1 an element.
  int64_t (*constant)(freestone_graph *graph, const char *type, int64_t rank, const int64_t *dims, const void *data,
                      size_t bytes);
  // Builds one operation of the table in compiler/frontend/README.md. `attributes` is a JSON object, or null; `node`
  // names the operation in messages and traces, or is null. The number of its first result; further ones follow.
  int64_t (*apply)(freestone_graph *graph, const char *operation, const int64_t *operands, size_t operand_count,
                   const char *attributes, const char *node);
  // `["f32", ["s0", 768]]`; valid until the next call. Null where there is no such tensor.
  const char *(*describe)(freestone_graph *graph, int64_t tensor);
  int64_t (*output)(freestone_graph *graph, const char *name, int64_t tensor);

  // Ends the graph and compiles it into `output_path`; `text` as of `compile`. Afterwards only `release` may be called.
  freestone_compiler_result (*compile)(freestone_graph *graph, const char *output_path);
} freestone_graph_interface;

// All functions may be called from any thread, one at a time; `compile` does its own serialization. They never throw,
// exit or abort, whatever a model contains. They are safe in a forked child if the parent had opened the library and
// called nothing but `warm_up`, `describe_device` and `measure_machine`.
typedef struct freestone_compiler_interface {
  int64_t version;   // FREESTONE_COMPILER_INTERFACE_VERSION
  const char *build; // version of the compiler and of LLVM, for --version and the cache key

  // One-time initialization (registers dialects and targets); starts no thread.
  void (*warm_up)(void);

  // Reads the model and tries every step that can refuse it, up to (not including) the generation of code. `text` is
  // JSON, also when status is UNSUPPORTED:
  //   {"ok": bool, "opsets": {"": 18, …}, "nodes": 123,
  //    "inputs":  [{"name": "x", "type": "f32", "shape": ["batch", 784]}, …],   of sequences and such the type is
  //    "outputs": [same],                                    "seq(tensor(f32))"; shapes: integers or canonical sizes
  //    "random":  [{"node": "/drop", "switches": ["r"], "outputs": ["y"]}, …],   draws random numbers, on which these
  //                                                       outputs depend, unless an input of these names is 0
  //    "slow":    [{"node": "/Sort", "shape": "f32[n, 8]", "operations": 12, "scalar": 12, "reason": "…"}, …],
  //                                                       nodes with much work that goes element by element
  //    "unsupported": [{"node": "/attn/Foo_3", "op": "ai.onnx.Foo", "opset": 18, "reason": "…"}, …]}
  freestone_compiler_result (*check)(const freestone_compile_options *options);

  // Compiles `model_path` into `output_path`. `text` is JSON:
  //   {"target": "x86-64-v4", "phases": [{"name": "import", "seconds": 0.012}, …], "seconds": 0.8,
  //    "programs": 31, "programs_shared": 12,            compiled, and how many further ones were the same as another
  //    "bytes": {"file": …, "code": …, "weights": …},
  //    "random": […],                                    as of check
  //    "training": {…},                                  what a trainer must know, where a training step is compiled
  //    "scalar_work": {"operations": 9000, "scalar": 12,  of one run at hinted or typical sizes: those that go neither
  //                    "programs": [{"program": "p3", "node": "/Sort", "shape": "f32[n, 8]",      through a
  //                    micro-kernel
  //                                  "operations": 12, "scalar": 12, "why": "…"}, …]},            nor in vectors
  //    "counters": {"name": integer, …}}                 how often each switchable optimization applied
  freestone_compiler_result (*compile)(const freestone_compile_options *options);

  // The program at a level: "graph", "tile", "task", "llvm" (IR) or "asm", as `text`; "tiles": why every program is
  // tiled as it is; "profile", of a step that is one stage of a pipeline: JSON of what its nodes cost (see
  // compiler/pipe/ProfileNodes.h).
  freestone_compiler_result (*inspect)(const freestone_compile_options *options, const char *level);

  // Evaluates the model with the reference interpreter (fp64 for floats, exact for integers) and hands every output to
  // `take`, in the order of the graph, in the output's own type, or in f64 where `wide` is non-zero and the output is a
  // float. `text` is null.
  freestone_compiler_result (*interpret)(const freestone_compile_options *options, const freestone_plain_tensor *inputs,
                                         size_t input_count, int32_t wide, freestone_take_tensor take, void *user);

  // The supported operators, as the Markdown of docs/operators.md.
  freestone_compiler_result (*operators)(void);

  // The device that `target`, `device` and `rates` of the options describe, as JSON (see compiler/device).
  freestone_compiler_result (*describe_device)(const freestone_compile_options *options);

  // Measures in less than a second how fast this machine is; `text` is JSON in one line, for `rates`.
  freestone_compiler_result (*measure_machine)(void);

  // Frees the strings and nulls them.
  void (*free_result)(freestone_compiler_result *result);

  // Programs of front ends other than ONNX.
  const freestone_graph_interface *graph;
} freestone_compiler_interface;

// The only exported symbol of libfreestone_compiler.so. The returned table is static.
#ifdef FREESTONE_COMPILER_BUILD
__attribute__((visibility("default")))
#endif
const freestone_compiler_interface *
freestone_compiler(void);

// The symbol's type, for dlsym.
typedef const freestone_compiler_interface *(*freestone_compiler_function)(void);

#ifdef __cplusplus
}
#endif

#endif // FREESTONE_COMPILER_DRIVER_INTERFACE_H
