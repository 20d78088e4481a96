/* Freestone's runtime: loads compiled models (`.stone` artifacts) and runs them. A stable C ABI.
 *
 *   freestone_artifact *artifact;            immutable, shared
 *   freestone_instance *instance;            its own memory and workers; one run at a time
 *   freestone_state *state;                  values that stay from run to run, shared by instances; seldom needed
 *   freestone_artifact_load("model.stone", NULL, &artifact);
 *   freestone_instance_create(artifact, NULL, &instance);
 *   freestone_instance_set_input(instance, 0, &x);
 *   freestone_instance_run(instance);
 *   freestone_instance_output(instance, 0, &y);
 *
 * Structs that the runtime fills or reads begin with `struct_size`: set it to sizeof of the struct and zero the rest,
 * so that programs and runtimes of different age understand each other. Strings are UTF-8. No function throws, exits or
 * writes to stdout or stderr.
 *
 * Thread-safety: functions on an artifact may be called from any threads at the same time, except those that supply
 * weights and release. Functions on one instance must not overlap; different instances, also of one artifact, are
 * independent, unless they share a state: then one of them runs at a time. Watches are for threads beside a run.
 */
#ifndef FREESTONE_RUNTIME_H
#define FREESTONE_RUNTIME_H

#include "freestone/dlpack.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define FREESTONE_API
#else
#define FREESTONE_API __attribute__((visibility("default")))
#endif

typedef struct freestone_artifact freestone_artifact;
typedef struct freestone_instance freestone_instance;
typedef struct freestone_state freestone_state;
typedef struct freestone_timeline freestone_timeline;
typedef struct freestone_watch freestone_watch;

typedef enum freestone_status {
  FREESTONE_OK = 0,
  FREESTONE_INVALID_ARGUMENT = 1, /* a null pointer, an index out of range, an unknown name, a call out of order */
  FREESTONE_IO = 2,               /* a file can't be opened or read */
  FREESTONE_BAD_ARTIFACT = 3,     /* not an artifact, truncated or altered */
  FREESTONE_INCOMPATIBLE =
      4,                  /* an artifact of another version or architecture, or a CPU feature or service is missing */
  FREESTONE_MISMATCH = 5, /* an input's dtype, rank, layout or size; sizes that contradict each other */
  FREESTONE_OUT_OF_MEMORY = 6, /* also: more than `max_memory` */
  FREESTONE_CANCELLED = 7,     /* the cancel callback said so; or a run before it in the queue failed */
  FREESTONE_RUN_FAILED = 8,    /* data made the result undefined, such as an index out of range */
  FREESTONE_UNSUPPORTED = 9,   /* a value kind that this runtime does not handle */
  FREESTONE_INTERNAL = 10      /* a fault of Freestone */
} freestone_status;

/* Element types; the names are MLIR's. i1 is one byte that holds 0 or 1 (DLPack: kDLBool). Several elements of 2 or 4
 * bits share a byte, the first in its lowest bits; the last byte is padded. */
typedef enum freestone_dtype {
  FREESTONE_F16 = 1,
  FREESTONE_BF16,
  FREESTONE_F32,
  FREESTONE_F64,
  FREESTONE_I1,
  FREESTONE_I8,
  FREESTONE_I16,
  FREESTONE_I32,
  FREESTONE_I64,
  FREESTONE_U8,
  FREESTONE_U16,
  FREESTONE_U32,
  FREESTONE_U64,
  FREESTONE_F8E4M3FN,
  FREESTONE_F8E4M3FNUZ,
  FREESTONE_F8E5M2,
  FREESTONE_F8E5M2FNUZ,
  FREESTONE_F8E8M0, /* a power of two */
  FREESTONE_F4E2M1,
  FREESTONE_I4,
  FREESTONE_U4,
  FREESTONE_I2,
  FREESTONE_U2
} freestone_dtype;

/* Kinds of values. Tensors of strings are reserved: no artifact has them yet. */
typedef enum freestone_value_kind {
  FREESTONE_TENSOR = 0,
  FREESTONE_SEQUENCE = 1, /* any number of tensors, its elements, of one dtype and rank */
  FREESTONE_OPTIONAL = 2, /* a tensor, or none */
  FREESTONE_STRING_TENSOR = 3,
  FREESTONE_OPTIONAL_SEQUENCE = 4 /* a sequence, or none */
} freestone_value_kind;

/* The message of the last call of this thread that did not return FREESTONE_OK: one sentence without a newline. Valid
 * until the thread's next call that fails. Never null. */
FREESTONE_API const char *freestone_last_error(void);

