"""The sandbox, attacked from inside: what it denies, what it lets work, how it ends.

Whether everything in a jail is dead is told by a pipe that all its processes inherit: it ends
when the last of them does.
"""

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from kernelwright import sandbox
from kernelwright.errors import JudgeError, PrerequisiteError
from kernelwright.sandbox import Ends, Limits

ENTER = f"""
import ctypes, errno, json, mmap, os, socket, sys, threading, time
sys.path.insert(0, {os.fspath(sandbox.JAIL)!r})
import confine, filters, layers
PATCH
report = confine.apply(json.loads(sys.argv[-1]))
def name(action):
    try:
        action()
    except OSError as problem:
        return errno.errorcode[problem.errno]
    return "allowed"
"""
HOME = tempfile.gettempdir()
NO_NAMESPACES = """
def refuse(*_):
    raise PermissionError(errno.EPERM, "not here")
layers.unshare = refuse
"""
NO_PIDFD = """
def unknown(*_):
    raise OSError(errno.ENOSYS, "unknown")
os.pidfd_open = unknown
"""
NO_LANDLOCK = "\nlayers.landlock = lambda *_: layers.checked(-1, 'landlock')\n"


@cache
def granted():
    return frozenset(sandbox.probe()["active"])


def needs(*layers):
    missing = sorted(set(layers) - granted())
    if missing:
        pytest.skip(f"this machine does not grant {', '.join(missing)}")


@pytest.fixture
def start(tmp_path):
    """Starts a script in a jail; ends it after the test."""
    started = []

    def start(body, patch="", home=HOME, **options):
        script = tmp_path / f"script{len(started)}.py"
        script.write_text(ENTER.replace("PATCH", patch) + textwrap.dedent(body))
        folder = Path(tempfile.mkdtemp(prefix="kernelwright-test-", dir=home))
        started.append((sandbox.spawn(script, folder=folder, **options), folder))
        return started[-1][0]

    yield start
    for jailed, folder in started:
        jailed.kill()
        shutil.rmtree(folder)


def output(jailed):
    assert jailed.wait(60) == 0, jailed.tail()
    return jailed.stdout.decode().split("\n")[:-1]


@contextmanager
def life():
    """A pipe whose end tells that no process holds it any more."""
    reading, writing = os.pipe()

    def ended(seconds=20.0):
        return bool(select.select([reading], [], [], seconds)[0])

    yield writing, ended
    os.close(reading)


def until(jailed, text):
    deadline = time.monotonic() + 30
    while text not in jailed.stdout:
        assert time.monotonic() < deadline, jailed.tail()
        assert jailed.poll() is None, jailed.tail()
        time.sleep(0.01)


# --- what it reports ---------------------------------------------------------------------------


def test_a_layer_is_either_active_or_unavailable_with_a_reason():
    found = sandbox.probe()
    assert "limits" in found["active"]
    assert "no_new_privileges" in found["active"]
    assert not set(found["active"]) & set(found["unavailable"])
    assert all(found["unavailable"].values())
    wanted = {"network", "pids", "mounts", "landlock", "system_calls", "capabilities"}
    assert wanted <= set(found["active"]) | set(found["unavailable"])


def test_the_parent_hears_the_same(start):
    heard = start("print(sorted(report['active']))")
    assert str(sorted(heard.confinement().active)) == output(heard)[0]


def test_off_sets_limits_only(start):
    jailed = start("print(os.getppid())", mode="off")
    assert jailed.confinement().active == ("limits",)
    assert output(jailed) == [str(os.getpid())]


def test_require_fails_where_layers_are_missing_and_names_them(start):
    jailed = start("print('ran')", patch=NO_NAMESPACES, mode="require")
    with pytest.raises(PrerequisiteError, match=r"die with the worker .*pids: not here") as caught:
        jailed.confinement()
    assert "auto" in caught.value.hint
    assert jailed.wait(10) == 77
    assert jailed.stdout == b""


def test_require_works_where_it_can(start):
    needs("network", "pids", "mounts", "landlock", "system_calls")
    jailed = start("time.sleep(1000)", mode="require")
    assert {"pids", "network"} <= set(jailed.confinement().active)
    assert jailed.poll() is None


