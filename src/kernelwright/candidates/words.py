"""Words of C++ and CUDA that mean something without being declared in a candidate's file.

The reader of headers refuses them as names of tunables (a macro would replace them), the
fingerprint keeps them where it forgets other names.
"""

import re

_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
co_return co_yield decltype default delete do double dynamic_cast else enum explicit export
extern false final float for friend goto if inline int long mutable namespace new noexcept not
not_eq nullptr operator or or_eq override private protected public register reinterpret_cast
requires restrict return short signed sizeof static static_assert static_cast struct switch
template this thread_local throw true try typedef typeid typename union unsigned using virtual
void volatile wchar_t while xor xor_eq
"""
_TYPES = """
int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t ssize_t ptrdiff_t
intptr_t uintptr_t half half2 float2 float4 double2 int2 int4 uint2 uint4 dim3 cudaStream_t
"""
_MACROS = """
std main linux unix errno assert offsetof NULL NAN INFINITY EOF NDEBUG stdin stdout stderr va_list
CHAR_BIT INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN LLONG_MAX LLONG_MIN SIZE_MAX HUGE_VAL HUGE_VALF
FLT_MAX FLT_MIN FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON M_E M_PI M_PI_2 M_SQRT2 M_LN2 M_LOG2E
INT8_MAX INT16_MAX INT32_MAX INT64_MAX INT8_MIN INT16_MIN INT32_MIN INT64_MIN
UINT8_MAX UINT16_MAX UINT32_MAX UINT64_MAX threadIdx blockIdx blockDim gridDim warpSize defined
"""
_FUNCTIONS = """
abs labs fabs sqrt cbrt exp exp2 expm1 log log2 log10 log1p pow sin cos tan asin acos atan atan2
sinh cosh tanh asinh acosh atanh erf erfc tgamma lgamma floor ceil round trunc rint nearbyint
lrint lround fmod remainder fmax fmin fma hypot ldexp frexp scalbn modf copysign rsqrt rcp
min max swap clamp isnan isinf isfinite signbit sigmoid
malloc calloc realloc free aligned_alloc posix_memalign alloca
memcpy memmove memset memcmp strlen strcmp printf fprintf puts abort exit
vector array pair tuple string move forward fill copy sort accumulate numeric_limits thread
omp_get_thread_num omp_get_num_threads omp_get_max_threads omp_set_num_threads omp_get_wtime
omp_in_parallel omp omp_get_num_procs atomicAdd atomicMax atomicMin atomicExch atomicCAS
pragma include include_next define undef ifdef ifndef elif endif error warning line once
"""
_PREFIXES = (
    r"_mm\d*_|__|_[A-Z]|omp_|cuda|cublas|tl\b|CU|wmma|v(?:ld|st)\d|svld|svst"
    r"|_Float|FLT_|DBL_|LDBL_|INT_|ULL"
)

KEYWORDS = frozenset(_KEYWORDS.split())
RESERVED = KEYWORDS | frozenset((_TYPES + _MACROS).split())
_FUNCTION_NAMES = frozenset(_FUNCTIONS.split())
KNOWN = RESERVED | _FUNCTION_NAMES | {f"{name}{end}" for name in _FUNCTION_NAMES for end in "fl"}
_KNOWN_PREFIX = re.compile(_PREFIXES)


def is_known(name: str) -> bool:
    """Whether ``name`` has a meaning of its own: a keyword, a type, a function of a library."""
    return name in KNOWN or _KNOWN_PREFIX.match(name) is not None
