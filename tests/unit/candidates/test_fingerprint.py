"""Identity: what changes it and what does not."""

import os
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.candidates import text, words
from kernelwright.candidates.fingerprint import exact_id, make_candidate, normalised, tokens
from kernelwright.errors import HeaderError, UsageError

pytestmark = pytest.mark.usefixtures("toy_languages")

PROGRAM = string.Template("""\
#include <cmath>
#include <cstdint>
#define ${m}(${a}) ((${a}) * 2)
namespace {
constexpr int ${k} = 16;
struct ${s} { float ${f}; };
template <int ${t}> static inline float ${g}(const float* ${p}, int64_t ${n}) {
  float ${acc} = 0.5f;
  for (int64_t ${i} = 0; ${i} < ${n}; ${i} += ${t}) ${acc} += expf(${p}[${i}]) $op ${p}[0];
  return ${acc};
}
}
extern "C" int ${e}(const float* ${x}, float* __restrict ${y}, int64_t ${r}, int64_t ${c}) {
  #pragma omp parallel for num_threads(THREADS)
  for (int64_t ${i} = 0; ${i} < ${r}; ++${i}) {
    ${s} ${z}{${g}<${k}>(${x} + ${i} * ${c}, ${c})}; // ${z}
    ${y}[${i}] = ${m}(${z}.${f}) + $num; /* "${z}" */
  }
  return std::isnan(${y}[0]) ? printf("${x} %d\\n", 1'000) : 0;
}
""")
SLOTS = [c for c in PROGRAM.get_identifiers() if c not in ("op", "num", "x")] + ["x"]
PLAIN = {slot: f"name_{slot}" for slot in SLOTS} | {"op": "*", "num": "3"}
POOL = [
    f"{first}{rest}" for first in "abcdefghkmnpqrstuvwxyz" for rest in ("", "1", "_2", "Row", "x")
]
NAMES = st.permutations([name for name in POOL if not words.is_known(name)])
VALUES = {"THREADS": 2}


def render(**change):
    # The name of x also occurs in a text, which is kept: it stays.
    return PROGRAM.substitute({**PLAIN, **change, "x": PLAIN["x"]})


def fingerprint(source, values=VALUES):
    return normalised("cpp", source, values)


@given(NAMES)
def test_renaming_does_not_change_it(names):
    assert fingerprint(render(**dict(zip(SLOTS, names, strict=False)))) == fingerprint(render())


GAP = st.sampled_from([" ", "  ", "\t", " /* note */ ", "/**/", " \\\n "])
WIDE_GAP = st.sampled_from([" ", "\n", "\r\n", "\t\n ", " // note\n", "/* a\n * b */", "\n\n\n"])


@given(st.data())
def test_reformatting_and_comments_do_not_change_it(data):
    text, directive = [], False
    for token in tokens(render()):
        if token.kind == "end":
            text.append("\n")
            directive = False
        elif token.text == "#":
            text.append("\n" + data.draw(GAP.filter(lambda gap: "\\" not in gap)) + "#")
            directive = True
        elif token.text == "define(":
            text.append("(")  # only a macro's parameters must touch its name
        else:
            text.append(data.draw(GAP if directive else WIDE_GAP) + token.text)
    assert fingerprint("".join(text)) == fingerprint(render())


@pytest.mark.parametrize(
    "change",
    [
        {"op": "+"}, {"op": "/"}, {"op": "- -"}, {"num": "4"}, {"num": "3.0"}, {"num": "-3"},
    ],
)  # fmt: skip
def test_an_operator_or_a_number_changes_it(change):
    assert fingerprint(render(**change)) != fingerprint(render())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("expf", "logf"),
        ("isnan", "isinf"),
        ("int64_t name_r", "int32_t name_r"),
        ("float* __restrict", "float*"),
        ('%d\\n"', '%x\\n"'),
        ("#include <cmath>", "#include <math.h>"),
        ("name_m(name_a) ((", "name_m (name_a) (("),
        ("++name_i", "name_i++"),
        ("parallel for", "parallel"),
        ("< name_r", "<= name_r"),
        ("name_x + name_i", "name_x + name_r"),
        ("THREADS", "4"),
    ],
)
def test_what_means_something_changes_it(old, new):
    source = render()
    assert old in source
    assert fingerprint(source.replace(old, new)) != fingerprint(source)


def test_two_names_are_not_one():
    one = "int f(int a, int b) { return a - b; }"
    other = "int f(int a, int b) { return a - a; }"
    swapped = "int f(int b, int a) { return b - a; }"
    assert fingerprint(one, {}) != fingerprint(other, {})
    assert fingerprint(one, {}) == fingerprint(swapped, {})


