"""Pages that are made from code or from raw data are what these say; links lead somewhere."""

import re
from pathlib import Path

import pytest

from scripts import readme_tables, reference

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]+)(?:#[^)]*)?\)")


def test_the_reference_is_what_the_code_says():
    assert reference.main(["--check"]) == 0, "scripts/reference.py writes it"


def test_tables_and_figures_are_what_the_data_says():
    assert readme_tables.main(["--check"]) == 0, "scripts/readme_tables.py writes them"


def test_every_region_is_shown_somewhere():
    shown = {
        found["name"]
        for page in readme_tables.pages()
        for found in readme_tables.REGION.finditer(page.read_text())
    }
    assert shown == set(readme_tables.KNOWN)


@pytest.mark.parametrize(
    "page",
    [*ROOT.glob("*.md"), ROOT / "llms.txt", *sorted((ROOT / "docs").rglob("*.md"))],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    missing = [link for link in LINK.findall(text) if not (page.parent / link).exists()]
    assert missing == []


def test_a_stale_region_is_rewritten():
    page = ROOT / "docs" / "log.md"
    text = page.read_text()
    spoilt = text.replace("| MiB written before |", "| somebody's own number |")
    assert spoilt != text
    assert readme_tables.rewritten(spoilt, page) == text