/* Makes `sentence`, which is copied, this thread's last error: for libraries over the runtime whose functions report as
 * its own do, such as that of freestone/compiler.h. */
FREESTONE_API void freestone_set_last_error(const char *sentence);

/* "0.1.0" */
FREESTONE_API const char *freestone_version(void);

/* "f32"; null for a number that is no dtype. */
FREESTONE_API const char *freestone_dtype_name(freestone_dtype dtype);

/* ---- Artifacts ---- */

typedef struct freestone_load_options {
  size_t struct_size;
  int32_t check_weights; /* non-zero: verify the checksums of the weights too (reads them all) */
  uint64_t file_bytes;   /* the artifact is the file's first so many bytes, as in a cache's entry; 0: the whole file */
} freestone_load_options;

/* Loads an artifact; `options` may be null. The file is mapped and must not be changed while the artifact is in use.
 * Everything but the weights is verified before any of its code is touched. Loading runs native code: a checksum is not
 * trust. Errors: IO, BAD_ARTIFACT, INCOMPATIBLE, OUT_OF_MEMORY. */
FREESTONE_API freestone_status freestone_artifact_load(const char *path, const freestone_load_options *options,
                                                       freestone_artifact **artifact);

/* The same from `size` bytes in memory, which are only read during the call. */
FREESTONE_API freestone_status freestone_artifact_load_memory(const void *bytes, size_t size,
                                                              const freestone_load_options *options,
                                                              freestone_artifact **artifact);

/* Gives the caller's reference back; instances keep their artifact alive. Null is allowed. */
FREESTONE_API void freestone_artifact_release(freestone_artifact *artifact);

/* Verifies the checksums of all stored weights. Errors: BAD_ARTIFACT names the first altered weight. */
FREESTONE_API freestone_status freestone_artifact_check_weights(const freestone_artifact *artifact);

/* Writes the artifact as it was loaded, without weights that were supplied, into a file that appears when it is
 * complete. Errors: IO. */
FREESTONE_API freestone_status freestone_artifact_save(const freestone_artifact *artifact, const char *path);

/* An input or output. All pointers belong to the artifact and live as long as it. Of a sequence or an optional, dtype,
 * rank and shape are those of an element; a size that differs between elements is the greatest one. */
typedef struct freestone_value_info {
  size_t struct_size;
  const char *name;
  freestone_value_kind kind;
  freestone_dtype dtype;
  int32_t rank;
  const char *const *shape; /* `rank` size expressions: "batch", "4*seq", "768" */
  const char *length; /* of a sequence or an optional, the number of its elements as a size expression; else null */
} freestone_value_info;

FREESTONE_API size_t freestone_artifact_input_count(const freestone_artifact *artifact);
FREESTONE_API size_t freestone_artifact_output_count(const freestone_artifact *artifact);
FREESTONE_API freestone_status freestone_artifact_input(const freestone_artifact *artifact, size_t index,
                                                        freestone_value_info *info);
FREESTONE_API freestone_status freestone_artifact_output(const freestone_artifact *artifact, size_t index,
                                                         freestone_value_info *info);

/* The ways through the program that an instance can run: "main", which the functions above are about, and those beside
 * it, such as "evaluate". Those that only make weights are not among them. */
FREESTONE_API size_t freestone_artifact_entry_count(const freestone_artifact *artifact);
/* Null if there is no such entry; else it lives as long as the artifact. */
FREESTONE_API const char *freestone_artifact_entry_name(const freestone_artifact *artifact, size_t index);

/* A symbolic size and the values it may take. */
typedef struct freestone_symbol_info {
  size_t struct_size;
  const char *name;
  int64_t lower;
  int64_t upper;       /* inclusive; INT64_MAX: unbounded */
  int32_t is_result;   /* non-zero: known only after a run, such as the number of elements that are not zero */
  int64_t multiple_of; /* every value is; at least 1 */
} freestone_symbol_info;

FREESTONE_API size_t freestone_artifact_symbol_count(const freestone_artifact *artifact);
FREESTONE_API freestone_status freestone_artifact_symbol(const freestone_artifact *artifact, size_t index,
                                                         freestone_symbol_info *info);

/* All metadata as JSON, for people and tools; its fields may change from version to version. Give it back with
 * freestone_free. */
FREESTONE_API freestone_status freestone_artifact_describe(const freestone_artifact *artifact, char **json);
FREESTONE_API void freestone_free(void *memory);

/* ---- Weights supplied at load ----
 *
 * An artifact compiled with --strip-weights carries none: supply each by name, then finish. Before `finish` no instance
 * can be made. These functions must not overlap with any other use of the artifact. */