def test_values_of_tunables_count_and_their_names_do_not():
    source = "int f() { return THREADS * 2; }"
    renamed = source.replace("THREADS", "CORES")
    assert normalised("cpp", source, {"THREADS": 2}) == normalised("cpp", renamed, {"CORES": 2})
    assert normalised("cpp", source, {"THREADS": 2}) != normalised("cpp", source, {"THREADS": 4})
    assert normalised("cpp", source, {"THREADS": 1}) != normalised("cpp", source, {"THREADS": True})


def test_the_header_is_a_comment():
    header = '// /// kernelwright\n// strategy = "{}"\n// ///\n'
    assert fingerprint(header.format("a") + render()) == fingerprint(header.format("b") + render())


def test_raw_texts_and_digit_separators_survive():
    source = 'const char* s = R"x(" // not a comment )" )x"; int a = 1\'000; char c = \'"\';'
    kinds = [token.text for token in tokens(source) if token.kind in ("text", "number")]
    assert kinds == ['R"x(" // not a comment )" )x"', "1'000", "'\"'"]


@given(st.text(max_size=200))
def test_any_text_has_a_fingerprint(source):
    assert len(fingerprint(source, {})) == 16
    assert len(normalised("toy-py", source, {})) == 16


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_the_lexer_loses_nothing_but_gaps(source):
    kept = "".join(token.text for token in tokens(source.replace("/", "").replace("\\", "")))
    plain = source.replace("/", "").replace("\\", "").replace("\ufeff", "")
    squeezed = "".join(plain.split())
    assert "".join(kept.replace("define(", "(").split()) == squeezed or "define" in squeezed


def test_python_forgets_comments_and_layout():
    one = normalised("toy-py", "def f(x):\n    return x + 1  # one\n", {})
    assert one == normalised("toy-py", "def f( x ):\n\n  return (x + 1)\n", {})
    assert one != normalised("toy-py", "def f(x):\n    return x + 2\n", {})


def test_a_candidate_is_complete():
    header = '// /// kernelwright\n// strategy = "s"\n// tune.A = [3, 4]\n// ///\n'
    source = header + "int f() { return A; }\n"
    made = make_candidate(source, "cpp", author="tune", parents=("p",), origin="f.cpp")
    assert made.tunables == {"A": 3}
    assert made.strategy == "s"
    assert (made.author, made.parents, made.origin) == ("tune", ("p",), "f.cpp")
    other = make_candidate(source, "cpp", {"A": 4})
    assert made.id != other.id
    assert made.fingerprint != other.fingerprint
    assert (
        make_candidate(source, "cpp", {"A": 3}).id == made.id == exact_id("cpp", source, {"A": 3})
    )


def test_the_exact_id_does_not_depend_on_the_order_of_values():
    assert exact_id("cpp", "x", {"A": 1, "B": 2}) == exact_id("cpp", "x", {"B": 2, "A": 1})
    assert exact_id("cpp", "x", {"A": 1}) != exact_id("cpp", "x", {"A": True})
    assert exact_id("cpp", "x", {}) != exact_id("cuda", "x", {})


def test_values_must_match_the_header():
    source = "// /// kernelwright\n// tune.A = [3, 4]\n// ///\n"
    with pytest.raises(HeaderError, match="A"):
        make_candidate(source, "cpp", {})
    with pytest.raises(HeaderError, match="B"):
        make_candidate(source, "cpp", {"A": 3, "B": 1})
    with pytest.raises(HeaderError, match="formula"):
        make_candidate(source.replace("[3, 4]", '"N"'), "cpp")
    with pytest.raises(UsageError, match="fortran"):
        make_candidate("", "fortran")


LONG = "//" + "x" * text.MOST_BYTES


def test_a_source_that_is_too_long_is_refused_before_anything_is_done_with_it():
    with pytest.raises(UsageError, match="more than 1 MiB") as problem:
        make_candidate(LONG, "cpp")
    assert problem.value.hint
    assert text.too_long("é" * (text.MOST_BYTES // 2 + 1))
    assert not text.too_long("é" * (text.MOST_BYTES // 2))
    assert not text.too_long("x" * text.MOST_BYTES)


def test_no_more_of_a_file_is_read_than_is_allowed(tmp_path):
    path = tmp_path / "long.cpp"
    with path.open("wb") as file:
        file.truncate(1 << 32)
    with pytest.raises(OSError, match="more than 1 MiB"):
        text.read_text(path)
    os.mkfifo(tmp_path / "pipe.cpp")
    for special in (Path("/dev/zero"), tmp_path / "pipe.cpp"):
        with pytest.raises(OSError, match="not a regular file"):
            text.read_text(special)
    path.write_bytes("ü\r\nx\ry\n".encode())
    assert text.read_text(path) == "ü\nx\ny\n"


@pytest.mark.parametrize("piece", ["*a(", "x(((", "a, ", "<<<", 'R"(', "/* ", "a b ", "#define f("])
def test_a_long_source_does_not_take_long(piece):
    """A check of growth, not of time: what was quadratic took hours at this length."""
    assert make_candidate(piece * (200_000 // len(piece)), "cpp").fingerprint
