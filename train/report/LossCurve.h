#ifndef FREESTONE_TRAIN_REPORT_LOSSCURVE_H
#define FREESTONE_TRAIN_REPORT_LOSSCURVE_H

#include <cstdint>
#include <string>
#include <vector>

namespace freestone::train {

/// The losses of a training, and their plot. Holds at most a few thousand points however long the training is:
/// neighbours are averaged, and each point keeps the minimum and the maximum of its losses.
class LossCurve {
public:
  LossCurve();
  /// Steps must increase. Losses that are not finite are left out.
  void addStep(int64_t step, double loss);
  void addEvaluation(int64_t step, double loss);

  /// A plot as SVG, 800 by 480: axes with round numbers, the raw losses pale, the smoothed losses, evaluations as
  /// points. Logarithmic if the losses span more than a factor of 100. Equal losses give equal bytes.
  std::string svg() const;

private:
  struct Point {
    int64_t firstStep, lastStep;
    double mean, least, largest;
    int64_t count;
  };
  struct Evaluation {
    int64_t step;
    double loss;
  };

  void halve();

  std::vector<Point> points;
  std::vector<Evaluation> evaluations;
  int64_t stepsPerPoint = 1;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_REPORT_LOSSCURVE_H
