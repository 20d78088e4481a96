"""Element types: PyTorch's, and the names that the compiler has for them."""

from __future__ import annotations

import torch

NAMES = {
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
    torch.bool: "i1",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.uint8: "u8",
    torch.uint16: "u16",
    torch.uint32: "u32",
    torch.uint64: "u64",
}
FLOATS = {"f16", "bf16", "f32", "f64"}


class UnsupportedType(Exception):
    """An element type that the compiler does not have."""


def name_of(dtype: torch.dtype) -> str:
    if dtype not in NAMES:
        raise UnsupportedType(f"elements of {dtype} are not supported")
    return NAMES[dtype]


def wide(dtype: str) -> str:
    """In which sums and functions of this type are computed."""
    return "f32" if dtype in ("f16", "bf16") else dtype
