#ifndef FREESTONE_COMPILER_DRIVER_COMPILEMODEL_H
#define FREESTONE_COMPILER_DRIVER_COMPILEMODEL_H

#include "compiler/codegen/PassPrinting.h"
#include "compiler/device/DeviceDescription.h"
#include "compiler/driver/Interface.h"
#include "compiler/driver/Options.h"
#include "compiler/driver/ScalarWork.h"
#include "compiler/import/ImportOnnx.h"
#include "compiler/tile/ExplainTiles.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/ThreadPool.h"
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace freestone::driver {

using llvm::LogicalResult;

/// The reason of a failure. `text` may have several lines.
struct Failure {
  enum class Kind { Failed, Usage, Unsupported };
  Kind kind = Kind::Failed;
  std::string text;
};

/// Times, counters and notes of one compilation.
struct Statistics {
  std::vector<std::pair<std::string, double>> seconds; ///< per phase, in order
  std::map<std::string, int64_t> counters;
  ScalarWork scalarWork;
  std::string pipeline; ///< of a stage: JSON (see pipe-cut-stages)
  int64_t programs = 0, sharedPrograms = 0;
  int64_t fileBytes = 0, codeBytes = 0, weightBytes = 0;
};

/// Levels at which a program can be printed.
enum class Level { Graph, Tile, Tiles, Profile, Task, Llvm, Assembly };

class ProgramCache;

/// One model on its way through the compiler. Not thread-safe; several compilations may run at the same time.
class Compilation {
public:
  explicit Compilation(const Options &given);
  ~Compilation();

  /// Takes a model that was built in the context of this compilation.
  void adopt(ImportedModel given) { model = std::move(given); }
  mlir::MLIRContext *getContext() { return context.get(); }
  /// Whether the options describe a compilation that is possible at all.
  LogicalResult requireOptions(Failure &failure) const;

  /// Reads the model. Afterwards `getReport` describes it, even if it is refused as unsupported.
  LogicalResult import(llvm::StringRef path, Failure &failure);
  const ModelReport &getReport() const { return model.report; }
  const ImportedModel &getModel() const { return model; }
  /// The trainer's description of the step, as JSON; empty without a training step.
  const std::string &getTraining() const { return training; }

  /// Lowers to task programs, in place.
  LogicalResult lower(Failure &failure);
  /// The program at a level, lowered from the imported model.
  mlir::FailureOr<std::string> print(Level level, Failure &failure);
  /// Evaluates the imported model with the interpreter and hands every output to `take`.
  LogicalResult interpret(llvm::ArrayRef<freestone_plain_tensor> inputs, bool wide, freestone_take_tensor take,
                          void *user, Failure &failure);
  /// Writes the artifact: lowers, generates code, links, packs the weights.
  LogicalResult compile(llvm::StringRef path, Failure &failure);

  const Statistics &getStatistics() const { return statistics; }

private:
  mlir::FailureOr<ImportedModel> importModel(llvm::StringRef path, ImportError &error);
  LogicalResult timed(const char *phase, Failure &failure, llvm::function_ref<LogicalResult()> step);
  LogicalResult runPipeline(Stretch stretch, void (*build)(mlir::OpPassManager &, const Options &));
  /// Times tilings, where this is asked for.
  LogicalResult tune(Failure &failure);
  LogicalResult requireCompilable(Failure &failure) const;
  mlir::FailureOr<std::string> printCode(Level level, Failure &failure);
  mlir::FailureOr<std::vector<uint8_t>> makeCode(ProgramCache &programs, const DeviceDescription &device,
                                                 Failure &failure);

  Options options;
  bool isForHost;
  std::string deviceFault; ///< why the given device is none; empty if it is one
  std::unique_ptr<llvm::ThreadPoolInterface> pool;
  std::unique_ptr<mlir::MLIRContext> context;
  ImportedModel model;
  std::string training;
  llvm::StringMap<int64_t> sizeHints; ///< usual sizes of a training step's data
  std::string modelPath;
  Statistics statistics;
  tile::TimedTilings times;   ///< that were measured
  int64_t timesFromCache = 0; ///< contractions whose times were known
};

} // namespace freestone::driver

#endif // FREESTONE_COMPILER_DRIVER_COMPILEMODEL_H
