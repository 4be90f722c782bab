"""Evidence that memory ran out, from each kind of control group."""

import pytest

from kernelwright.evaluation.memory import oom_kills


@pytest.fixture
def system(tmp_path):
    """Files of a system: the line of /proc/self/cgroup, then path and text of each counter."""

    def make(line, **counters):
        (tmp_path / "proc/self").mkdir(parents=True)
        (tmp_path / "proc/self/cgroup").write_text(line)
        for name, text in counters.items():
            place = tmp_path / name.replace("__", "/").replace("_DOT_", ".")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        return oom_kills(tmp_path / "cgroup", tmp_path / "proc")

    return make


EVENTS = "low 0\nhigh 0\nmax 7\noom 3\noom_kill 2\noom_group_kill 0\n"


def test_the_second_kind_of_groups(system):
    assert system("0::/user/shell\n", cgroup__user__shell__memory_DOT_events=EVENTS) == 2


def test_a_container_sees_its_own_group_as_the_root(system):
    assert system("0::/docker/1234\n", cgroup__memory_DOT_events=EVENTS) == 2


def test_the_first_kind_of_groups(system):
    line = "5:devices:/\n4:cpu,memory:/job\n0::/\n"
    text = "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n"
    assert system(line, cgroup__memory__job__memory_DOT_oom_control=text) == 5


def test_no_group_at_all_is_the_whole_machine(system):
    assert system("0::/\n", proc__vmstat="pgfault 12\noom_kill 4\nnr_free 1\n") == 4


def test_nothing_is_known(system):
    assert system("") == 0


def test_this_machine_answers():
    assert oom_kills() >= 0
