"""Numbers that make no sense are refused where they are given, whichever verb takes them."""

import json
from typing import get_args

import pytest

from kernelwright.cli.main import main
from kernelwright.errors import UsageError
from kernelwright.verbs import claim
from kernelwright.verbs.table import VERBS

WRONG = {float: ("inf", "-inf", "nan", "1e308", "1e400", "-0", "0"), int: ("-1", "1" + "0" * 30)}


def numeric():
    for verb in VERBS:
        for name, field in verb.load().Request.model_fields.items():
            kinds = {field.annotation, *get_args(field.annotation)}
            for kind, values in WRONG.items():
                if kind in kinds and bool not in kinds:
                    yield from ((verb, name, value) for value in values)


CASES = list(numeric())


def test_there_are_some():
    assert {name for _, name, _ in CASES} >= {"minutes", "target", "evaluations", "seed", "threads"}


@pytest.mark.parametrize(
    ("verb", "name", "value"), CASES, ids=lambda one: getattr(one, "name", str(one))
)
def test_a_flag(verb, name, value, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNELWRIGHT_STORE", str(tmp_path / "runs.db"))
    fields = verb.load().Request.model_fields
    words = {"task": "softmax", "file": "k.cpp", "a": "a.cpp", "b": "b.cpp", "run": "latest"}
    given = [words[one] for one, field in fields.items() if field.is_required()]
    (tmp_path / "k.cpp").write_text("int k;")
    code = main([*verb.name.split(), *given, f"--{name}={value}", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert code == 2
    assert name in said["error"]


@pytest.mark.parametrize("flag", ["--target=1", "--evaluations=0"])
def test_one_that_asks_for_nothing(folder, capsys, flag):
    assert main(["optimize", "twice", "--dry-run", "--start", "good.cpp", flag, "--json"]) == 2
    name = flag.strip("-").partition("=")[0]
    assert name in json.loads(capsys.readouterr().out)["error"]


@pytest.mark.parametrize("value", ["inf", "1e308"])
@pytest.mark.parametrize("place", ["environment", "file"])
def test_a_setting(place, value, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNELWRIGHT_STORE", str(tmp_path / "runs.db"))
    if place == "file":
        (tmp_path / "kernelwright.toml").write_text(f"minutes = {value}\n")
    else:
        monkeypatch.setenv("KERNELWRIGHT_MINUTES", value)
    assert main(["optimize", "softmax", "--dry-run", "--json"]) == 2
    assert "minutes" in json.loads(capsys.readouterr().out)["error"]


@pytest.mark.parametrize("words", ["inf", "nan", "1e308x", "-0", "0x"])
def test_a_claim(words):
    with pytest.raises(UsageError, match="is no speedup"):
        claim.claimed_speedup(words)
