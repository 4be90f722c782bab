"""What several folders of unit tests need."""

from __future__ import annotations

import pytest

from tests import toys


@pytest.fixture(scope="module")
def toy_languages(tmp_path_factory):
    """Installs the languages of :mod:`tests.toys` for the tests of one file."""
    with toys.installed(tmp_path_factory.mktemp("toys")):
        yield
