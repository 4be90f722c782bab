"""What a person reads at the end of a run, word for word.

To accept a change: ``python -m tests.golden.test_summary`` from the root of the repository.
"""

from pathlib import Path

import pytest

from kernelwright.cli.main import root
from kernelwright.report import summary as report
from kernelwright.ship import file
from tests import samples

HERE = Path(__file__).parent


def help_text():
    command = root()
    context = command.make_context("kernelwright", [], resilient_parsing=True, terminal_width=80)
    return command.get_help(context)


TEXTS = {
    "improved.txt": lambda: report.run_text(samples.summary()),
    "no_improvement.txt": lambda: report.run_text(samples.summary("no_improvement", won=False)),
    "shipped.cpp.txt": lambda: file.export(samples.summary())["twice.cpp"],
    "help.txt": help_text,
}


@pytest.mark.parametrize("name", TEXTS)
def test_text(name):
    assert TEXTS[name]() + "\n" == (HERE / name).read_text()


if __name__ == "__main__":
    for name, text in TEXTS.items():
        (HERE / name).write_text(text() + "\n")
