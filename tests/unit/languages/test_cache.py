"""The cache of builds: whole entries, damage, several processes, size."""

import errno
import hashlib
import itertools
import json
import logging
import multiprocessing
import os
from pathlib import Path

import pytest

from kernelwright.errors import PrerequisiteError
from kernelwright.languages import cache as caches
from kernelwright.languages.cache import Cache, cache_folder, key

FACTS = {"symbols": ["f"], "log": ""}


@pytest.fixture(autouse=True)
def _as_if_just_started(monkeypatch):
    """A warning that is given once a process, and every so many puts, are given in each test."""
    caches._tell.cache_clear()
    monkeypatch.setattr(caches, "_puts", itertools.count(1))
    monkeypatch.setattr(caches, "_spares", [])


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
    assert len(list((tmp_path / "builds").glob("entry-*"))) == 3
    assert not list((tmp_path / "builds").glob("link-*"))


@pytest.mark.parametrize("damaged", [False, True])
def test_two_builders_of_the_same_thing_both_have_a_whole_entry(tmp_path, damaged):
    """At the same moment, a hundred times, with other bytes each, over nothing or over damage."""
    context = multiprocessing.get_context("spawn")
    together, seen = context.Barrier(2), context.Queue()
    both = [
        context.Process(target=_race, args=(tmp_path, who, damaged, together, seen))
        for who in ("one", "two")
    ]
    for one in both:
        one.start()
    assert [seen.get(timeout=120) for _ in both] == [[], []]
    for one in both:
        one.join()
    assert len(list((tmp_path / "builds").glob("??/*"))) == 100
    assert not list((tmp_path / "builds").glob("link-*"))


def test_a_builder_that_was_overtaken_uses_the_entry_that_is_there(tmp_path, monkeypatch):
    cache, name = Cache(tmp_path), key("source")
    real = os.symlink

    def overtaken(*arguments, **options):
        monkeypatch.setattr(os, "symlink", real)
        Cache(tmp_path).put(name, b"theirs", FACTS)
        return real(*arguments, **options)

    monkeypatch.setattr(os, "symlink", overtaken)
    assert cache.put(name, b"ours", FACTS).library.read_bytes() == b"theirs"
    assert len(list((tmp_path / "builds").glob("entry-*"))) == 1


def test_an_entry_that_cannot_be_read_now_is_not_thrown_away(tmp_path, monkeypatch):
    cache, name = Cache(tmp_path), key("source")
    put = cache.put(name, b"library", FACTS)
    real = Path.read_bytes

    def too_many(self):
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", too_many)
        assert cache.get(name) is None
    assert real(put.library) == b"library"
    assert cache.get(name) == put


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
def test_what_does_not_fit_is_kept_for_this_process(tmp_path, monkeypatch, code, caplog):
    cache, name = Cache(tmp_path), key("source")
    _fill(monkeypatch, tmp_path, code)
    with caplog.at_level(logging.WARNING):
        put = cache.put(name, b"library", FACTS)
    assert "for this process only" in caplog.text
    assert not put.library.is_relative_to(tmp_path)
    assert Cache(tmp_path).get(name) == put
    assert not list((tmp_path / "builds").glob("entry-*"))
    monkeypatch.undo()
    assert Cache(tmp_path).put(key("other"), b"x", FACTS).library.is_relative_to(tmp_path)


def test_no_room_anywhere_is_said(tmp_path, monkeypatch):
    cache = Cache(tmp_path)
    _fill(monkeypatch, Path("/"), errno.ENOSPC)
    with pytest.raises(PrerequisiteError, match="no space is left") as caught:
        cache.put(key("source"), b"library", FACTS)
    assert "KERNELWRIGHT_CACHE" in caught.value.hint


def test_old_entries_go_whoever_puts_the_new_ones(tmp_path, monkeypatch):
    pruned = []
    monkeypatch.setattr(Cache, "prune", lambda self: pruned.append(self.folder))
    for number in range(64):
        Cache(tmp_path).put(key(number), b"x", FACTS)
    assert pruned == [tmp_path / "builds"]


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


def test_the_folder_follows_the_setting(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path / "here"))
    assert cache_folder() == tmp_path / "here"


def _fill(monkeypatch, folder, code):
    """Nothing can be written below ``folder`` any more."""
    real = Path.write_bytes

    def full(self, data):
        if self.is_relative_to(folder):
            raise OSError(code, os.strerror(code), str(self))
        return real(self, data)

    monkeypatch.setattr(Path, "write_bytes", full)


def _race(folder, who, damaged, together, seen):
    cache, problems = Cache(folder), []
    try:
        for turn in range(100):
            name = key(turn)
            if damaged and who == "one":
                _overwrite(cache.put(name, b"before", FACTS).library, b"broken")
            together.wait(60)
            mine = cache.put(name, who.encode() * 20_000, FACTS)
            together.wait(60)
            problems += [f"{turn}: not whole" for one in (mine, cache.get(name)) if not _whole(one)]
    except Exception as problem:  # noqa: BLE001 - the test reports it
        problems.append(f"{type(problem).__name__}: {problem}")
        together.abort()
    seen.put(problems)


def _whole(entry):
    data = entry.library.read_bytes() if entry else b""
    return bool(entry) and entry.facts["sha256"] == hashlib.sha256(data).hexdigest()


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
