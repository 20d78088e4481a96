"""The rows, a module a family, and the operators that have none."""

import importlib

FAMILIES = ("elementwise", "reductions", "products", "windows", "movement", "indices", "order", "draws", "recurrent",
            "quantised", "control_flow", "optimizers")

_KNOWN = "is known when the model has been read: nothing of it is computed"
_SEQUENCE = "sequences and optionals are gone when the model has been read; what moves their elements has rows"
_FEATURES = "is made of gathers, products and arithmetic on a table of features; these have rows"
_FUSED = "is written as several operators, which have rows"
# Operator → why nothing is measured of it.
WITHOUT_ROWS = {
    "BitCast": "moves bytes as Cast to the same width does",
    "com.microsoft.MatMulNBits": "python-stored-types compares it; ONNX Runtime packs its weights ahead",
    "If": "is compiled where the condition is known when the model has been read, which leaves one branch",
    "Constant": _KNOWN,
    "Shape": _KNOWN,
    "Size": _KNOWN,
    "ConcatFromSequence": _SEQUENCE,
    "Optional": _SEQUENCE,
    "OptionalGetElement": _SEQUENCE,
    "OptionalHasElement": _SEQUENCE,
    "SequenceAt": _SEQUENCE,
    "SequenceConstruct": _SEQUENCE,
    "SequenceEmpty": _SEQUENCE,
    "SequenceErase": _SEQUENCE,
    "SequenceInsert": _SEQUENCE,
    "SequenceLength": _SEQUENCE,
    "SplitToSequence": _SEQUENCE,
    "MelWeightMatrix": "is a small table, of numbers that are mostly known when the model has been read",
    "SimplifiedLayerNormalization": _FUSED,
    **{f"com.microsoft.{name}": _FUSED
       for name in ("Attention", "BiasGelu", "EmbedLayerNormalization", "FastGelu", "FusedConv", "FusedGemm", "FusedMatMul", "Gelu",
                    "MultiHeadAttention", "QuickGelu", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "TransposeMatMul")},
    **{f"com.microsoft.{name}": "is ONNX's operator under another name" for name in ("DequantizeLinear", "QuantizeLinear")},
    **{f"ai.onnx.ml.{name}": _FEATURES
       for name in ("ArrayFeatureExtractor", "Binarizer", "LabelEncoder", "LinearClassifier", "LinearRegressor",
                    "Normalizer", "Scaler", "TreeEnsemble", "TreeEnsembleClassifier", "TreeEnsembleRegressor")},
    "ai.onnx.preview.training.Gradient": "costs what the nodes of the gradient cost",
}


def families():
    """The rows by family."""
    return {name: importlib.import_module(f"rows.{name}").ROWS for name in FAMILIES}
