"""Products of matrices, attention, and transforms that are products."""

from row import Row, fixed, values, weights

FLOATS = ("float32", "bfloat16")


def einsum(equation, *cases):
    return Row("Einsum", [case.split() for case in cases], variant=equation, attributes={"equation": equation})


def attention(variant, *cases, **attributes):
    return Row("Attention", [case.split() for case in cases], variant=variant, attributes=attributes)


ROWS = [
    Row("MatMul", [["128x768", weights("768x768")], ["1024x1024", weights("1024x4096")]], FLOATS),
    Row("MatMul", [["1x768", weights("768x768")], ["1x1024", weights("1024x4096")]], variant="of a row"),
    Row("MatMul", [["12x128x64", "12x64x128"], ["96x256x64", "96x64x256"]], variant="of batches"),
    Row("MatMul", [["128x128", "128x128"], ["512x512", "512x512"]], ("int32",)),
    Row("Gemm", [["64x784", weights("1024x784"), weights("1024")], ["1024x1024", weights("1024x1024"), weights("1024")]],
        attributes={"transB": 1}),
    Row("Gemm", [["784x64", "784x1024"], ["1024x1024", "1024x1024"]], variant="transposed A", attributes={"transA": 1}),
    einsum("bhqd,bhkd->bhqk", "1x12x128x64 1x12x128x64", "8x12x256x64 8x12x256x64"),
    einsum("bqhd,bkhd->bhqk", "1x128x12x64 1x128x12x64", "8x256x12x64 8x256x12x64"),
    einsum("ij,j->i", "1024x1024 1024", "4096x4096 4096"),
    einsum("bij,bjk,bkl->bil", "4x64x64 4x64x64 4x64x64", "16x128x128 16x128x128 16x128x128"),
    einsum("ii->i", "256x256", "2048x2048"),
    einsum("ijk->ki", "32x32x32", "128x256x128"),
    attention("", "1x12x128x64 1x12x128x64 1x12x128x64", "2x12x512x64 2x12x512x64 2x12x512x64"),
    attention("causal", "1x12x128x64 1x12x128x64 1x12x128x64", "2x12x512x64 2x12x512x64 2x12x512x64", is_causal=1),
    attention("one token", "1x12x1x64 1x12x512x64 1x12x512x64", "8x12x1x64 8x12x2048x64 8x12x2048x64"),
    Row("LinearAttention", [["1x16x256"] * 3, ["4x64x256"] * 3], outputs=2,
        attributes={"kv_num_heads": 4, "q_num_heads": 4, "update_rule": "linear"}),
    Row("FlexAttention", [["1x12x128x64"] * 3, ["2x12x512x64"] * 3], domain="ai.onnx.preview"),
    Row("RotaryEmbedding", [["1x12x128x64", "128x32", "128x32", values("1x128", 0, 128, "int64")],
                            ["8x16x512x64", "512x32", "512x32", values("8x512", 0, 512, "int64")]]),
    Row("Det", [["64x4x4"], ["64x64x64"]]),
    Row("DFT", [["16x256x1", None, fixed(1)], ["64x1024x1", None, fixed(1)]], attributes={"onesided": 1}),
    Row("STFT", [["1x16000x1", fixed(160), weights("400"), fixed(400)],
                 ["4x48000x1", fixed(160), weights("400"), fixed(400)]]),
]