def test_a_process_that_fails_before_it_is_confined_is_our_fault(start):
    jailed = start("", patch="raise SystemExit('broken')")
    with pytest.raises(JudgeError, match="before it was confined") as caught:
        jailed.confinement()
    assert "broken" in caught.value.hint


def test_a_process_with_threads_is_refused(start):
    jailed = start("", patch="threading.Thread(target=time.sleep, args=(9,), daemon=True).start()")
    with pytest.raises(JudgeError) as caught:
        jailed.confinement()
    assert "several threads" in caught.value.hint


# --- what it denies ----------------------------------------------------------------------------

FILES = pytest.mark.parametrize(
    "patch", ["", NO_NAMESPACES, NO_LANDLOCK], ids=["all", "landlock", "mounts"]
)
WRITE = """
    for path in ({outside!r}, "/usr/x", "/etc/x", "x", os.getcwd() + "/y"):
        print(name(lambda: open(path, "w")))
"""


@FILES
def test_only_its_own_folder_can_be_written(start, tmp_path, patch):
    needs("landlock", "mounts")
    (tmp_path / "free").mkdir()
    (tmp_path / "free").chmod(0o777)
    jailed = start(WRITE.format(outside=f"{tmp_path}/free/x"), patch=patch)
    outside = output(jailed)
    assert outside[3:] == ["allowed", "allowed"]
    assert set(outside[:3]) <= {"EACCES", "EROFS", "ENOENT"}


@FILES
def test_files_of_others_cannot_be_read(start, tmp_path, patch):
    needs("landlock", "mounts")
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0o644)
    body = f"""
        for path in ({os.fspath(secret)!r}, "/etc/passwd", {__file__!r}):
            print(name(lambda: open(path).read()))
        print(name(lambda: os.listdir("/usr/lib")))
    """
    found = output(start(body, patch=patch))
    assert set(found[:3]) <= {"EACCES", "ENOENT"}
    assert found[3] == "allowed"


def test_more_paths_can_be_opened_up(start, tmp_path):
    for which in ("seen", "shared"):
        (tmp_path / which).mkdir()
        (tmp_path / which / "a").write_text("text")
        (tmp_path / which / "a").chmod(0o666)
        (tmp_path / which).chmod(0o777)
    body = f"""
        for folder in ({str(tmp_path / "seen")!r}, {str(tmp_path / "shared")!r}):
            print(name(lambda: open(folder + "/a").read()), name(lambda: open(folder + "/a", "w")))
    """
    jailed = start(body, readable=[tmp_path / "seen"], writable=[tmp_path / "shared"])
    needs("mounts")
    first, second = output(jailed)
    assert first in ("allowed EACCES", "allowed EROFS")
    assert second == "allowed allowed"


@pytest.mark.parametrize("patch", ["", NO_NAMESPACES], ids=["all", "filter"])
def test_there_is_no_network(start, patch):
    needs("network", "system_calls")
    body = """
        for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):
            print(name(lambda: socket.socket(family, socket.SOCK_DGRAM)))
    """
    assert set(output(start(body, patch=patch))) == {"EACCES"}


def test_the_namespace_alone_has_no_route(start):
    needs("network")
    body = """
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            print(name(lambda: sock.connect(("192.0.2.1", 9))))
    """
    assert output(start(body, patch="\nfilters.system_calls = lambda processes=True: None\n")) == [
        "ENETUNREACH"
    ]


def test_new_namespaces_and_tracing_are_denied(start):
    needs("system_calls")
    body = """
        libc = ctypes.CDLL(None, use_errno=True)
        for call in (lambda: libc.unshare(0x10000000), lambda: libc.ptrace(0, 0, 0, 0)):
            print(call(), errno.errorcode[ctypes.get_errno()])
        clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
        print(libc.syscall(clone, 0x10000000 | 17, 0, 0, 0, 0), errno.errorcode[ctypes.get_errno()])
    """
    assert output(start(body)) == ["-1 EACCES"] * 3


