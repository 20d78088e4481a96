#include "train/report/MetricsLog.h"
#include "runtime/platform/File.h"
#include "train/Error.h"
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <nlohmann/json.hpp>

namespace freestone::train {

using Json = nlohmann::json;
using namespace std::chrono_literals;

static constexpr auto flushInterval = 100ms;

static void writeAtomically(const std::string &path, const std::string &content) {
  std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t *>(content.data()), content.size());
  runtime::Status status = runtime::platform::writeFileAtomically(path, {&bytes, 1});
  if (!status.ok())
    throw Error(status.message());
}

/// Opens a log for appending after the lines of the first `step` steps; `kept` receives each of these lines. Later
/// lines, and a line torn by a crash, are removed.
template <typename Kept> static std::FILE *openLog(const std::string &path, int64_t step, Kept kept) {
  std::string content;
  std::ifstream existing(path);
  for (std::string line; step > 0 && std::getline(existing, line);) {
    Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json["step"].is_number_integer() || json["step"] > step)
      continue;
    kept(json["step"].get<int64_t>(), json["loss"].is_number() ? json["loss"].get<double>() : NAN);
    content += line + "\n";
  }
  writeAtomically(path, content);
  std::FILE *file = std::fopen(path.c_str(), "ae");
  if (!file)
    throw Error(fmt::format("can't write '{}': {}", path, std::strerror(errno)));
  return file;
}

MetricsLog::MetricsLog(const std::string &path, int64_t step) : folder(path) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error(fmt::format("can't make the folder '{}': {}", folder, error.message()));
  steps = openLog(folder + "/metrics.jsonl", step, [&](int64_t s, double loss) { curve.addStep(s, loss); });
  evaluations =
      openLog(folder + "/evaluations.jsonl", step, [&](int64_t s, double loss) { curve.addEvaluation(s, loss); });
}

MetricsLog::~MetricsLog() {
  for (std::FILE *file : {steps, evaluations})
    if (file)
      std::fclose(file);
}

namespace {
/// One JSON object, member by member; numbers that are not finite become null.
class LineWriter {
public:
  explicit LineWriter(std::string &line) : line(line) { line.clear(); }

  void add(const char *name, int64_t value) { fmt::format_to(begin(name), "{}", value); }
  void add(const char *name, bool value) { fmt::format_to(begin(name), "{}", value); }
  void add(const char *name, double value) {
    auto end = begin(name);
    if (!std::isfinite(value)) {
      fmt::format_to(end, "null");
      return;
    }
    size_t first = line.size();
    fmt::format_to(end, "{}", value);
    if (line.find_first_of(".e", first) == std::string::npos)
      line += ".0";
  }
  void add(const char *name, const std::vector<uint64_t> &values) {
    fmt::format_to(begin(name), "[{}]", fmt::join(values, ","));
  }
  void write(std::FILE *file) {
    line += "}\n";
    std::fwrite(line.data(), 1, line.size(), file);
  }

private:
  std::back_insert_iterator<std::string> begin(const char *name) {
    fmt::format_to(std::back_inserter(line), "{}\"{}\":", line.empty() ? '{' : ',', name);
    return std::back_inserter(line);
  }

  std::string &line;
};
} // namespace

void MetricsLog::append(const StepMetrics &metrics) {
  LineWriter writer(line);
  writer.add("step", metrics.step);
  writer.add("loss", metrics.loss);
  writer.add("grad_norm", metrics.gradientNorm);
  writer.add("lr", metrics.learningRate);
  writer.add("scale", metrics.lossScale);
  writer.add("skipped", metrics.skipped);
  writer.add("samples_per_s", metrics.samplesPerSecond);
  if (metrics.tokensPerSecond > 0)
    writer.add("tokens_per_s", metrics.tokensPerSecond);
  if (metrics.ranks) {
    writer.add("bubble", metrics.ranks->bubble);
    writer.add("rank_bytes", metrics.ranks->bytes);
  }
  writer.write(steps);
  if (std::chrono::steady_clock::now() - flushed >= flushInterval)
    flushLines();
  curve.addStep(metrics.step, metrics.loss);
}

void MetricsLog::append(const EvaluationMetrics &metrics) {
  LineWriter writer(line);
  writer.add("step", metrics.step);
  writer.add("loss", metrics.loss);
  if (metrics.accuracy)
    writer.add("accuracy", *metrics.accuracy);
  if (metrics.perplexity)
    writer.add("perplexity", *metrics.perplexity);
  writer.write(evaluations);
  flushLines();
  curve.addEvaluation(metrics.step, metrics.loss);
}

void MetricsLog::flushLines() {
  for (std::FILE *file : {steps, evaluations})
    if (std::fflush(file) != 0 || std::ferror(file))
      throw Error(fmt::format("can't write the metrics in '{}': {}", folder, std::strerror(errno)));
  flushed = std::chrono::steady_clock::now();
}

void MetricsLog::flush() {
  flushLines();
  writeAtomically(folder + "/loss.svg", curve.svg());
}

} // namespace freestone::train
