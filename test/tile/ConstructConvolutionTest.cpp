// Properties of constructed tilings of convolutions: they follow the device.
#include "compiler/tile/ConstructConvolution.h"

#include "gtest/gtest.h"

using namespace freestone;
using namespace freestone::tile;

namespace {

/// A convolution of single taps over a picture that leaves L2 and is copied.
ConvolutionProblem makeProblem(int64_t channels, int64_t pixels, int64_t columns) {
  ConvolutionProblem problem;
  problem.sizes = {.outer = 1, .columns = columns, .rows = 1, .pixels = pixels, .channels = channels, .pictures = 1};
  problem.pictureStride = pixels;
  return problem;
}

ConvolutionShares choose(const DeviceDescription &device, const ConvolutionProblem &problem) {
  return constructConvolution(problem, DeviceRates::get(device), /*isStage=*/false, /*together=*/true).front().shares;
}

} // namespace

/// The later pieces of rows come from beyond L2, the longer they are, in larger tiles.
TEST(ConstructConvolution, LatePiecesOfRowsMeanLargerTiles) {
  DeviceDescription early = llvm::cantFail(DeviceDescription::get("x86-64-v3")), late = early;
  early.rates.pieceSeconds = 1e-9;
  late.rates.pieceSeconds = 5e-8;
  for (auto [channels, pixels, columns] : {std::tuple(256, 3136, 64), {256, 12544, 128}, {96, 12544, 32}}) {
    ConvolutionProblem problem = makeProblem(channels, pixels, columns);
    EXPECT_GT(getBlocks(problem, choose(late, problem)).pixelStep, getBlocks(problem, choose(early, problem)).pixelStep)
        << channels << " channels of " << pixels;
  }
}

/// Where masks take long, the last vector of results overlaps the one before, which a model counts as a whole one.
TEST(ConstructConvolution, OverlappingVectorsTakeNoMasks) {
  DeviceRates rates = DeviceRates::get(llvm::cantFail(DeviceDescription::get("x86-64-v3")));
  for (int64_t pixels : {13, 28, 56}) {
    ConvolutionProblem masked = makeProblem(64, pixels, 64), overlapping = masked;
    overlapping.overlaps = true;
    ConvolutionShares shares = getPlainShares(masked, rates, /*isStage=*/false);
    double difference = estimateConvolution(masked, shares, rates, 1).overhead -
                        estimateConvolution(overlapping, shares, rates, 1).overhead;
    if (pixels % 8)
      EXPECT_GT(difference, 0) << pixels;
    else
      EXPECT_EQ(difference, 0) << pixels;
  }
}