/* The plain weights that the artifact needs, as in the model. 0: the artifact is complete. */
FREESTONE_API size_t freestone_artifact_missing_weight_count(const freestone_artifact *artifact);
FREESTONE_API freestone_status freestone_artifact_missing_weight(const freestone_artifact *artifact, size_t index,
                                                                 freestone_value_info *info);

/* Supplies one. `tensor` is C-contiguous on the CPU; its memory must stay unchanged until `finish` returns.
 * Errors: INVALID_ARGUMENT (no such name), MISMATCH. */
FREESTONE_API freestone_status freestone_artifact_supply_weight(freestone_artifact *artifact, const char *name,
                                                                const DLTensor *tensor);

/* Turns the plain weights into the stored form, with `threads` workers (0: as many as the machine offers).
 * Errors: INVALID_ARGUMENT names the first weight that was not supplied; those of a run. */
FREESTONE_API freestone_status freestone_artifact_finish_weights(freestone_artifact *artifact, int32_t threads);

/* Bytes of a stored weight, 64-byte aligned, owned by the artifact; numbered as in `describe`. Errors:
 * INVALID_ARGUMENT. */
FREESTONE_API freestone_status freestone_artifact_stored_weight(const freestone_artifact *artifact, size_t index,
                                                                const void **data, size_t *bytes);

/* A file that goes along with the artifact: `training.json` and `model.onnx` of a training step. Owned by the artifact.
 * Errors: INVALID_ARGUMENT (there is none of this name). */
FREESTONE_API freestone_status freestone_artifact_attachment(const freestone_artifact *artifact, const char *name,
                                                             const void **data, size_t *bytes);

/* ---- State ----
 *
 * Values that the program keeps from run to run and writes itself, such as parameters that are trained, the moments of
 * an optimizer and the number of steps. All entries of an artifact know the same values by the same numbers. */

/* One of these values. All pointers belong to the artifact and live as long as it. */
typedef struct freestone_state_info {
  size_t struct_size;
  const char *name;
  freestone_dtype dtype;
  int32_t rank;
  const int64_t *dims; /* `rank` sizes */
  uint64_t bytes;
  const char *initial; /* the weight of the model that it begins as; null: zeros */
  /* A matrix [n, k], or [k, n] along axis 1, that is stored as [n / panel_width, k, panel_width], as products read it.
   * `panel_width` 0: stored row-major. */
  int32_t panel_axis, panel_width;
} freestone_state_info;

FREESTONE_API size_t freestone_artifact_state_count(const freestone_artifact *artifact);
FREESTONE_API freestone_status freestone_artifact_state(const freestone_artifact *artifact, size_t index,
                                                        freestone_state_info *info);

/* Makes all values of an artifact, as they are in the beginning. Instances that are made with the handle (see
 * freestone_instance_options) run on it, and keep it alive, as it keeps the artifact. Release the handle. Errors:
 * INVALID_ARGUMENT (weights are missing), OUT_OF_MEMORY. */
FREESTONE_API freestone_status freestone_state_create(freestone_artifact *artifact, freestone_state **state);

/* The state that an instance runs on, also if it made its own, as a handle of the caller's: release it. Errors:
 * INVALID_ARGUMENT (its entry has none). */
FREESTONE_API freestone_status freestone_instance_state(const freestone_instance *instance, freestone_state **state);

/* Gives a handle back; the values live as long as a handle or an instance. Null is allowed. */
FREESTONE_API void freestone_state_release(freestone_state *state);

/* A view of a value as it is stored, in place from beginning to end and aligned to 64 bytes: of the value's dims, or of
 * its panels, in row-major order. Its data may be read and written whenever no instance runs on this state; data and
 * shape live as long as the state. A run that fails or is cancelled
 * may have written some values and others not. Errors: INVALID_ARGUMENT. */
FREESTONE_API freestone_status freestone_state_tensor(const freestone_state *state, size_t index, DLTensor *view);

/* Copies a value into a row-major tensor of its dims, however it is stored, or out of one, whenever no instance runs on
 * this state. Errors: INVALID_ARGUMENT (also: another number of bytes than the value's). */
FREESTONE_API freestone_status freestone_state_read(const freestone_state *state, size_t index, void *data,
                                                    size_t bytes);
FREESTONE_API freestone_status freestone_state_write(freestone_state *state, size_t index, const void *data,
                                                     size_t bytes);

