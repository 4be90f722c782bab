"""What is read in the words of the assembler."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.languages import kept, ptxas
from kernelwright.records.evaluation import KernelFacts

ROWS = "_Z4rowsILi2EEvPK13__nv_bfloat16PS0_l"
LOG = f"""ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '{ROWS}' for 'sm_90a'
ptxas info    : Function properties for {ROWS}
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 11 registers, used 1 barriers, 256 bytes smem
ptxas info    : Compile time = 20.206 ms
ptxas info    : Compiling entry function '_Z5spillPKfPf' for 'sm_90a'
ptxas info    : Function properties for _Z5spillPKfPf
    160 bytes stack frame, 152 bytes spill stores, 148 bytes spill loads
ptxas info    : Function properties for _Z6calledf
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 160 bytes cumulative stack size, 16+8 bytes smem
"""


def test_each_kernel_has_its_sizes():
    assert ptxas.kernels(LOG) == (
        KernelFacts(name=ROWS, registers=11, shared_bytes=256),
        KernelFacts(
            name="_Z5spillPKfPf", registers=32, shared_bytes=24, stack_bytes=160,
            spill_store_bytes=152, spill_load_bytes=148,
        ),
    )  # fmt: skip
    assert ptxas.kernels("kernel.cu(1): error: no\n") == ()


def test_of_several_kernels_the_largest_of_each_size_is_told():
    sizes = kept.Facts(LOG, kernels=ptxas.kernels(LOG)).sizes()
    assert (sizes["registers"], sizes["spill_bytes"], sizes["shared_bytes"]) == (32, 300, 256)
    assert kept.Facts("").sizes()["registers"] == 0


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        (ROWS, "rows<2>"),
        ("_Z3bigPf", "big"),
        ("_Z4rowsILi128ELb1ELin3EEvPf", "rows<128, true, -3>"),
        ("_Z4rowsIfLi4EEvPT_", "rows<float, 4>"),
        ("_Z4rowsI13__nv_bfloat16Li4EEvPT_", "rows<__nv_bfloat16, 4>"),
        ("_Z4rowsIN3abc3defELi4EEvPT_", "rows<…>"),
        ("_ZN4deep4rowsEPf", "deep::rows"),
        ("_ZN4deep4rowsILi4EEEvPf", "deep::rows<4>"),
        ("_ZN12_GLOBAL__N_14rowsEPf", "rows"),
        ("_ZN39_INTERNAL_12345678_9_kernel_cu_123456784rowsEPf", "rows"),
        ("rows", "rows"),
        ("_Z", "_Z"),
        ("_Z9999x", "x"),
        ("_ZTV4rows", "_ZTV4rows"),
    ],
)
def test_a_name_is_readable(symbol, name):
    assert ptxas.readable(symbol) == name


@given(st.text(alphabet="_ZNILiE0123456789abT…v ", max_size=40))
def test_any_name_gives_one(text):
    assert ptxas.readable(text) or not text
    assert ptxas.readable(f"_Z{text}")


@given(st.lists(st.sampled_from(LOG.splitlines()), max_size=20))
def test_lines_in_any_order_are_read(lines):
    for one in ptxas.kernels("\n".join(lines)):
        assert one.name
        assert one.registers in (0, 11, 32)
