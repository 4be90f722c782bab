"""Headers: what is read, and the line of everything that is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.candidates.header import MAX_BYTES, parse
from kernelwright.errors import HeaderError
from kernelwright.records.candidate import Header

pytestmark = pytest.mark.usefixtures("toy_languages")

FULL = """#include <cmath>
// /// kernelwright
// strategy = "three-pass"
// tune.THREADS = [1, 2]
// tune.BLOCK = "next_pow2(N)"
// tune.LAYOUT = ["row", "column"]
// tune.FAST = [true, false]
// where = ["THREADS <= cores", "N % THREADS == 0"]
// cures = ["bandwidth"]
// needs = ["openblas"]
// flags = ["-funroll-loops"]
// ///
int x;
"""


def header(*lines, sign="//"):
    return "\n".join(
        [f"{sign} /// kernelwright", *(f"{sign} {line}" for line in lines), f"{sign} ///", ""]
    )


def test_everything_is_read():
    assert parse(FULL, "cpp") == Header(
        strategy="three-pass",
        tune={
            "THREADS": (1, 2),
            "BLOCK": "next_pow2(N)",
            "LAYOUT": ("row", "column"),
            "FAST": (True, False),
        },
        where=("THREADS <= cores", "N % THREADS == 0"),
        cures=("bandwidth",),
        needs=("openblas",),
        flags=("-funroll-loops",),
    )


def test_python_comments():
    text = header('strategy = "rows"', "tune.num_warps = [4, 8]", sign="#") + "import triton\n"
    assert parse(text, "toy-py").tune == {"num_warps": (4, 8)}
    assert parse(text, "cpp") == Header()


@pytest.mark.parametrize("text", ["", "int x;", "// strategy = 3\n", "// /// other\n// ///\n"])
def test_a_file_without_a_header_is_fine(text):
    assert parse(text, "cpp") == Header()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("// ", "//\t"),
        lambda text: text.replace("\n//", "\n\t //"),
        lambda text: text.replace("int x;", "int x; // \u2028 \x0b // /// kernelwright"),
    ],
)
def test_line_ends_tabs_and_marks_do_not_matter(change):
    assert parse(change(FULL), "cpp") == parse(FULL, "cpp")


def test_unicode_is_kept_and_a_strategy_is_one_line():
    text = header('strategy = """größer\n// ≥ zwei"""')
    assert parse(text, "cpp").strategy == "größer ≥ zwei"


@pytest.mark.parametrize(
    ("line", "expected", "hint"),
    [
        ('stratgy = "x"', "line 3: unknown key 'stratgy'", "did you mean 'strategy'?"),
        ("strategy = x", "line 3: the header is not TOML", ""),
        ("strategy = 3", "line 3: strategy is one line of text", ""),
        ('strategy = "a\\u001b[2Jb"', "line 3: strategy is one line of text", ""),
        ("tune = 3", "line 3: tune is a table", "tune.NAME"),
        ("tune.A = []", "line 3: tunable 'A' has 0 values", ""),
        ('tune.A = [1, "x"]', "line 3: tunable 'A' mixes types", ""),
        ("tune.A = [1, 0.5]", "line 3: tunable 'A' mixes types", "0.0"),
        ("tune.A = [1, true]", "line 3: tunable 'A' mixes types", ""),
        ("tune.A = [nan]", "line 3: tunable 'A' cannot take the value nan", ""),
        ("tune.A = [[1]]", "line 3: tunable 'A' cannot take the value [1]", ""),
        ("tune.A = [9223372036854775808]", "line 3: tunable 'A' cannot take", ""),
        ('tune.A = ["\\u0000"]', "line 3: tunable 'A' cannot take", ""),
        ("tune.A = 3", "line 3: tunable 'A' is a list of values or one formula", ""),
        ('tune.A = "import os"', "line 3: not an expression", ""),
        ("tune.A = \"N > 5 and __import__('os')\"", "line 3: not an expression", ""),
        ("tune.int = [1]", "line 3: tunable 'int' is a reserved word", ""),
        ("tune.lambda = [1]", "line 3: tunable 'lambda' is a reserved word", ""),
        ("tune.NDEBUG = [1]", "line 3: tunable 'NDEBUG' is a reserved word", ""),
        ("tune.int64_t = [1]", "line 3: tunable 'int64_t' is a reserved word", ""),
        ("tune._FORTIFY_SOURCE = [1]", "line 3: tunable '_FORTIFY_SOURCE' is not a name", ""),
        ('tune."A B" = [1]', "line 3: tunable 'A B' is not a name", ""),
        ('tune."A(x)" = [1]', "line 3: tunable 'A(x)' is not a name", ""),
        ('tune."é" = [1]', "line 3: tunable 'é' is not a name", ""),
        ('where = "A > 1"', "line 3: where is a list of texts", ""),
        ('where = ["A >"]', "line 3: not an expression", ""),
        ("where = [\"open('x')\"]", "line 3: not an expression", ""),
        ('where = ["A.b > 1"]', "line 3: not an expression", ""),
        ("flags = [1]", "line 3: flags is a list of texts", ""),
    ],
)
def test_what_is_wrong_is_named_with_its_line(line, expected, hint):
    with pytest.raises(HeaderError) as caught:
        parse(header('cures = ["x"]', line), "cpp")
    assert caught.value.message.startswith(expected)
    assert hint in caught.value.hint


