#include "train/report/LossCurve.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace freestone::train {

static constexpr size_t mostPoints = 2048;

/// Reserves all memory, so that a step allocates nothing.
LossCurve::LossCurve() { points.reserve(mostPoints); }

void LossCurve::addStep(int64_t step, double loss) {
  if (!std::isfinite(loss))
    return;
  if (!points.empty() && points.back().count < stepsPerPoint) {
    Point &point = points.back();
    point.lastStep = step;
    point.mean += (loss - point.mean) / static_cast<double>(++point.count);
    point.least = std::min(point.least, loss);
    point.largest = std::max(point.largest, loss);
    return;
  }
  if (points.size() == mostPoints)
    halve();
  points.push_back({step, step, loss, loss, loss, 1});
}

/// Averages neighbours, which halves the number of points.
void LossCurve::halve() {
  for (size_t i = 0; i + 1 < points.size(); i += 2) {
    const Point &a = points[i], &b = points[i + 1];
    auto weight = static_cast<double>(b.count) / static_cast<double>(a.count + b.count);
    points[i / 2] = {a.firstStep,
                     b.lastStep,
                     a.mean + (b.mean - a.mean) * weight,
                     std::min(a.least, b.least),
                     std::max(a.largest, b.largest),
                     a.count + b.count};
  }
  points.resize(points.size() / 2);
  stepsPerPoint *= 2;
}

void LossCurve::addEvaluation(int64_t step, double loss) {
  if (std::isfinite(loss))
    evaluations.push_back({step, loss});
}

namespace {

constexpr double width = 800, height = 480, left = 76, right = 24, top = 28, bottom = 52;

/// Maps values to positions along one axis.
class Axis {
public:
  Axis(double least, double largest, double begin, double end, bool logarithmic)
      : low(least), high(largest), begin(begin), end(end), logarithmic(logarithmic) {
    if (logarithmic) {
      low = std::pow(10, std::floor(std::log10(low)));
      high = std::pow(10, std::ceil(std::log10(high)));
      for (double tick = low; tick < high * 1.5; tick *= 10)
        ticks.push_back(tick);
      return;
    }
    // Round ticks of 1, 2 or 5 times a power of ten, four to nine of them.
    double range = high > low ? high - low : std::max(std::fabs(high), 1.0);
    double unit = std::pow(10, std::floor(std::log10(range / 4)));
    double step = range / unit >= 20 ? 5 * unit : range / unit >= 8 ? 2 * unit : unit;
    low = std::floor(low / step) * step;
    high = std::max(std::ceil(high / step) * step, low + step);
    for (int64_t i = 0; low + static_cast<double>(i) * step <= high + step / 2; ++i)
      ticks.push_back(std::fabs(low + static_cast<double>(i) * step) < step / 2 ? 0
                                                                                : low + static_cast<double>(i) * step);
  }

  double place(double value) const {
    double fraction = logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return begin + (end - begin) * std::clamp(fraction, 0.0, 1.0);
  }

  std::vector<double> ticks;

private:
  double low, high, begin, end;
  bool logarithmic;
};

std::string line(double x1, double y1, double x2, double y2, const char *color) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2, y2,
                     color);
}

std::string text(double x, double y, const char *anchor, const std::string &content) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, content);
}

std::string polyline(const std::string &places, const char *style) {
  return fmt::format("<polyline points=\"{}\" fill=\"none\" {}/>\n", places, style);
}

/// Exponential means over about a fiftieth of the training in both directions: a one-sided mean lags behind.
std::vector<double> smoothed(const std::vector<double> &values) {
  std::vector<double> means(values.size());
  double decay = std::exp(-1 / std::max(1.0, static_cast<double>(values.size()) / 50));
  for (bool backward : {false, true}) {
    double sum = 0, weight = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      size_t at = backward ? values.size() - 1 - i : i;
      sum = decay * sum + (1 - decay) * values[at];
      weight = decay * weight + (1 - decay);
      means[at] += sum / weight / 2;
    }
  }
  return means;
}

} // namespace

std::string LossCurve::svg() const {
  double least = INFINITY, largest = -INFINITY, lastStep = 1;
  auto cover = [&](double step, double low, double high) {
    least = std::min(least, low);
    largest = std::max(largest, high);
    lastStep = std::max(lastStep, step);
  };
  for (const Point &point : points)
    cover(static_cast<double>(point.lastStep), point.least, point.largest);
  for (const Evaluation &evaluation : evaluations)
    cover(static_cast<double>(evaluation.step), evaluation.loss, evaluation.loss);
  bool any = least <= largest;
  bool logarithmic = any && least > 0 && largest > 100 * least;
  Axis x(0, lastStep, left, width - right, false);
  Axis y(any ? least : 0, any ? largest : 1, height - bottom, top, logarithmic);

  std::string svg = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                                "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#444\">\n"
                                "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
                                width, height);
  for (double tick : y.ticks) {
    svg += line(left, y.place(tick), width - right, y.place(tick), "#e4e4e4");
    svg += text(left - 8, y.place(tick) + 4, "end", fmt::format("{:.6g}", tick));
  }
  for (double tick : x.ticks) {
    svg += line(x.place(tick), height - bottom, x.place(tick), height - bottom + 5, "#888");
    svg += text(x.place(tick), height - bottom + 20, "middle", fmt::format("{:.10g}", tick));
  }
  svg += line(left, height - bottom, width - right, height - bottom, "#888");
  svg += text((left + width - right) / 2, height - 12, "middle", "step");
  svg += text(left, top - 10, "start", logarithmic ? "loss (logarithmic)" : "loss");
  if (!any)
    return svg + text((left + width - right) / 2, height / 2, "middle", "no finite loss yet") + "</svg>\n";

  std::vector<double> losses;
  for (const Point &point : points)
    losses.push_back(point.mean);
  std::vector<double> means = smoothed(losses);
  std::string upper, lower, smooth;
  for (size_t i = 0; i < points.size(); ++i) {
    double at = x.place((static_cast<double>(points[i].firstStep) + static_cast<double>(points[i].lastStep)) / 2);
    upper += fmt::format("{:.1f},{:.1f} ", at, y.place(points[i].largest));
    lower.insert(0, fmt::format("{:.1f},{:.1f} ", at, y.place(points[i].least)));
    smooth += fmt::format("{:.1f},{:.1f} ", at, y.place(means[i]));
  }
  if (stepsPerPoint > 1)
    svg += fmt::format("<polygon points=\"{}{}\" fill=\"#c9daf0\"/>\n", upper, lower);
  else
    svg += polyline(upper, "stroke=\"#b3cbe8\" stroke-width=\"1\"");
  svg += polyline(smooth, "stroke=\"#1f5fa8\" stroke-width=\"2\" stroke-linejoin=\"round\"");
  std::string joined;
  for (const Evaluation &evaluation : evaluations)
    joined += fmt::format("{:.1f},{:.1f} ", x.place(static_cast<double>(evaluation.step)), y.place(evaluation.loss));
  svg += polyline(joined, "stroke=\"#d1622b\" stroke-dasharray=\"3 3\"");
  for (const Evaluation &evaluation : evaluations)
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"#d1622b\"/>\n",
                       x.place(static_cast<double>(evaluation.step)), y.place(evaluation.loss));

  svg +=
      line(width - 190, top - 14, width - 166, top - 14, "#1f5fa8") + text(width - 160, top - 10, "start", "training");
  if (!evaluations.empty())
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"#d1622b\"/>\n", width - 96, top - 14) +
           text(width - 86, top - 10, "start", "evaluation");
  return svg + "</svg>\n";
}

} // namespace freestone::train