/* Places a value in the caller's memory of so many bytes, exactly the value's, which is aligned to 64; null: back in the
 * state's own memory. All functions and runs use it from then on; nothing is copied. Whenever no instance runs on this
 * state; the memory must stay until the next call or the end of the state. So a program runs on several versions of a
 * value in turns. Errors: INVALID_ARGUMENT. */
FREESTONE_API freestone_status freestone_state_place(freestone_state *state, size_t index, void *data, size_t bytes);

/* ---- Time lines ----
 *
 * What the threads of a process did and when, as a file of Chrome trace events, which ui.perfetto.dev opens: a row for
 * each worker with one event for every task (its tiles of one phase), and rows of the application's own. */

/* The file appears with `write`; until then events wait in a file without a name in its folder, not in memory. Errors:
 * IO. */
FREESTONE_API freestone_status freestone_timeline_create(const char *path, freestone_timeline **timeline);

/* Nanoseconds of the clock of all time lines. */
FREESTONE_API int64_t freestone_timeline_now(void);

/* Adds an event of the application to the row with this name, which is made if need be. `run`: the number of the run or
 * step that it belongs to; -1: none. The strings are copied. May be called from any thread. */
FREESTONE_API freestone_status freestone_timeline_add(freestone_timeline *timeline, const char *lane, const char *name,
                                                      int64_t begin_ns, int64_t end_ns, int64_t run);

/* One file may show several processes, of which each has a timeline: this one is the process `id` (1 by default, other
 * numbers for others), and times count from `origin_ns` of its own clock (by default from `create` on). */
FREESTONE_API freestone_status freestone_timeline_set_process(freestone_timeline *timeline, int32_t id,
                                                              const char *name, int64_t origin_ns);

/* Gives everything so far as text, in pieces, whose order matters, for `add_text` of another process's timeline. The
 * rules of `write` hold. Errors: IO. */
FREESTONE_API freestone_status freestone_timeline_print(freestone_timeline *timeline,
                                                        void (*take)(void *user, const char *text, size_t bytes),
                                                        void *user);
FREESTONE_API freestone_status freestone_timeline_add_text(freestone_timeline *timeline, const char *text,
                                                           size_t bytes);

/* Writes the file with everything so far. No instance may run on the time line, and nobody add to it, during this call.
 * Errors: IO. */
FREESTONE_API freestone_status freestone_timeline_write(freestone_timeline *timeline);

/* Gives the handle back; instances that record on a time line keep it alive. Null is allowed. */
FREESTONE_API void freestone_timeline_release(freestone_timeline *timeline);

/* ---- Instances ---- */

typedef enum freestone_log_level {
  FREESTONE_LOG_DEBUG = 0,
  FREESTONE_LOG_INFO = 1,
  FREESTONE_LOG_WARNING = 2
} freestone_log_level;

/* ---- Services ----
 *
 * A program may call functions of the application, or of a library that the application chose, by name and version. The
 * program allocates everything: a function reads the inputs and fills the outputs, tensors on the CPU without strides
 * or offset that live during the call. It is called by the thread that is worker 0, with floating-point numbers rounded
 * to nearest and exceptions masked, must not throw, and returns 0, or another number to end the run with RUN_FAILED. */
typedef struct freestone_service {
  const char *name;
  int64_t version; /* a program asks for exactly one */
  int32_t (*function)(void *user, const DLTensor *inputs, size_t input_count, const DLTensor *outputs,
                      size_t output_count);
  void *user; /* handed to `function` */
} freestone_service;

/* What can be switched off, so that what it gains can be measured. */
enum {
  FREESTONE_SPIN = 1,    /* workers that wait spin for as long as that pays, then sleep; off: 200 pauses */
  FREESTONE_MOVES = 2,   /* workers leave CPUs that they share with each other, and between runs sleep away from them */
  FREESTONE_OVERLAP = 4, /* what is submitted runs beside the caller; off: `submit` returns when it has ended */
  FREESTONE_ALERTS = 8,  /* workers that sleep are woken when a run is asked for, before its sizes are known */
  FREESTONE_DEALS = 16,  /* tiles are dealt to workers by their estimated times, rather than evenly */
  FREESTONE_CREW = 32,   /* runs borrow threads of the application, where it lends some */
  FREESTONE_CLAIMS = 64, /* where other threads compete for the CPUs, workers take tiles that others have not begun */
  FREESTONE_COMPANY = 128 /* short operators are not split where others keep the rest busy; they go where data are */
};

/* Runs `body(data, worker)` for every worker from 0 to `workers` - 1 at the same time, 0 on the calling thread, and
 * returns 1 when all have returned. Where there are not as many threads, calls nothing and returns 0. Must not throw. */
