#include "train/report/LossCurve.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace freestone::train;

static size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(LossCurve, hasAxesCurvesAndEvaluations) {
  LossCurve curve;
  for (int64_t step = 1; step <= 400; ++step)
    curve.addStep(step, 2 + std::exp(-double(step) / 100) + 0.1 * std::sin(double(step)));
  curve.addEvaluation(200, 2.3);
  curve.addEvaluation(400, 2.1);
  std::string svg = curve.svg();
  EXPECT_EQ(countOf(svg, "<polyline"), 3u);
  EXPECT_EQ(countOf(svg, "<circle"), 3u); // one is the legend's
  for (const char *label : {">0<", ">200<", ">400<", ">2<", ">2.2<", ">3<", ">step<", ">loss<"})
    EXPECT_EQ(countOf(svg, label), 1u) << label;
}

TEST(LossCurve, staysSmallHoweverLongTheTraining) {
  LossCurve curve;
  for (int64_t step = 1; step <= 1000000; ++step)
    curve.addStep(step, step == 777777 ? 9.0 : 1.0);
  std::string svg = curve.svg();
  EXPECT_LT(svg.size(), 100000u);
  // The single spike is still visible: it extends the axis to 9 or beyond.
  EXPECT_EQ(countOf(svg, ">8<"), 1u);
}

TEST(LossCurve, widelySpreadLossesAreLogarithmic) {
  LossCurve curve;
  for (int64_t step = 1; step <= 100; ++step)
    curve.addStep(step, std::pow(10, 2 - double(step) / 20));
  std::string svg = curve.svg();
  for (const char *label : {">0.001<", ">0.01<", ">0.1<", ">1<", ">10<", ">100<", ">loss (logarithmic)<"})
    EXPECT_GE(countOf(svg, label), 1u) << label;
}

TEST(LossCurve, oddLossesAreDrawnToo) {
  LossCurve none;
  none.addStep(1, NAN);
  EXPECT_NE(none.svg().find("no finite loss yet"), std::string::npos);
  for (double loss : {0.0, -1.0, 1e-300, 1e300, 2.302585}) {
    LossCurve curve;
    curve.addStep(1, loss);
    std::string svg = curve.svg();
    EXPECT_EQ(svg.find("nan"), std::string::npos) << loss;
    EXPECT_EQ(svg.find("inf"), std::string::npos) << loss;
    EXPECT_LT(countOf(svg, "<line"), 40u) << loss;
  }
}
