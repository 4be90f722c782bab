"""Third parties' parts that do not load: named where asked for, left out where not."""

import json
import sys

import pytest

from kernelwright import plugins
from kernelwright.cli.main import main

KINDS = ("languages", "formats", "proposers", "parents", "executors", "exporters")
BODY = {
    "import": "raise RuntimeError('boom at import')",
    "init": "def Part(*a, **k):\n    raise RuntimeError('boom in init')",
    "module": "import no_such_package_anywhere",
}


@pytest.fixture(params=BODY)
def broken(request, folder, monkeypatch):
    """A package whose every part fails in one way."""
    about = folder / "boom-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: boom\nVersion: 1.0\n")
    groups = [f"[kernelwright.{kind}]\nboom = boomparts:Part" for kind in KINDS]
    (about / "entry_points.txt").write_text("\n".join(groups) + "\n")
    (folder / "boomparts.py").write_text(BODY[request.param] + "\n")
    monkeypatch.syspath_prepend(str(folder))
    plugins._foreign.cache_clear()
    plugins._warn.cache_clear()
    yield
    sys.modules.pop("boomparts", None)
    plugins._foreign.cache_clear()
    plugins._warn.cache_clear()


def test_who_does_not_ask_for_it_is_not_stopped(broken, capsys):
    assert main(["optimize", "twice", "--dry-run", "--start", "good.cpp", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["task"] == "twice"
    assert main(["evaluate", "twice", "good.cpp", "--rung", "draft"]) == 0


@pytest.mark.parametrize("setting", ["PROPOSER", "PARENTS", "EXECUTOR"])
def test_who_asks_for_it_is_told_whose_it_is(broken, capsys, monkeypatch, setting):
    monkeypatch.setenv(f"KERNELWRIGHT_{setting}", "boom")
    assert main(["optimize", "twice", "--start", "good.cpp", "--evaluations", "4", "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert "of the package 'boom' fails" in told["error"]
    assert "pip uninstall boom" in told["hint"]


def test_doctor_lists_it(broken, capsys):
    main(["doctor", "--json"])
    told = capsys.readouterr().out
    assert "'boom' (kernelwright.formats) of the package 'boom' fails" in told