typedef int32_t (*freestone_crew)(void *user, int32_t workers, void (*body)(void *data, int32_t worker), void *data);

typedef struct freestone_instance_options {
  size_t struct_size;
  /* Workers of a run; the thread that calls `run` is one of them. 0: as many CPUs as the affinity mask and the cgroup's
   * quota allow, at most OMP_NUM_THREADS and FREESTONE_NUM_THREADS. */
  int32_t threads;
  uint64_t max_memory; /* bytes that the instance may hold for intermediates and its own outputs; 0: no limit */
  void *user;          /* handed to every callback */
  /* Memory for intermediates and outputs: `bytes` aligned to `alignment` (a power of two), or null. Both or neither;
   * called from the threads that call the instance's functions, or that delete a DLPack tensor. */
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  void (*deallocate)(void *user, void *memory, size_t bytes, size_t alignment);
  /* Takes one line of the log; null: nothing is logged. */
  void (*log)(void *user, freestone_log_level level, const char *message);
  /* Polled by the thread that is worker 0, between phases; non-zero ends the run with FREESTONE_CANCELLED. Must not
   * block. */
  int32_t (*cancelled)(void *user);
  int32_t trace; /* non-zero: remember what every worker did in the last run; costs a look at the clock for each task */
  const char *entry; /* what it runs; null: "main". Only read during the call. */
  /* What it runs on, of the same artifact; null: if the entry keeps values from run to run, the instance makes a state
   * of its own. Several instances may have the same one, and take turns: `run` while another one is under way is
   * refused. */
  freestone_state *state;
  const freestone_service *services; /* what the program may call; only read during the call */
  size_t service_count;
  freestone_timeline *timeline; /* where its runs are recorded; null: nowhere */
  int32_t queue_depth;          /* runs that may be submitted and not ended, at most 1,024; 0: 2 */
  uint32_t switched_off;        /* FREESTONE_SPIN and others, added up */
  /* Threads of the application that runs borrow as workers, such as those of its own parallel loops, which spin for a
   * while when a loop has ended. Called by worker 0 of a run; where it returns 0, the instance's own threads work. Null:
   * these always do. */
  freestone_crew crew;
  int32_t assume_busy; /* non-zero: runs as on a machine whose CPUs other threads use too, without looking whether so */
} freestone_instance_options;

/* Makes an instance; `options` may be null. Starts threads - 1 workers, which sleep between runs.
 * Errors: INVALID_ARGUMENT (also: no such entry, a state of another artifact), INCOMPATIBLE names a service that the
 * program needs and `services` lacks, OUT_OF_MEMORY, INTERNAL (threads can't be started). */
FREESTONE_API freestone_status freestone_instance_create(freestone_artifact *artifact,
                                                         const freestone_instance_options *options,
                                                         freestone_instance **instance);

/* Stops the workers and frees everything but what left as DLPack. Null is allowed. */
FREESTONE_API void freestone_instance_release(freestone_instance *instance);

/* Workers of this instance. */
FREESTONE_API int32_t freestone_instance_threads(const freestone_instance *instance);

/* The inputs and outputs of the instance's own entry. The pointers live as long as the instance. */
FREESTONE_API size_t freestone_instance_input_count(const freestone_instance *instance);
FREESTONE_API size_t freestone_instance_output_count(const freestone_instance *instance);
FREESTONE_API freestone_status freestone_instance_input_info(const freestone_instance *instance, size_t index,
                                                             freestone_value_info *info);
FREESTONE_API freestone_status freestone_instance_output_info(const freestone_instance *instance, size_t index,
                                                              freestone_value_info *info);

/* Binds an input without copying: the tensor's memory must stay valid and unchanged until the run ends; the struct
 * itself may go. It stays bound for later runs. CPU, C-contiguous, aligned to its element, never read past its end.
 * Inputs may overlap each other; `prepare` and `run` refuse one that lies in the state, or in the memory of an output
 * of an earlier run that was not taken and is used again, with INVALID_ARGUMENT. Errors: INVALID_ARGUMENT, MISMATCH
 * (dtype, rank, device, layout). Sizes are checked by `prepare` and `run`. */
FREESTONE_API freestone_status freestone_instance_set_input(freestone_instance *instance, size_t index,
                                                            const DLTensor *tensor);

/* Binds the caller's memory to an output: C-contiguous, of exactly the shape that `output_shape` tells after `prepare`,
 * not overlapping any input, other output or state, which `prepare` and `run` refuse with INVALID_ARGUMENT; what has no
 * elements overlaps nothing. Stays bound for later runs; null gives the output back to the runtime. Errors: as
 * set_input. */