def test_a_division_that_is_unlucky_for_one_value_is_an_expression():
    assert parse(header('where = ["N // (M - 1) > 0"]'), "cpp").where == ("N // (M - 1) > 0",)


def test_an_unclosed_header_is_named():
    with pytest.raises(HeaderError, match=r"^line 2: the header is not closed"):
        parse('int x;\n// /// kernelwright\n// strategy = "x"\nint y;\n', "cpp")
    with pytest.raises(HeaderError, match=r"^line 1: the header is not closed"):
        parse("// /// kernelwright", "cpp")


def test_a_line_of_a_header_that_is_no_comment_is_named():
    with pytest.raises(HeaderError, match=r"^line 4: a line of the header is not a comment") as one:
        parse('int x;\n// /// kernelwright\n// strategy = "x"\ntune.A = [1]\n// ///\n', "cpp")
    assert one.value.hint.endswith("the header opens on line 2")


@pytest.mark.parametrize("word", ["kernelwrite", "Kernelwright", "kernelwrigth", "kernel_wright"])
def test_a_marker_that_is_nearly_ours_is_no_comment(word):
    with pytest.raises(HeaderError, match=f"^line 2: '{word}' opens no header") as caught:
        parse(f"int x;\n// /// {word}\n// tune.A = [1, 2]\n// ///\n", "cpp")
    assert caught.value.hint == "did you mean /// kernelwright?"


def test_a_text_without_quotes_is_told_so():
    with pytest.raises(
        HeaderError, match="line 2: the header is not TOML: invalid value"
    ) as caught:
        parse(header("strategy = fast"), "cpp")
    assert caught.value.hint.startswith("are quotes missing?")


@pytest.mark.parametrize("between", ["", "int x;\n"])
def test_two_headers_are_refused(between):
    one = header('strategy = "x"')
    with pytest.raises(HeaderError, match=r"a second header") as caught:
        parse(one + between + one, "cpp")
    assert caught.value.hint == "the first is on line 1"
    with pytest.raises(HeaderError, match=r"^line 2: a second header"):
        parse("// /// kernelwright\n// /// kernelwright\n// ///\n", "cpp")


def test_size_is_bounded():
    with pytest.raises(HeaderError, match=r"^line 1: a header of more than 64 KiB"):
        parse(header(*['strategy = "x"'], *["# " + "x" * 100] * (MAX_BYTES // 100)), "cpp")
    with pytest.raises(HeaderError, match="more than 32 tunables"):
        parse(header(*[f"tune.A{i} = [1]" for i in range(33)]), "cpp")


def test_deep_nesting_is_refused_not_a_crash():
    with pytest.raises(HeaderError):
        parse(header("strategy = " + "[" * 20000), "cpp")


def test_repeated_values_count_once():
    assert parse(header("tune.A = [2, 1, 2]"), "cpp").tune == {"A": (2, 1)}


_LINE = st.one_of(
    st.text(max_size=60),
    st.sampled_from([
        "// /// kernelwright", "// ///", 'strategy = "x"', "tune.A = [1, 2]", 'where = ["A > 1"]',
        '// tune.B = "cdiv(N, 2)"', "// [tune]", "// C = [0.5]", "\ufeff", "//", "// \ud800",
    ]),
)  # fmt: skip


@given(st.lists(_LINE, max_size=12), st.sampled_from(["cpp", "toy-py"]))
def test_any_text_gives_a_header_or_a_header_error(lines, language):
    try:
        found = parse("\n".join(lines), language)
    except HeaderError as problem:
        found = problem.message.startswith("line ")
    assert isinstance(found, Header) or found


_VALUES = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5, unique=True),
    st.lists(st.booleans(), min_size=1, max_size=2, unique=True),
    st.lists(
        st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20),
        min_size=1,
        unique=True,
    ),
)


@given(st.dictionaries(st.from_regex(r"\A[A-Z]{3}[A-Z0-9_]{0,5}_1\Z"), _VALUES, max_size=5))
def test_what_is_written_is_read_back(tune):
    def toml(value):
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, int):
            return str(value)
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'

    lines = [f"tune.{name} = [{', '.join(map(toml, values))}]" for name, values in tune.items()]
    assert parse(header(*lines), "cpp").tune == {
        name: tuple(values) for name, values in tune.items()
    }
