"""The cache of builds: whole entries, damage, several processes, size."""

import json
import logging
import multiprocessing
import os
import shutil

import pytest

from kernelwright.languages.cache import Cache, cache_folder, key

FACTS = {"symbols": ["f"], "log": ""}


def test_what_is_put_is_found(tmp_path):
    cache = Cache(tmp_path)
    name = key("source", {"A": 1})
    assert cache.get(name) is None
    put = cache.put(name, b"library", FACTS)
    found = Cache(tmp_path).get(name)
    assert found == put
    assert found.library.read_bytes() == b"library"
    assert found.facts["symbols"] == ["f"]
    assert not found.library.stat().st_mode & 0o222


def test_keys_tell_values_apart():
    assert key("s", {"A": 1}) == key("s", {"A": 1})
    assert len({key("s", {"A": 1}), key("s", {"A": True}), key("s", {"A": "1"}), key("s")}) == 4


@pytest.mark.parametrize(
    "damage",
    [
        lambda place: _overwrite(place / "kernel.so", b"other"),
        lambda place: (place / "kernel.so").unlink(),
        lambda place: (place / "facts.json").unlink(),
        lambda place: _overwrite(place / "facts.json", b"{"),
        lambda place: _overwrite(place / "facts.json", b"[]"),
        lambda place: _overwrite(place / "facts.json", b"\xff"),
    ],
)
def test_a_damaged_entry_is_thrown_away_and_can_be_put_again(tmp_path, damage, caplog):
    cache, name = Cache(tmp_path), key("source")
    damage(cache.put(name, b"library", FACTS).library.parent)
    with caplog.at_level(logging.WARNING):
        assert cache.get(name) is None
    assert "damaged" in caplog.text
    assert cache.put(name, b"library", FACTS).library.read_bytes() == b"library"
    assert cache.get(name) is not None


def test_the_first_of_two_builds_stays(tmp_path):
    cache, name = Cache(tmp_path), key("source")
    first = cache.put(name, b"one", FACTS)
    assert cache.put(name, b"two", FACTS).facts == first.facts
    assert first.library.read_bytes() == b"one"


def test_a_damaged_entry_does_not_stop_a_put(tmp_path):
    cache, name = Cache(tmp_path), key("source")
    _overwrite(cache.put(name, b"one", FACTS).library, b"broken")
    assert cache.put(name, b"two", FACTS).library.read_bytes() == b"two"


def test_several_processes_share_a_cache(tmp_path):
    context = multiprocessing.get_context("spawn")
    with context.Pool(4) as pool:
        seen = pool.map(_put_and_get, [(str(tmp_path), turn % 3) for turn in range(60)])
    assert all(seen)
    assert len(list((tmp_path / "builds").glob("??/*"))) == 3
    assert not list((tmp_path / "builds").glob("new-*"))
    assert not list((tmp_path / "builds").glob("old-*"))


def test_the_longest_unused_entries_go(tmp_path):
    cache = Cache(tmp_path, largest_bytes=3000)
    names = [key(number) for number in range(5)]
    for age, name in enumerate(names):
        place = cache.put(name, bytes(1000), FACTS).library.parent
        os.utime(place, (1e6 + age, 1e6 + age))
    assert cache.get(names[0]) is not None  # used now
    assert cache.prune() == 3
    assert [cache.get(name) is not None for name in names] == [True, False, False, False, True]


def test_young_entries_stay_however_large(tmp_path):
    cache = Cache(tmp_path, largest_bytes=10)
    cache.put(key("source"), bytes(1000), FACTS)
    assert cache.prune() == 0


@pytest.mark.parametrize("kind", ["file", "open"])
def test_an_unusable_folder_gives_way_to_a_private_one(tmp_path, kind, caplog):
    if kind == "file":
        (tmp_path / "home").write_text("")
    else:
        (tmp_path / "home" / "builds").mkdir(parents=True)
        (tmp_path / "home" / "builds").chmod(0o777)
    with caplog.at_level(logging.WARNING):
        cache = Cache(tmp_path / "home")
    assert "builds are not kept" in caplog.text
    assert not cache.folder.is_relative_to(tmp_path / "home")
    assert cache.put(key("source"), b"x", FACTS).library.read_bytes() == b"x"
    shutil.rmtree(cache.folder)


def test_the_folder_follows_the_setting(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path / "here"))
    assert cache_folder() == tmp_path / "here"


def _overwrite(path, data):
    path.chmod(0o644)
    path.write_bytes(data)


def _put_and_get(job):
    from pathlib import Path

    folder, number = job
    cache, name = Cache(Path(folder)), key(number)
    library = json.dumps(number).encode() * 100_000
    cache.put(name, library, FACTS)
    found = cache.get(name)
    return found is not None and found.library.read_bytes() == library
