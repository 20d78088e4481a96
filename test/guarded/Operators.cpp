#include "test/guarded/Operators.h"

namespace freestone::test {

const std::vector<OperatorCase> operatorCases = {
    // Reads at data-dependent indices.
    {"GatherRows", "g (float[a, b] x, int64[c] i) => (float[p, q] y) { y = Gather(x, i) }"},
    {"GatherColumns", "g (float[a, b] x, int64[c] i) => (float[p, q] y) { y = Gather<axis = 1>(x, i) }"},
    {"GatherMiddle", "g (float[a, b, c] x, int32[d, e] i) => (float[p, q, r, s] y) { y = Gather<axis = 1>(x, i) }"},
    {"GatherScalar", "g (float[a, b] x, int64 i) => (float[p] y) { y = Gather(x, i) }"},
    {"GatherVector", "g (float[a] x, int64[c] i) => (float[p] y) { y = Gather(x, i) }"},
    {"GatherBf16", "g (bfloat16[a, b] x, int64[c] i) => (bfloat16[p, q] y) { y = Gather(x, i) }"},
    {"GatherBool", "g (bool[a, b] x, int64[c] i) => (bool[p, q] y) { y = Gather<axis = 1>(x, i) }"},
    {"GatherDouble", "g (double[a, b] x, int64[c] i) => (double[p, q] y) { y = Gather(x, i) }"},
    {"GatherTwice",
     "g (float[a, b] x, int64[c] i, int64[d] j) => (float[p, q] y) { z = Gather(x, i) y = Gather<axis = 1>(z, j) }"},
    {"GatherElements0", "g (float[a, b] x, int64[c, d] i) => (float[p, q] y) { y = GatherElements<axis = 0>(x, i) }"},
    {"GatherElements1", "g (float[a, b] x, int64[c, d] i) => (float[p, q] y) { y = GatherElements<axis = 1>(x, i) }"},
    {"GatherElementsF16",
     "g (float16[a, b] x, int64[a, d] i) => (float16[p, q] y) { y = GatherElements<axis = 1>(x, i) }"},
    {"GatherElementsI8", "g (int8[a, b] x, int32[c, b] i) => (int8[p, q] y) { y = GatherElements<axis = 0>(x, i) }"},
    {"GatherND1", "g (float[a, b] x, int64[c, 1] i) => (float[p, q] y) { y = GatherND(x, i) }"},
    {"GatherND2", "g (float[a, b, c] x, int64[d, 2] i) => (float[p, q] y) { y = GatherND(x, i) }"},
    {"GatherND3", "g (float[a, b, c] x, int64[d, 3] i) => (float[p] y) { y = GatherND(x, i) }"},
    {"GatherND0", "g (float[a, b] x, int64[c, 0] i) => (float[p, q, r] y) { y = GatherND(x, i) }"},
    {"GatherNDBatch",
     "g (float[a, b, c] x, int64[a, d, 1] i) => (float[p, q, r] y) { y = GatherND<batch_dims = 1>(x, i) }"},
    {"OneHot", "g (int64[a] i, int64 d, float[2] v) => (float[p, q] y) { y = OneHot(i, d, v) }"},
    {"ReverseSequence", "g (float[a, b, c] x, int64[b] n) => (float[p, q, r] y) { y = ReverseSequence<batch_axis = 1, "
                        "time_axis = 0>(x, n) "
                        "}"},
    // Writes at data-dependent indices.
    {"ScatterND1", "g (float[a, b] x, int64[c, 1] i, float[c, b] u) => (float[p, q] y) { y = ScatterND(x, i, u) }"},
    {"ScatterND2",
     "g (float[a, b] x, int64[c, 2] i, float[c] u) => (float[p, q] y) { y = ScatterND<reduction = \"add\">(x, i, u) }"},
    {"ScatterND2Rows", "g (float[a, b, c] x, int64[d, 2] i, float[d, c] u) => (float[p, q, r] y) { y = "
                       "ScatterND<reduction = \"max\">(x, i, u) }"},
    {"ScatterND0", "g (float[a, b] x, int64[c, 0] i, float[c, a, b] u) => (float[p, q] y) { y = ScatterND<reduction = "
                   "\"add\">(x, i, u) }"},
    // With so many columns that a tile is only a part of the result.
    {"ScatterNDLong", "g (float[a, 2000] x, int64[c, 1] i, float[c, 2000] u) => (float[p, q] y) { y = "
                      "ScatterND<reduction = \"add\">(x, i, u) }"},
    {"ScatterElementsLong", "g (float[a, 130] x, int64[c, 129] i, float[c, 129] u) => (float[p, q] y) { y = "
                            "ScatterElements<axis = 0, reduction = \"add\">(x, i, u) }"},
    {"ScatterElements0",
     "g (float[a, b] x, int64[c, d] i, float[c, d] u) => (float[p, q] y) { y = ScatterElements<axis = 0>(x, i, u) }"},
    {"ScatterElements1", "g (float[a, b] x, int64[c, d] i, float[c, d] u) => (float[p, q] y) { y = "
                         "ScatterElements<axis = 1, reduction = \"add\">(x, i, u) }"},
    {"ScatterElementsBool", "g (bool[a, b] x, int32[c, d] i, bool[c, d] u) => (bool[p, q] y) { y = "
                            "ScatterElements<axis = 1>(x, i, u) }"},
    {"TensorScatter",
     "g (float[a, b, c] x, float[a, d, c] u, int64[a] i) => (float[p, q, r] y) { y = TensorScatter(x, u, i) }"},
    {"TensorScatterCircular", "g (float[a, b, c] x, float[a, d, c] u, int64[a] i) => (float[p, q, r] y) { y = "
                              "TensorScatter<mode = \"circular\">(x, u, i) }"},
    // Losses by label, and their gradients.
    {"NegativeLogLikelihood", "g (float[a, b] x, int64[a] t, float[b] w) => (float y) { y = "
                              "NegativeLogLikelihoodLoss<ignore_index = -1>(x, t, w) }"},
    {"NegativeLogLikelihoodEach",
     "g (float[a, b, c] x, int64[a, c] t) => (float[p, q] y) { y = NegativeLogLikelihoodLoss<reduction = \"none\">(x, "
     "t) }"},
    {"SoftmaxCrossEntropy", "g (float[a, b] x, int64[a] t) => (float y, float[p, q] l) { y, l = "
                            "SoftmaxCrossEntropyLoss(x, t) }"},
    {"SoftmaxCrossEntropyGradient",
     "g (float[a, b] x, int64[a] t) => (float[p, q] d) { y = SoftmaxCrossEntropyLoss(x, t) d = "
     "ai.onnx.preview.training.Gradient<xs = [\"x\"], y = \"y\">(x) }"},
    {"EmbeddingGradient",
     "g (float[a, b] x, int64[c] i, float[c, b] w) => (float[p, q] d) { r = Gather(x, i) m = Mul(r, w) y = "
     "ReduceSum<keepdims = 0>(m) d = ai.onnx.preview.training.Gradient<xs = [\"x\"], y = \"y\">(x) }"},
    {"GatherElementsGradient",
     "g (float[a, b] x, int64[a, c] i) => (float[p, q] d) { r = GatherElements<axis = 1>(x, i) m = Mul(r, r) y = "
     "ReduceSum<keepdims = 0>(m) d = ai.onnx.preview.training.Gradient<xs = [\"x\"], y = \"y\">(x) }"},
    {"MaxPoolGradient",
     "g (float[a, b, h, w] x) => (float[p, q, r, s] d) { m = MaxPool<kernel_shape = [2, 2], strides = [1, 1], pads = "
     "[1, 0, 0, 1]>(x) y = ReduceSum<keepdims = 0>(m) d = ai.onnx.preview.training.Gradient<xs = [\"x\"], y = "
     "\"y\">(x) }"},
    {"ConvGradient",
     "g (float[a, b, h, w] x, float[c, b, 2, 2] k) => (float[p, q, r, s] d, float[t, u, v, z] e) { m = Conv<pads = [1, "
     "1, 1, 1]>(x, k) y = ReduceSum<keepdims = 0>(m) d, e = ai.onnx.preview.training.Gradient<xs = [\"x\", \"k\"], y = "
     "\"y\">(x, k) }"},
    // Data-dependent sizes and positions.
    {"Slice", "g (float[a, b] x, int64[2] s, int64[2] e) => (float[p, q] y) { y = Slice(x, s, e) }"},
    {"SliceSteps", "g (float[a, b] x, int64[1] s, int64[1] e, int64[1] t) => (float[p, q] y) { k = Constant<value_ints "
                   "= [1]>() y = Slice(x, s, e, k, t) }"},
    {"SliceBackwards",
     "g (float[a, b] x, int64[1] s, int64[1] e) => (float[p, q] y) { k = Constant<value_ints = [0]>() "
     "t = Constant<value_ints = [-2]>() y = Slice(x, s, e, k, t) }"},
    {"Pad", "g (float[a, b] x, int64[4] n, float v) => (float[p, q] y) { y = Pad(x, n, v) }"},
    {"PadReflect", "g (float[a, b] x, int64[4] n) => (float[p, q] y) { y = Pad<mode = \"reflect\">(x, n) }"},
    {"PadEdge", "g (float[a, b] x, int64[4] n) => (float[p, q] y) { y = Pad<mode = \"edge\">(x, n) }"},
    {"PadWrap", "g (float[a, b] x, int64[4] n) => (float[p, q] y) { y = Pad<mode = \"wrap\">(x, n) }"},
    {"Split", "g (float[a, b] x, int64[2] n) => (float[p, q] y, float[r, s] z) { y, z = Split(x, n) }"},
    {"SplitEven", "g (float[a, b] x) => (float[p, q] y, float[r, s] z) { y, z = Split<num_outputs = 2>(x) }"},
    {"Tile", "g (float[a, b] x, int64[2] n) => (float[p, q] y) { y = Tile(x, n) }"},
    {"Expand", "g (float[a, 1] x, int64[2] n) => (float[p, q] y) { y = Expand(x, n) }"},
    {"Reshape", "g (float[a, b] x, int64[2] n) => (float[p, q] y) { y = Reshape(x, n) }"},
    {"ConstantOfShape", "g (int64[2] n) => (float[p, q] y) { y = ConstantOfShape(n) }"},
    {"Range", "g (int64 s, int64 e, int64 t) => (int64[p] y) { y = Range(s, e, t) }"},
    {"Trilu", "g (float[a, b] x, int64 k) => (float[p, q] y) { y = Trilu(x, k) }"},
    {"EyeLike", "g (float[a, b] x) => (float[p, q] y) { y = EyeLike<k = 1>(x) }"},
    {"CumSum",
     "g (float[a, b] x) => (float[p, q] y) { k = Constant<value_int = 1>() y = CumSum<exclusive = 1>(x, k) }"},
    {"CumSumAxis", "g (float[a, b] x, int64 k) => (float[p, q] y) { y = CumSum<reverse = 1>(x, k) }"},
    {"TopK", "g (float[a, b] x, int64[1] k) => (float[p, q] y, int64[r, s] i) { y, i = TopK<axis = 0>(x, k) }"},
    {"TopKLast", "g (float[a, b] x, int64[1] k) => (float[p, q] y, int64[r, s] i) { y, i = TopK<largest = 0>(x, k) }"},
    {"ArgMax", "g (float[a, b] x) => (int64[p, q] y) { y = ArgMax<axis = 0>(x) }"},
    {"ArgMin", "g (float[a, b] x) => (int64[p] y) { y = ArgMin<axis = 1, keepdims = 0, select_last_index = 1>(x) }"},
    {"Hardmax", "g (float[a, b] x) => (float[p, q] y) { y = Hardmax<axis = 1>(x) }"},
    {"NonZero", "g (float[a, b] x) => (int64[p, q] y) { y = NonZero(x) }"},
    {"NonZeroBool", "g (bool[a] x) => (int64[p, q] y) { y = NonZero(x) }"},
    {"NonMaxSuppression", "g (float[a, b, 4] x, float[a, c, b] s, int64[1] m) => (int64[p, q] y) { y = "
                          "NonMaxSuppression(x, s, m) }"},
    {"Compress", "g (float[a, b] x, bool[c] k) => (float[p, q] y) { y = Compress<axis = 0>(x, k) }"},
    {"CompressLast", "g (float[a, b] x, bool[c] k) => (float[p, q] y) { y = Compress<axis = 1>(x, k) }"},
    {"CompressAll", "g (float[a, b] x, bool[c] k) => (float[p] y) { y = Compress(x, k) }"},
    {"Unique", "g (float[a] x) => (float[p] y, int64[q] f, int64[r] i, int64[s] c) { y, f, i, c = Unique(x) }"},
    {"UniqueRows", "g (float[a, b] x) => (float[p, q] y, int64[r] f, int64[s] i, int64[t] c) { y, f, i, c = "
                   "Unique<axis = 0, sorted = 0>(x) }"},
    {"UniqueColumns", "g (int64[a, b] x) => (int64[p, q] y, int64[r] f, int64[s] i, int64[t] c) { y, f, i, c = "
                      "Unique<axis = 1>(x) }"},
    {"SequenceAt", "g (float[a, b] x, float[c, d] z) => (float[p, q] y) { k = Constant<value_int = -1>() s = "
                   "SequenceConstruct(x, z) y = SequenceAt(s, k) }"},
    {"ConcatFromSequence", "g (float[a, b] x, float[c, b] z) => (float[p, q] y) { k = Constant<value_int = 0>() s = "
                           "SequenceConstruct(x, x) t = SequenceInsert(s, z, k) y = ConcatFromSequence<axis = 0>(t) }"},
    {"SplitToSequence", "g (float[a, 4] x) => (float[p, q] y) { k = Constant<value_ints = [1, 0, 3]>() s = "
                        "SplitToSequence<axis = 1>(x, k) y = ConcatFromSequence<axis = 1>(s) }"},
    // Bodies whose number of runs is known while compiling.
    {"If", "g (float[a, b] x, int64[c] i, int64[c] j) => (float[p, q] y) { k = Constant<value = bool {1}>() y = "
           "If<then_branch = t () => "
           "(float[r, s] u) { u = Gather(x, i) }, else_branch = e () => (float[v, w] z) { z = Gather(x, j) }>(k) }"},
    {"Loop",
     "g (float[a, b] x, int64[c] i) => (float[p, q] y) { n = Constant<value_int = 2>() k = Constant<value = bool "
     "{1}>() y = Loop<body = l (int64 j, bool d, float[r, s] u) => (bool e, float[t, v] w) { e = Identity(d) w = "
     "Gather(u, i) }>(n, k, x) }"},
    {"LoopCollecting",
     "g (float[a, b] x, int64[c] i) => (float[p, q] y, float[r, s, t] z) { n = Constant<value_int = 3>() k = "
     "Constant<value = bool {1}>() y, z = Loop<body = o (int64 j, bool d, float[u, v] w) => (bool e, "
     "float[u, v] f, float[c, v] h) { e = Identity(d) f = Neg(w) h = Gather(w, i) }>(n, k, x) }"},
    {"Scan", "g (float[a] s, float[3, a] x, int64[d] i) => (float[p] y, float[q, r] z) { y, z = Scan<num_scan_inputs = "
             "1, body = o (float[u] v, float[u] w) => (float[u] e, float[f] k) { e = Add(v, w) k = Gather(e, i) }>(s, "
             "x) }"},
    {"RNN", "g (float[3, b, i] x, float[1, 4, i] w, float[1, 4, 4] r, int32[b] n) => (float[p, q, s, t] y, float[u, v, "
            "z] l) { y, l = RNN<hidden_size = 4, direction = \"reverse\">(x, w, r, , n) }"},
    {"LSTM",
     "g (float[3, b, i] x, float[1, 8, i] w, float[1, 8, 2] r, float[1, 16] v, int32[b] n) => (float[p, q, s, t] y, "
     "float[u, c, d] h, float[e, f, j] l) { y, h, l = LSTM<hidden_size = 2>(x, w, r, v, n) }"},
    {"GRU",
     "g (float[2, b, i] x, float[2, 9, i] w, float[2, 9, 3] r, float[2, 18] v, int32[b] n) => (float[p, q, s, t] "
     "y, float[u, c, d] h) { y, h = GRU<hidden_size = 3, direction = \"bidirectional\">(x, w, r, v, n) }"},
    // Windows.
    {"MaxPool", "g (float[a, b, h, w] x) => (float[p, q, r, s] y, int64[t, u, v, z] i) { y, i = MaxPool<kernel_shape = "
                "[2, 3], pads = [1, 1, 0, 1], strides = [1, 2], ceil_mode = 1>(x) }"},
    {"MaxPoolValid",
     "g (float[a, b, h, w] x) => (float[p, q, r, s] y) { y = MaxPool<kernel_shape = [2, 2], dilations = "
     "[2, 1]>(x) }"},
    {"AveragePool", "g (float[a, b, h, w] x) => (float[p, q, r, s] y) { y = AveragePool<kernel_shape = [3, 2], pads = "
                    "[1, 1, 1, 1], ceil_mode = 1, strides = [2, 2]>(x) }"},
    {"LpPool", "g (float[a, b, h] x) => (float[p, q, r] y) { y = LpPool<kernel_shape = [2]>(x) }"},
    {"GlobalMaxPool", "g (float[a, b, h, w] x) => (float[p, q, r, s] y) { y = GlobalMaxPool(x) }"},
    {"GlobalAveragePool", "g (float[a, b, h, w] x) => (float[p, q, r, s] y) { y = GlobalAveragePool(x) }"},
    {"Conv", "g (float[a, b, h, w] x, float[c, b, 2, 3] k, float[c] v) => (float[p, q, r, s] y) { y = Conv<pads = [1, "
             "0, 1, 2], strides = [2, 1]>(x, k, v) }"},
    {"ConvValid", "g (float[a, b, h, w] x, float[c, b, 3, 1] k) => (float[p, q, r, s] y) { y = Conv(x, k) }"},
    {"ConvDepthwise", "g (float[a, 4, h] x, float[4, 1, 3] k) => (float[p, q, r] y) { y = Conv<group = 4, dilations = "
                      "[2]>(x, k) }"},
    {"ConvPooled", "g (float[a, 3, h, w] x, float[4, 3, 3, 3] k) => (float[p, q, r, s] y) { c = Conv<pads = [1, 1, 1, "
                   "1]>(x, k) m = Relu(c) y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(m) }"},
    {"ConvStrided",
     "g (float[a, 3, h, w] x, float[32, 3, 3, 3] k) => (float[p, q, r, s] y) { y = Conv<pads = [1, 1, 1, "
     "1], strides = [2, 2]>(x, k) }"},
    {"ConvGrouped",
     "g (float[a, 4, h, w] x, float[6, 2, 3, 3] k, float[6] v) => (float[p, q, r, s] y) { y = Conv<group = "
     "2, pads = [1, 2, 0, 1], strides = [1, 3]>(x, k, v) }"},
    {"ConvDepthwiseStrided", "g (float[a, 3, h, w] x, float[3, 1, 3, 3] k) => (float[p, q, r, s] y) { y = Conv<group = "
                             "3, pads = [1, 1, 1, 1], strides = [2, 2]>(x, k) }"},
    {"ConvDepthwiseVolume", "g (float[a, 2, d, h, w] x, float[4, 1, 2, 2, 3] k) => (float[p, q, r, s, t] y) { y = "
                            "Conv<group = 2, pads = [1, 0, 1, 0, 1, 1], strides = [1, 2, 1]>(x, k) }"},
    {"MaxPoolStrided", "g (float[a, b, h, w] x) => (float[p, q, r, s] y) { y = MaxPool<kernel_shape = [3, 3], pads = "
                       "[1, 1, 1, 1], strides = [2, 2]>(x) }"},
    {"ConvTranspose",
     "g (float[a, b, h, w] x, float[b, c, 2, 3] k) => (float[p, q, r, s] y) { y = ConvTranspose<pads = "
     "[0, 1, 1, 0], strides = [2, 1]>(x, k) }"},
    {"ConvInteger", "g (uint8[a, b, h, w] x, uint8[c, b, 2, 2] k, uint8 z) => (int32[p, q, r, s] y) { y = "
                    "ConvInteger<pads = [1, 0, 0, 1]>(x, k, z) }"},
    {"GridSample", "g (float[a, b, h, w] x, float[a, c, d, 2] i) => (float[p, q, r, s] y) { y = GridSample(x, i) }"},
    {"GridSampleCubic", "g (float[a, b, h, w] x, float[a, c, d, 2] i) => (float[p, q, r, s] y) { y = GridSample<mode = "
                        "\"cubic\", padding_mode = \"reflection\">(x, i) }"},
    {"GridSampleNearest", "g (float[a, b, h, w] x, float[a, c, d, 2] i) => (float[p, q, r, s] y) { y = GridSample<mode "
                          "= \"nearest\", padding_mode = \"border\", align_corners = 1>(x, i) }"},
    {"ResizeSizes", "g (float[a, b, h, w] x, int64[4] n) => (float[p, q, r, s] y) { y = Resize<mode = \"linear\">(x, , "
                    ", n) }"},
    {"ResizeScales", "g (float[a, b, h, w] x) => (float[p, q, r, s] y) { k = Constant<value_floats = [1.0, 1.0, 2.5, "
                     "0.5]>() y = Resize<mode = \"nearest\">(x, , k) }"},
    {"ResizeCubic", "g (float[a, b, h, w] x) => (float[p, q, r, s] y) { k = Constant<value_floats = [1.0, 1.0, 2.5, "
                    "0.5]>() y = Resize<mode = \"cubic\">(x, , k) }"},
    {"DepthToSpace", "g (float[a, 8, h, w] x) => (float[p, q, r, s] y) { y = DepthToSpace<blocksize = 2>(x) }"},
    {"SpaceToDepth", "g (float[a, b, 2, 4] x) => (float[p, q, r, s] y) { y = SpaceToDepth<blocksize = 2>(x) }"},
    {"DFT", "g (float[a, b, 1] x) => (float[p, q, r] y) { y = DFT(x) }"},
    {"STFT", "g (float[a, b, 1] x, float[4] w) => (float[p, q, r, s] y) { k = Constant<value_int = 2>() y = STFT(x, k, "
             "w) }"},
    // Products, sums and rows.
    {"MatMul", "g (float[a, b, c] x, float[c, d] z) => (float[p, q, r] y) { y = MatMul(x, z) }"},
    {"MatMulVector", "g (float[a] x, float[a, b] z) => (float[p] y) { y = MatMul(x, z) }"},
    {"MatMulBf16", "g (bfloat16[a, b] x, bfloat16[b, c] z) => (bfloat16[p, q] y) { y = MatMul(x, z) }"},
    {"MatMulInteger", "g (uint8[a, b] x, int8[b, c] z) => (int32[p, q] y) { y = MatMulInteger(x, z) }"},
    {"Gemm", "g (float[a, b] x, float[c, a] z, float[c] v) => (float[p, q] y) { y = Gemm<transA = 1, transB = 1>(x, z, "
             "v) }"},
    {"Einsum", "g (float[a, b] x, float[b, c] z) => (float[p] y) { y = Einsum<equation = \"ij,jk->k\">(x, z) }"},
    {"Softmax", "g (float[a, b] x) => (float[p, q] y) { y = Softmax<axis = 0>(x) }"},
    {"LayerNormalization", "g (float[a, b] x, float[b] s) => (float[p, q] y) { y = LayerNormalization(x, s) }"},
    {"BatchNormalization", "g (float[a, b, c] x, float[b] s, float[b] o, float[b] m, float[b] v) => (float[p, q, r] y) "
                           "{ y = BatchNormalization(x, s, o, m, v) }"},
    {"GroupNormalization", "g (float[a, 4, c] x, float[4] s, float[4] o) => (float[p, q, r] y) { y = "
                           "GroupNormalization<num_groups = 2>(x, s, o) }"},
    {"ReduceMax",
     "g (float[a, b, c] x) => (float[p, q, r] y) { k = Constant<value_ints = [0, 2]>() y = ReduceMax(x, k) "
     "}"},
    {"ReduceMean", "g (float[a, b] x) => (float y) { y = ReduceMean<keepdims = 0>(x) }"},
    {"Concat", "g (float[a, b] x, float[c, b] z) => (float[p, q] y) { y = Concat<axis = 0>(x, z) }"},
    {"ConcatLast", "g (float[a, b] x, float[a, c] z) => (float[p, q] y) { y = Concat<axis = 1>(x, z) }"},
    {"Transpose", "g (float[a, b, c] x) => (float[p, q, r] y) { y = Transpose<perm = [2, 0, 1]>(x) }"},
    {"Where", "g (bool[a, 1] c, float[1, b] x, float[a, b] z) => (float[p, q] y) { y = Where(c, x, z) }"},
    // Scales and zero points by channel, and quantized products.
    {"QuantizeLinear", "g (float[a, b] x, float[b] s, uint8[b] z) => (uint8[p, q] y) { y = QuantizeLinear(x, s, z) }"},
    {"QuantizeBlocks", "g (float[a, 4] x, float[a, 2] s, int8[a, 2] z) => (int8[p, q] y) { y = QuantizeLinear<axis = "
                       "1, block_size = 2>(x, s, z) }"},
    {"DequantizeLinear", "g (uint8[a, b] x, float[b] s, uint8[b] z) => (float[p, q] y) { y = DequantizeLinear(x, s, z) "
                         "}"},
    {"DequantizeRows", "g (int8[a, b] x, float[a] s) => (float[p, q] y) { y = DequantizeLinear<axis = 0>(x, s) }"},
    {"DynamicQuantizeLinear", "g (float[a, b] x) => (uint8[p, q] y, float s, uint8 z) { y, s, z = "
                              "DynamicQuantizeLinear(x) }"},
    {"QuantizedPair", "g (float[a, b] x, float[b, c] w, float s, int8 z) => (float[p, q] y) { d = QuantizeLinear(x, s, "
                      "z) e = DequantizeLinear(d, s, z) y = MatMul(e, w) }"},
    {"MatMulIntegerZeroPoints", "g (uint8[a, b] x, int8[b, c] w, uint8[a] u, int8[c] v) => (int32[p, q] y) { y = "
                                "MatMulInteger(x, w, u, v) }"},
    {"QLinearMatMul", "g (uint8[a, b] x, float s, uint8 z, int8[b, c] w, float[c] t, int8[c] v, float u, uint8 o) => "
                      "(uint8[p, q] y) { y = QLinearMatMul(x, s, z, w, t, v, u, o) }"},
    // Indices within other operators.
    {"SoftmaxOfGathered", "g (float[a, b] x, int64[c] i) => (float[p, q] y) { r = Gather(x, i) y = Softmax(r) }"},
    {"NormalizedEmbedding", "g (float[a, b] x, int64[c] i, float[b] s) => (float[p, q] y) { r = Gather(x, i) y = "
                            "LayerNormalization(r, s) }"},
    {"ProductOfGathered", "g (float[a, b] x, int64[c] i, float[b, d] w) => (float[p, q] y) { r = Gather(x, i) y = "
                          "MatMul(r, w) }"},
    {"GatheredFromProduct", "g (float[a, b] x, float[b, c] w, int64[a, d] i) => (float[p, q] y) { r = MatMul(x, w) y = "
                            "GatherElements<axis = 1>(r, i) }"},
    {"ProductPlusGathered", "g (float[a, b] x, float[b, c] w, float[d, c] e, int64[a] i) => (float[p, q] y) { r = "
                            "MatMul(x, w) s = Gather(e, i) y = Add(r, s) }"},
    {"SumOfGathered", "g (float[a, b] x, int64[c] i) => (float[p] y) { r = Gather(x, i) k = Constant<value_ints = "
                      "[1]>() y = ReduceSum<keepdims = 0>(r, k) }"},
    {"GatheredAndConcatenated",
     "g (float[a, b] x, int64[c] i, float[d, b] z) => (float[p, q] y) { r = Gather(x, i) e = "
     "Exp(z) y = Concat<axis = 0>(r, e) }"},
    {"GatheredReshaped",
     "g (float[a, b] x, int64[c, d] i) => (float[p] y) { r = Gather(x, i) k = Constant<value_ints = "
     "[-1]>() s = Reshape(r, k) y = Neg(s) }"},
    {"SlicedGathered",
     "g (float[a, b] x, int64[c] i, int64[1] s, int64[1] e) => (float[p, q] y) { r = Gather(x, i) y = "
     "Slice(r, s, e) }",
     /*followsAll=*/false},
    {"GatheredNonZero", "g (float[a] x, float[b] z) => (float[p, q] y) { n = NonZero(x) y = Gather(z, n) }"},
    {"ScatteredSoftmax", "g (float[a, b] x, int64[c, 1] i, float[c, b] u) => (float[p, q] y) { s = ScatterND<reduction "
                         "= \"add\">(x, i, u) y = Softmax(s) }"},
};

} // namespace freestone::test
