// The contract between compiled code and the runtime: plain C structs that both sides lay out identically.
//
// A compiled artifact exports one symbol, `freestone_table`. Compiled code gets everything else through the run
// context; it has no undefined symbols, no thread-local storage and no writable data of its own.
#ifndef FREESTONE_RUNTIME_ARTIFACT_ABI_H
#define FREESTONE_RUNTIME_ARTIFACT_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Incremented whenever a struct of this file or the meaning of a descriptor field changes.
enum { FREESTONE_ABI_VERSION = 8 };

typedef struct freestone_run_context freestone_run_context;

// The context of one run of an entry. One per instance, shared by its W workers; 64-bit fields only, in this order.
struct freestone_run_context {
  void **buffers;         // base address of every buffer of the entry, indexed as in the descriptor
  int64_t *sizes;         // the entry's size slots: first its symbols, then everything `bind` derives from them
  int64_t workers;        // W, the number of workers of the gang
  int64_t base;           // progress number at which this run starts: phases executed since the instance began
  char *scratch;          // worker w owns [scratch + w * scratch_stride, + scratch_stride), 64-byte aligned
  int64_t scratch_stride; // bytes; the first 64 bytes of a worker's scratch are the runtime's (see below)
  // Waits until every worker has published `number`, that of an execution of `phase` (-1: of the run before). Returns
  // 0, or 1 when the run has failed or was cancelled.
  int32_t (*wait_all)(freestone_run_context *context, int64_t worker, int64_t number, int64_t phase);
  // Publishes that `worker` has finished the phase with this progress number (release order), waking sleepers.
  void (*publish)(freestone_run_context *context, int64_t worker, int64_t number);
  void *runtime; // private to the runtime
  // Calls the service with this index in the descriptor's list, on the caller's thread, which is worker 0. Returns 0,
  // or 1 when the run has failed.
  int32_t (*call_service)(freestone_run_context *context, int64_t call);
  void *services; // private to the runtime
  // May be null. Called by `worker` after it has computed its tiles [begin, end) of the `tiles` of a phase.
  void (*trace)(freestone_run_context *context, int64_t worker, int64_t phase, int64_t begin, int64_t end,
                int64_t tiles);
  int64_t end;    // written by worker 0: the progress number at which a run that did not fail has ended
  int64_t *deals; // worker w has the tiles [deals[d * (W + 1) + w], deals[d * (W + 1) + w + 1]) of spaces with deal d
  // Waits for `count` phases: for p >= 0 until all its tiles are done, that is until the workers that have some, and
  // worker 0, have published `base` + 1 + p; for p < 0 until all workers have published `base` + 1 + ~p; for
  // p + FREESTONE_WINDOW * (n + 1) until those have that window n of the descriptor's phases means. Returns as wait_all
  // does.
  int32_t (*wait_for)(freestone_run_context *context, int64_t worker, int64_t base, const int64_t *phases,
                      int64_t count);
  // Called by worker 0 when `phase` has set this symbol and all sizes that follow from it: checks it, lets buffers grow
  // whose sizes have no limit, and deals the tiles of all later phases. The others wait for it. Returns 0, or 1 when
  // the run has failed.
  int32_t (*resize)(freestone_run_context *context, int64_t phase, int64_t symbol);
  void *run;              // private to the runtime
  const char *computing;  // private to the runtime: computing[p * W + w] tells whether worker w is awaited for phase p
  const int32_t *windows; // private to the runtime: at window n, worker w waits for [windows[2 * (n * W + w)], … + 1)
  // Takes tiles [range[0], range[1]) of spaces with this deal, in the phase whose progress number is `number`, that no
  // worker has begun: the worker's own ones first. Returns 0 when there are none left, else 1.
  int32_t (*claim)(freestone_run_context *context, int64_t worker, int64_t deal, int64_t number, int64_t *range);
  void *claims;          // null: workers compute what was dealt to them; else private to the runtime
  const int64_t *grains; // private to the runtime: the fewest tiles of a claim, by deals; 0: tiles are not claimed
};

// The number of phases is below this.
#define FREESTONE_WINDOW (INT64_C(1) << 32)

// The first word of a worker's scratch is a site number: compiled code stores there, once, a non-zero number from the
// descriptor's table of sites when data make a result undefined (an index out of range). The run then ends with that
// site's message.
enum { FREESTONE_SCRATCH_HEADER = 64 };

// What grows without a limit lies at the beginning of a slice of addresses, so that it stays where it is. Slices are
// this many bytes apart.
#define FREESTONE_GROWING_STRIDE (INT64_C(1) << 35)

// One entry point of the compiled program: `main` computes the model, `init` turns plain weights into packed ones.
typedef struct freestone_entry {
  // Derives all size slots from the symbol slots. Pure arithmetic, idempotent. Returns 0, or 1 when a size overflows
  // int64.
  int32_t (*bind)(int64_t *sizes);
  // Runs one worker's share of every phase; all W workers call it with the same context. Returns 0, or 1 + the phase in
  // which the run failed.
  int32_t (*run)(freestone_run_context *context, int64_t worker);
} freestone_entry;

typedef struct freestone_table {
  int64_t abi; // FREESTONE_ABI_VERSION
  int64_t entry_count;
  const freestone_entry *entries; // in the order of the descriptor's entries
} freestone_table;

#ifdef __cplusplus
}
#endif

#endif // FREESTONE_RUNTIME_ARTIFACT_ABI_H