def test_the_environment_is_scrubbed(start, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/tmp")
    monkeypatch.setenv("LOGNAME", "the caller")
    jailed = start(
        "print(sorted(os.environ)); print(os.environ['HOME'] == os.getcwd());"
        "print(os.environ['LOGNAME'])",
        env={"OMP_NUM_THREADS": "2"},
    )
    names = ["HOME", "LC_ALL", "LOGNAME", "OMP_NUM_THREADS", "PATH", "TMPDIR"]
    assert output(jailed) == [str(names), "True", "kernelwright"]


def test_it_inherits_what_it_is_given_and_nothing_else(start):
    with life() as (given, _), life() as (secret, _):
        os.set_inheritable(secret, True)
        jailed = start(
            "print([fd for fd in range(256) if name(lambda: os.fstat(fd)) == 'allowed'])",
            fds=(given,),
        )
        assert output(jailed) == [f"[0, 1, 2, {given}]"]
        os.close(given)
        os.close(secret)


def test_root_becomes_somebody_else(start):
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    needs("user")
    body = """
        ids = {*os.getresuid(), *os.getresgid(), *os.getgroups()}
        print(ids == {os.getuid()}, 0 in ids)
        print(name(lambda: os.setuid(0)), name(lambda: os.setgid(0)))
    """
    assert output(start(body)) == ["True False", "EPERM EPERM"]


def test_jails_that_run_at_once_are_different_users(start):
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    needs("user")
    assert output(start("print(os.getuid())")) != output(start("print(os.getuid())"))


def test_root_stays_where_another_user_could_not_reach_the_folder(start, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    (tmp_path / "closed").mkdir(mode=0o700)
    jailed = start("print(os.getuid())", patch=NO_NAMESPACES, home=tmp_path / "closed")
    assert output(jailed) == ["0"]
    assert any("closed to other users" in why for why in jailed.confinement().unavailable)


def test_other_processes_are_not_seen_or_reached(start):
    needs("pids", "mounts")
    body = f"""
        print(sorted(filter(str.isdigit, os.listdir("/proc"))))
        print(name(lambda: os.kill({os.getpid()}, 0)), os.getpid())
    """
    assert output(start(body)) == ["['1', '2']", "ESRCH 2"]


# --- limits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("patch", ["", NO_NAMESPACES], ids=["all", "no namespaces"])
def test_a_fork_bomb_is_bounded(start, patch):
    if patch and os.geteuid() != 0:
        pytest.skip("without a namespace the processes of this user count too")
    body = """
        count = 0
        while count < 5000:
            try:
                if os.fork() == 0:
                    time.sleep(1000)
            except BlockingIOError:
                break
            count += 1
        print(count, flush=True)
        time.sleep(1000)
    """
    with life() as (held, ended):
        jailed = start(body, patch=patch, fds=(held,), limits=Limits(processes=40))
        os.close(held)
        until(jailed, b"\n")
        assert 10 < int(jailed.stdout) <= 40
        assert not ended(0)
        jailed.kill()
        assert ended()


def test_memory_files_and_file_size_are_limited(start):
    body = """
        kept = []
        print(name(lambda: mmap.mmap(-1, 1 << 30)))
        print(name(lambda: kept.extend(open("/dev/null") for _ in range(64))))
        kept.clear()
        print(name(lambda: open("big", "wb").write(bytes(2 << 20))))
    """
    limits = Limits(memory_bytes=512 << 20, files=32, file_bytes=1 << 20)
    assert output(start(body, limits=limits)) == ["ENOMEM", "EMFILE", "EFBIG"]


def test_processor_time_is_limited(start):
    jailed = start("while True: pass", limits=Limits(cpu_s=1))
    assert jailed.wait(60) in (-signal.SIGXCPU, -signal.SIGKILL)


def test_a_gigabyte_of_output_is_capped(start):
    body = """
        os.write(1, b"first")
        for _ in range(1024):
            os.write(1, bytes(1 << 20))
        os.write(1, b"last")
    """
    jailed = start(body, output_cap=10_000)
    assert jailed.wait(120) == 0
    assert len(jailed.stdout) < 10_100
    assert jailed.stdout.startswith(b"first\0")
    assert jailed.stdout.endswith(b"\0last")
    assert f"{(1 << 30) + 9 - 10_000} bytes left out".encode() in jailed.stdout


def test_short_output_is_whole():
    ends = Ends(10)
    for part in (b"abc", b"", b"defghij"):
        ends.add(part)
    assert ends.kept() == b"abcdefghij"
    ends.add(b"k")
    assert ends.kept() == b"abcde\n[... 1 bytes left out ...]\nghijk"


# --- how it ends -------------------------------------------------------------------------------

STRAY = """
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            print("started", flush=True)
            time.sleep(1000)
        os._exit(0)
    os.wait()
"""


@pytest.mark.parametrize(
    "patch", ["", NO_NAMESPACES, NO_PIDFD], ids=["all", "no namespaces", "no pidfd"]
)
@pytest.mark.parametrize("end", ["killed", "left"])
def test_a_grandchild_in_its_own_session_dies_too(start, patch, end):
    wait = "time.sleep(1000)" if end == "killed" else "time.sleep(0.2)"
    with life() as (held, ended):
        jailed = start(STRAY + f"    {wait}\n", patch=patch, fds=(held,))
        os.close(held)
        until(jailed, b"started")
        if end == "killed":
            assert not ended(0)
            jailed.kill()
        else:
            assert jailed.wait(30) == 0
        assert ended()


def test_it_dies_when_its_watcher_does(start):
    needs("pids")
    with life() as (held, ended):
        jailed = start(STRAY + "    time.sleep(1000)\n", fds=(held,))
        os.close(held)
        until(jailed, b"started")
        os.kill(jailed.pid, signal.SIGKILL)
        assert ended()


def test_it_dies_when_we_do(tmp_path):
    script = tmp_path / "script.py"
    body = textwrap.dedent(STRAY + "    time.sleep(1000)\n")
    script.write_text(ENTER.replace("PATCH", "") + body)
    program = f"""
import os, pathlib, sys, time
from kernelwright import sandbox
jailed = sandbox.spawn({str(script)!r}, folder=pathlib.Path(sys.argv[1]), fds=(int(sys.argv[2]),))
while b"started" not in jailed.stdout:
    time.sleep(0.01)
os._exit(0)
"""
    (tmp_path / "own").mkdir()
    with life() as (held, ended):
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / "own"), str(held)],
            pass_fds=(held,),
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            check=True,
            timeout=60,
        )
        os.close(held)
        assert ended()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("os._exit(5)", 5),
        ("os.abort()", -signal.SIGABRT),
        ("import ctypes; ctypes.string_at(0)", -signal.SIGSEGV),
        ("os.kill(os.getpid(), 9)", -signal.SIGKILL),
        ("os.kill(0, 9)", -signal.SIGKILL),
        ("os.kill(os.getpid(), 15)", -signal.SIGTERM),
    ],
)
def test_its_end_is_told_as_it_was(start, body, code):
    jailed = start(body)
    assert jailed.wait(30) == code
    assert jailed.poll() == code
    jailed.kill()
    assert jailed.poll() == code