FREESTONE_API freestone_status freestone_instance_set_output(freestone_instance *instance, size_t index,
                                                             const DLTensor *tensor);

/* ---- Sequences and optionals ----
 *
 * An input or output that is no tensor has elements: a sequence any number, an optional one or none. They are tensors
 * of one dtype and rank, each of a shape of its own, unless the value's shape says that a size is the same for all.
 * Sizes of one name in several inputs are equal in elements at the same place. The functions for tensors refuse such
 * values, and these refuse tensors, with INVALID_ARGUMENT.
 *
 *   freestone_instance_set_sequence(instance, 0, elements, 3);
 *   freestone_instance_run(instance);
 *   freestone_instance_output_length(instance, 0, &length);
 *   freestone_instance_output_element(instance, 0, length - 1, &last);
 */

/* Binds an input's elements: `count` tensors, to which the rules of set_input apply; `elements` itself may go, and may
 * be null if there are none. They stay bound for later runs. `prepare`, `run` and `submit` copy them, unless they have
 * one shape and lie one behind another in memory. Errors: as set_input; MISMATCH also for more than one element of an
 * optional. What depends on other inputs is checked by `prepare` and `run`. */
FREESTONE_API freestone_status freestone_instance_set_sequence(freestone_instance *instance, size_t index,
                                                               const DLTensor *elements, size_t count);

/* Binds nothing to an input that is an optional or an optional sequence. Errors: INVALID_ARGUMENT. */
FREESTONE_API freestone_status freestone_instance_set_absent(freestone_instance *instance, size_t index);

/* The number of elements of an output of the last run; -1: an optional sequence that is not there. Errors:
 * INVALID_ARGUMENT (also: there was no run). */
FREESTONE_API freestone_status freestone_instance_output_length(const freestone_instance *instance, size_t index,
                                                                int64_t *length);

/* A view of an element of an output of the last run, C-contiguous. Data and shape live as long as those of `output`.
 * Errors: INVALID_ARGUMENT. */
FREESTONE_API freestone_status freestone_instance_output_element(freestone_instance *instance, size_t index,
                                                                 size_t element, DLTensor *view);

/* The same as a tensor of its own, as `take_output` gives one. All elements of an output that were taken share its
 * memory, which lives as long as one of them. */
FREESTONE_API freestone_status freestone_instance_take_element(freestone_instance *instance, size_t index,
                                                               size_t element, DLManagedTensor **tensor);

/* What a run needs besides code, weights and inputs. */
typedef struct freestone_memory_need {
  size_t struct_size;
  uint64_t arena_bytes;   /* of intermediates, each in place of others that are done */
  uint64_t scratch_bytes; /* of all workers */
  uint64_t output_bytes;  /* of one run's outputs, unless the caller gives their memory */
  uint64_t state_bytes;   /* of what stays from run to run, which instances may share */
} freestone_memory_need;

/* A value for a symbolic size. */
typedef struct freestone_size {
  const char *symbol;
  int64_t value;
} freestone_size;

/* Tells what a run would need at these values of the size symbols that its inputs bind, all of them; nothing is
 * reserved. Errors: INVALID_ARGUMENT (a symbol has no value, or there is no such symbol), MISMATCH (a value that it
 * can't have, sizes that contradict each other). */
FREESTONE_API freestone_status freestone_instance_plan_memory(freestone_instance *instance, const freestone_size *sizes,
                                                              size_t size_count, freestone_memory_need *need);

/* The dimensions of an input or an output, or of its greatest element (`rank` values; upper bounds for those that only
 * a run determines) at these values of the size symbols; nothing is reserved. Errors: as plan_memory. */
FREESTONE_API freestone_status freestone_instance_plan_input(freestone_instance *instance, const freestone_size *sizes,
                                                             size_t size_count, size_t index, int64_t *dims);
FREESTONE_API freestone_status freestone_instance_plan_output(freestone_instance *instance, const freestone_size *sizes,
                                                              size_t size_count, size_t index, int64_t *dims);

/* Binds all sizes to the inputs at hand, checks them and reserves memory, so that the next run allocates nothing.
 * Optional; `run` does it too. Errors: INVALID_ARGUMENT (an input is not set), MISMATCH names value, expected and
 * actual size, OUT_OF_MEMORY. */
FREESTONE_API freestone_status freestone_instance_prepare(freestone_instance *instance);

/* Dimensions of an output (`rank` values; upper bounds for those that only a run determines) after `prepare`, actual
 * ones after `run`. */
