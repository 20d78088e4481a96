#include "test/grad/GradientCheck.h"

namespace freestone::grad {

namespace {

class ConvolutionGradient : public GradientCheck {
protected:
  /// Checks one convolution; the verifier checks the shape of its result.
  void checkConvolution(const std::string &operand, const std::string &kernel, const std::string &result,
                        const std::string &attributes, const Sizes &sizes) {
    std::string text = "(%x: !graph.tensor<" + operand + ", f64>, %w: !graph.tensor<" + kernel +
                       ", f64>) -> !graph.tensor<" + result + ", f64> {\n  %y = graph.convolve %x, %w " + attributes +
                       " : !graph.tensor<" + operand + ", f64>, !graph.tensor<" + kernel +
                       ", f64>\n  return %y : !graph.tensor<" + result + ", f64>\n}";
    SCOPED_TRACE(text);
    checkAt(text, sizes);
  }
};

TEST_F(ConvolutionGradient, OneDimension) {
  // Every remainder by the stride.
  for (int64_t length : {5, 6, 7, 11})
    checkConvolution("[n, c, l]", "[o, c, 3]", "[n, o, (l - 1) floordiv 3 + 1]",
                     "strides [3] dilations [1] operand_dilation [1] low [1] high [1] groups 1",
                     {{"n", 2}, {"c", 3}, {"o", 2}, {"l", length}});
  for (int64_t length : {1, 2, 5})
    checkConvolution("[n, c, l]", "[o, c, 2]", "[n, o, 2*l - l floordiv 2 - 1]",
                     "strides [2] dilations [3] operand_dilation [3] low [1] high [2] groups 1",
                     {{"n", 1}, {"c", 1}, {"o", 3}, {"l", length}});
  checkConvolution("[n, c, l]", "[o, c, k]", "[n, o, l - k + 1]",
                   "strides [1] dilations [1] operand_dilation [1] low [0] high [0] groups 1",
                   {{"n", 3}, {"c", 2}, {"o", 2}, {"l", 7}, {"k", 3}});
}

TEST_F(ConvolutionGradient, CutPadding) {
  checkConvolution("[n, c, l]", "[o, c, 2]", "[n, o, 2*l - 4]",
                   "strides [1] dilations [1] operand_dilation [2] low [-1] high [-1] groups 1",
                   {{"n", 2}, {"c", 2}, {"o", 1}, {"l", 5}});
}

TEST_F(ConvolutionGradient, TwoDimensions) {
  checkConvolution("[n, 3, h, w]", "[4, 3, 3, 2]", "[n, 4, (h - 1) floordiv 2 + 1, w - 1]",
                   "strides [2, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 0] high [1, 0] groups 1",
                   {{"n", 2}, {"h", 6}, {"w", 5}});
  checkConvolution("[n, 3, h, w]", "[4, 3, 1, 1]", "[n, 4, h, w]",
                   "strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [0, 0] high [0, 0] groups 1",
                   {{"n", 1}, {"h", 1}, {"w", 7}});
}

TEST_F(ConvolutionGradient, Groups) {
  for (int64_t length : {4, 5})
    checkConvolution("[n, 6, l]", "[4, 3, 3]", "[n, 4, (l - 3) floordiv 2 + 1]",
                     "strides [2] dilations [1] operand_dilation [1] low [0] high [0] groups 2",
                     {{"n", 3}, {"l", length}});
  // Depthwise, with two output channels for each input channel.
  checkConvolution("[n, 3, h, w]", "[6, 1, 3, 3]", "[n, 6, h, w]",
                   "strides [1, 1] dilations [1, 1] operand_dilation [1, 1] low [1, 1] high [1, 1] groups 3",
                   {{"n", 2}, {"h", 4}, {"w", 3}});
  checkConvolution("[n, 4, l]", "[6, 2, 2]", "[n, 6, 2*l]",
                   "strides [1] dilations [1] operand_dilation [2] low [1] high [1] groups 2", {{"n", 2}, {"l", 3}});
}

TEST_F(ConvolutionGradient, Transposed) {
  checkConvolution("[n, 4, h, w]", "[6, 2, 2, 3]", "[n, 6, 2*h, 3*w - 1]",
                   "strides [1, 1] dilations [1, 2] operand_dilation [2, 3] low [1, 2] high [1, 3] groups 2",
                   {{"n", 2}, {"h", 3}, {"w", 2}});
  // Gaps along one dimension, strides along the other.
  checkConvolution("[n, 2, h, w]", "[3, 2, 3, 3]", "[n, 3, 3*h - 2, (w - 1) floordiv 2 + 1]",
                   "strides [1, 2] dilations [1, 1] operand_dilation [3, 1] low [1, 1] high [1, 1] groups 1",
                   {{"n", 2}, {"h", 2}, {"w", 4}});
}

TEST_F(ConvolutionGradient, Twice) {
  checkTwice(
      R"((%x: !graph.tensor<[n, c, 5], f64>, %w: !graph.tensor<[o, c, 3], f64>) -> !graph.tensor<[n, o, 2], f64> {
    %y = graph.convolve %x, %w strides [2] dilations [1] operand_dilation [1] low [0] high [0] groups 1
         : !graph.tensor<[n, c, 5], f64>, !graph.tensor<[o, c, 3], f64>
    return %y : !graph.tensor<[n, o, 2], f64>
  })");
}

} // namespace

} // namespace freestone::grad
