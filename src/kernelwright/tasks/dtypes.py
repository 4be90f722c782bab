"""What an element type of a task is called in each language, and how it is to be read there.

Refuses to convert anything: it is for prototypes and for whoever writes by them.
"""

from collections.abc import Iterable, Mapping

from kernelwright.records.candidate import Language

CPP_TYPES = {
    "float64": "double", "float32": "float", "float16": "_Float16", "bfloat16": "uint16_t",
    "float8_e4m3fn": "uint8_t", "float8_e5m2": "uint8_t", "int64": "int64_t",
    "int32": "int32_t", "int16": "int16_t", "int8": "int8_t", "uint8": "uint8_t", "bool": "bool",
}  # fmt: skip
"""Element types in C++: bfloat16 and float8 as their bits, since g++ 12 has no such types."""
CUDA_TYPES = CPP_TYPES | {
    "float16": "__half", "bfloat16": "__nv_bfloat16",
    "float8_e4m3fn": "__nv_fp8_e4m3", "float8_e5m2": "__nv_fp8_e5m2",
}  # fmt: skip
_TRITON = {
    "float8_e4m3fn": "float8e4nv", "float8_e5m2": "float8e5", "bool": "int1",
}  # fmt: skip
_REMARKS: Mapping[str, Mapping[str, str]] = {
    "cpp": {
        "bfloat16": ", its bits: shifted left by 16 they are a float",
        "float8_e4m3fn": ", its bits: sign, 4 of exponent, 3 of mantissa",
        "float8_e5m2": ", its bits: sign, 5 of exponent, 2 of mantissa",
    },
    "cuda": {
        "float16": " of <cuda_fp16.h>",
        "bfloat16": " of <cuda_bf16.h>",
        "float8_e4m3fn": " of <cuda_fp8.h>",
        "float8_e5m2": " of <cuda_fp8.h>",
    },
}


def in_words(language: Language, dtypes: Iterable[str]) -> str:
    """What each type is in a language, one sentence.

    Args:
        language: of the candidate.
        dtypes: the types of its tensors; repeated ones are said once.
    """
    said = [f"{dtype} is {_name(language, dtype)}" for dtype in dict.fromkeys(dtypes)]
    return "; ".join(said)


def _name(language: Language, dtype: str) -> str:
    if language == "torch":
        return f"torch.{dtype}"
    if language == "triton":
        return f"torch.{dtype}, in a kernel tl.{_TRITON.get(dtype, dtype)}"
    types = CUDA_TYPES if language == "cuda" else CPP_TYPES
    return types[dtype] + _REMARKS[language].get(dtype, "")