FREESTONE_API freestone_status freestone_instance_output_shape(const freestone_instance *instance, size_t index,
                                                               int64_t *dims);

/* Runs the model once. The calling thread is worker 0. The same artifact, inputs and state give the same bits, with
 * any number of workers: how work and sums are cut follows from sizes alone (tolerance zero between numbers of
 * workers). Errors: those of `prepare`; CANCELLED; RUN_FAILED; INVALID_ARGUMENT if the instance, or another one on the
 * same state, is running. After an error the outputs are undefined and the instance can run again. */
FREESTONE_API freestone_status freestone_instance_run(freestone_instance *instance);

/* ---- Runs in a queue ----
 *
 * While one run is under way the application prepares the next: `submit` checks and binds the inputs at hand and
 * returns at once, as long as no more than `queue_depth` runs have not ended; else it waits until the oldest has. Runs
 * are numbered from 1 on, those of `run` included, and done one after another by a thread of the instance, which is
 * worker 0 then.
 *
 *   for (;;) {
 *     freestone_instance_set_input(instance, 0, batch n + 1);
 *     freestone_instance_submit(instance, &next);
 *     freestone_instance_wait(instance, next - 1);      the queue is never empty meanwhile
 *     freestone_instance_output(instance, 0, &loss);    of run n
 *   }
 *
 * An input must stay valid and unchanged until its run has ended; those of at most 64 bytes are copied by `submit`, so
 * that a learning rate may change at once. Outputs of a run stay until `queue_depth` more have been submitted; memory
 * bound by `set_output` is written by every run. Instances on the same state have queues of their own, but what is in
 * them is done in the order in which it was submitted. What a run fails with is told once, by the next call of submit,
 * submit_call, wait, prepare or run of any of these instances, with the run's number and, where data or a service have
 * failed it, the program and the node; what was queued behind it is dropped. Releasing an instance waits until
 * everything in its queue has ended.
 *
 * Nothing is allocated per run, once its sizes have been seen. */

/* Queues a run; `run` may be null. Errors: those of `prepare`; what an earlier run failed with. Then nothing was
 * queued. */
FREESTONE_API freestone_status freestone_instance_submit(freestone_instance *instance, int64_t *run);

/* Queues a call of a function, on the thread that runs: everything submitted before has ended, nothing submitted later
 * has begun, so that it may read and write the state. It must not call functions of this instance, nor throw. It is
 * dropped like a run when one before it fails. Errors: as submit. */
FREESTONE_API freestone_status freestone_instance_submit_call(freestone_instance *instance,
                                                              void (*function)(void *user), void *user);

/* Waits until a run has ended; its outputs are then those that output, output_shape and take_output tell of. 0: until
 * everything has ended. Errors: what the run failed with; INVALID_ARGUMENT if there is no such run, or its outputs are
 * gone because `queue_depth` more were submitted. */
FREESTONE_API freestone_status freestone_instance_wait(freestone_instance *instance, int64_t run);

/* ---- Runs under way ----
 *
 * A watch tells another thread when a run is done with a state, while the run goes on: so gradients are sent to other
 * machines while those of earlier layers are still computed.
 *
 *   freestone_watch_next_run(watch);             the instance's thread
 *   freestone_instance_run(instance);            while the watcher calls freestone_watch_wait(watch, state)
 *
 * A watch is made once for an instance, which must outlive it, and serves one run after another; several watches are
 * for several runs in the queue. `create`, `release` and `next_run` count as functions of the instance; `wait` and
 * `give_up` may be called from any other thread beside these and beside a run, `wait` from one at a time. */

/* After how many of its phases, in their order, a run of this instance neither reads nor writes a state any more: 0 if
 * it never does; INT64_MAX if it may until its end, as with loops and branches. Errors: INVALID_ARGUMENT. */
FREESTONE_API freestone_status freestone_instance_last_use(const freestone_instance *instance, size_t index,
                                                           int64_t *phases);

FREESTONE_API freestone_status freestone_watch_create(freestone_instance *instance, freestone_watch **watch);

/* Nobody may wait. Null is allowed. */
FREESTONE_API void freestone_watch_release(freestone_watch *watch);

/* From now on the watch is about the next call of `run` or `submit`, also if that fails. Nobody may wait, and the run
 * before must have ended. */
FREESTONE_API freestone_status freestone_watch_next_run(freestone_watch *watch);