def test_killing_at_any_moment_leaves_nothing(start):
    for delay in (0, 0.01, 0.02, 0.03, 0.05, 0.1):
        with life() as (held, ended):
            jailed = start("time.sleep(1000)", fds=(held,))
            os.close(held)
            time.sleep(delay)
            jailed.kill()
            jailed.kill()
            assert jailed.poll() is not None
            assert ended()


def test_waiting_has_a_limit(start):
    jailed = start("time.sleep(1000)")
    assert jailed.wait(0.05) is None
    assert jailed.poll() is None


def test_waiting_does_not_need_a_recent_kernel(start, monkeypatch):
    def unknown(*_):
        raise OSError(38, "unknown")

    monkeypatch.setattr(os, "pidfd_open", unknown)
    jailed = start("time.sleep(1000)")
    assert jailed.wait(0.05) is None
    jailed.kill()
    assert jailed.wait() == -signal.SIGKILL
    assert start("os._exit(3)").wait(30) == 3


def test_no_descriptor_is_left_behind(start):
    before = sorted(Path("/proc/self/fd").iterdir())
    for body in ("print('x')", "time.sleep(1000)", "os.close(1); os.close(2); time.sleep(1000)"):
        with start(body) as jailed:
            jailed.wait(0.2)
        with start(body):
            pass
    with pytest.raises(PrerequisiteError, match="cannot start a process"):
        start("", env={"A": "\0"})
    assert sorted(Path("/proc/self/fd").iterdir()) == before
