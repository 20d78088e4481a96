#include "train/report/Progress.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ranges>
#include <sys/ioctl.h>
#include <unistd.h>

namespace freestone::train {

using namespace std::chrono_literals;

static constexpr auto drawInterval = 100ms;
static constexpr int64_t barWidth = 20;

Progress::Progress(std::FILE *stream, const ProgressOptions &options) : stream(stream), options(options) {}

bool Progress::isTerminal(std::FILE *stream) {
  const char *kind = std::getenv("TERM");
  return isatty(fileno(stream)) && kind && std::string(kind) != "dumb";
}

/// "812", "52.1k", "3.4M"
static std::string shortNumber(double number) {
  if (number >= 1e6)
    return fmt::format("{:.1f}M", number / 1e6);
  return number >= 1e4 ? fmt::format("{:.1f}k", number / 1e3) : fmt::format("{:.0f}", number);
}

/// "0:05", "3:21", "1:02:03"
static std::string duration(double seconds) {
  auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

/// In MiB: of each rank, or of many ranks, the least and the most.
static std::string memoryText(const RanksMetrics &ranks) {
  constexpr size_t fewRanks = 4;
  auto mebibytes = [](uint64_t bytes) { return fmt::format("{:.1f}", static_cast<double>(bytes) / (1 << 20)); };
  if (ranks.bytes.size() <= fewRanks)
    return fmt::format("{}", fmt::join(ranks.bytes | std::views::transform(mebibytes), " + "));
  auto [least, most] = std::ranges::minmax(ranks.bytes);
  return fmt::format("{} to {}", mebibytes(least), mebibytes(most));
}

static std::string outOf(int64_t number, int64_t all) {
  return all > 0 ? fmt::format("{}/{}", number, all) : fmt::format("{}", number);
}

/// NaN without its sign, which has no meaning.
static std::string lossText(double loss) { return std::isnan(loss) ? "nan" : fmt::format("{:.4f}", loss); }

std::string Progress::describe(const StepMetrics &metrics, Clock::time_point now) const {
  std::string text = fmt::format("epoch {}", outOf(metrics.epoch, options.epochs));
  if (options.terminal && options.steps > 0) {
    int64_t filled = std::clamp<int64_t>(metrics.step * barWidth / options.steps, 0, barWidth);
    text += fmt::format(" [{:<{}}]", std::string(static_cast<size_t>(filled), '='), barWidth);
  }
  text += fmt::format(" step {}  loss {}  {} samples/s", outOf(metrics.step, options.steps), lossText(metrics.loss),
                      shortNumber(metrics.samplesPerSecond));
  if (metrics.tokensPerSecond > 0)
    text += fmt::format("  {} tokens/s", shortNumber(metrics.tokensPerSecond));
  text += fmt::format("  lr {:.3g}", metrics.learningRate);
  if (metrics.ranks)
    text += fmt::format("  bubble {:.0f} %  memory {} MiB", metrics.ranks->bubble * 100, memoryText(*metrics.ranks));
  if (options.showScale)
    text += fmt::format("  scale {:g}", metrics.lossScale);
  if (metrics.skipped)
    text += "  skipped";
  // Time counts from the end of the first step, which may be slower than the others.
  int64_t done = metrics.step - first.step;
  if (options.steps > 0 && done > 0) {
    double perStep = std::chrono::duration<double>(now - firstEnd).count() / static_cast<double>(done);
    text += fmt::format("  {} left", duration(perStep * static_cast<double>(options.steps - metrics.step)));
  }
  return text;
}

/// Shortened to the terminal's width: a wrapped bar can't be overwritten.
static std::string fitted(std::string text, std::FILE *stream) {
  winsize size = {};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
    text.resize(std::min<size_t>(text.size(), size.ws_col - 1));
  return text;
}

void Progress::step(const StepMetrics &metrics, Clock::time_point now) {
  if (!any) {
    first = metrics;
    firstEnd = now;
  }
  auto interval = options.terminal
                      ? Clock::duration(drawInterval)
                      : std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.lineSeconds));
  bool due = !any || now - lastDrawn >= interval || metrics.step == options.steps;
  any = true;
  last = metrics;
  lastEnd = now;
  drawn = due;
  if (!due)
    return;
  lastDrawn = now;
  draw();
}

void Progress::draw() {
  std::string text = describe(last, lastEnd);
  if (options.terminal)
    fmt::print(stream, "\r{}\x1b[K", fitted(text, stream));
  else
    fmt::print(stream, "{}\n", text);
  std::fflush(stream);
  barShown = options.terminal;
  drawn = true;
}

void Progress::clearBar() {
  if (barShown)
    fmt::print(stream, "\r\x1b[K");
  barShown = false;
}

void Progress::note(const std::string &line) {
  bool redraw = barShown;
  clearBar();
  fmt::print(stream, "{}\n", line);
  std::fflush(stream);
  if (redraw)
    draw();
}

void Progress::evaluation(const EvaluationMetrics &metrics) {
  std::string text = fmt::format("evaluation after step {}: loss {}", metrics.step, lossText(metrics.loss));
  if (metrics.accuracy)
    text += fmt::format(", accuracy {:.2f} %", *metrics.accuracy * 100);
  if (metrics.perplexity)
    text += fmt::format(", perplexity {:.2f}", *metrics.perplexity);
  note(text);
}

void Progress::finish() {
  if (any && !drawn)
    draw();
  if (barShown)
    fmt::print(stream, "\n");
  std::fflush(stream);
  barShown = false;
}

} // namespace freestone::train