/* Waits until the run, which need not have begun, neither reads nor writes a state any more: from then on the state's
 * memory may be read and written, whatever else the run does. Returns at once for a run that has ended. Errors:
 * RUN_FAILED (the run failed, or was refused, before it was done with the state; its own call tells why), CANCELLED
 * (given up), INVALID_ARGUMENT (no such state; no run was announced). */
FREESTONE_API freestone_status freestone_watch_wait(freestone_watch *watch, size_t index);

/* Ends the waits for a run that has not begun, now and later, up to the next `next_run`. */
FREESTONE_API freestone_status freestone_watch_give_up(freestone_watch *watch);

/* A view of an output of the last run; data and shape belong to the instance and live until its next call of set_*,
 * prepare, run or submit; after `wait`, until so many more have been submitted as the queue is deep. */
FREESTONE_API freestone_status freestone_instance_output(const freestone_instance *instance, size_t index,
                                                         DLTensor *view);

/* The same as a tensor of its own, which outlives the instance and later runs: call its deleter when done, from any
 * thread. While it lives, the next run takes new memory for this output. An output in the caller's memory leaves as a
 * reference to that memory. */
FREESTONE_API freestone_status freestone_instance_take_output(freestone_instance *instance, size_t index,
                                                              DLManagedTensor **tensor);

/* What an instance has done since it was made. Numbers of all its workers together. */
typedef struct freestone_counters {
  size_t struct_size;
  uint64_t runs;
  uint64_t binds;         /* times that sizes were computed */
  uint64_t plan_hits;     /* runs and prepares whose sizes were remembered */
  uint64_t allocations;   /* blocks of memory for intermediates and outputs */
  uint64_t phases;        /* phases run */
  uint64_t waits;         /* waits for other workers that had to look more than once */
  uint64_t sleeps;        /* of these, how many slept */
  uint64_t arena_bytes;   /* held for intermediates and scratch */
  uint64_t planned_bytes; /* of intermediates at the last sizes */
  uint64_t live_bytes;    /* largest sum of intermediates alive at once at the last sizes: no plan can need less */
  /* Floating-point operations of the last run that succeeded. A multiply-add is 2, an elementary function 1;
   * conversions, comparisons, sorting and scattering are left out. `padding_operations` come on top: what
   * is computed behind the ends of rows and columns and thrown away, at most. */
  uint64_t operations;
  uint64_t padding_operations;
  uint64_t moves; /* times that a worker left a CPU which it shared with another */
  uint64_t submits;
  uint64_t host_waits;   /* calls that waited for the queue */
  uint64_t host_wait_ns; /* in these */
  uint64_t starved;      /* queued runs and calls after which the workers had nothing to do */
  uint64_t busy_ns;      /* in queued runs and calls */
  uint64_t parks;        /* times that a worker went to sleep between runs away from the CPUs of the others */
  uint64_t alerts;       /* times that workers which slept were woken before their run was ready */
  uint64_t chunks;       /* times that memory grew during a run, as sizes without a limit did */
  uint64_t borrowed;     /* runs on threads of the application */
  uint64_t entries;      /* times that compiled code was entered, by all workers at once: once a run */
  /* Calls out of compiled code that ended before it went on: of services, and for sizes that a run finds. Loops and
   * branches need none. */
  uint64_t host_calls;
  uint64_t claiming_runs; /* in which workers took tiles from each other, since other threads competed for the CPUs */
  uint64_t steals;        /* parts of a worker's tiles that another one took */
  uint64_t preemptions;   /* times that a worker lost its CPU to another thread; 0 where nothing would follow from it */
  /* When sizes were computed: what one worker was dealt whole since others beside it kept the rest busy, and what was
   * dealt whole to the worker that had most of its data. */
  uint64_t kept_whole;
  uint64_t kept_near;
} freestone_counters;

FREESTONE_API freestone_status freestone_instance_counters(const freestone_instance *instance,
                                                           freestone_counters *counters);

/* A stretch of time of one worker in the last run: it computed its tiles of a phase, or waited until the others had
 * finished one. */
typedef struct freestone_trace_span {
  int32_t worker;
  int32_t is_wait;
  int64_t first_phase; /* numbered as in `describe` */
  int64_t last_phase;  /* the same one */
  int64_t begin_ns;    /* since the first worker began */
  int64_t end_ns;
} freestone_trace_span;

/* Copies at most `capacity` spans, worker by worker in order of time, and tells in `count` how many there are. None
 * unless the instance was made with `trace`. */
FREESTONE_API freestone_status freestone_instance_trace(const freestone_instance *instance, freestone_trace_span *spans,
                                                        size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif

#endif /* FREESTONE_RUNTIME_H */
