"""What is said of a verifier that no longer answers."""

import socket

import pytest

from kernelwright.errors import JudgeError
from kernelwright.evaluation.channel import Channel, ChannelError
from kernelwright.executors.judge import Judge


class Process:
    """A process that ended in some way."""

    pid = 0

    def __init__(self, code):
        self.code = code

    def poll(self):
        return self.code

    def terminate(self):
        pass

    def wait(self, timeout=None):
        return self.code


def judge_of(code, tmp_path):
    """A judge whose verifier is gone."""
    judge = Judge.__new__(Judge)
    ours, theirs = socket.socketpair()
    theirs.close()
    judge._channel = Channel(ours)
    judge._process = Process(code)
    judge.folder = tmp_path / "scratch"
    judge.cache, judge.threads = tmp_path, 1
    return judge


@pytest.mark.parametrize(
    ("code", "words", "hint"),
    [
        (-9, "it was killed by SIGKILL", "memory"),
        (-11, "it was killed by SIGSEGV", "run it again"),
        (3, "it ended with exit code 3", "run it again"),
        (None, "it had not ended", "run it again"),
    ],
)
def test_a_verifier_that_broke_off_is_put_in_words(code, words, hint, tmp_path):
    judge = judge_of(code, tmp_path)
    with pytest.raises(JudgeError) as caught:
        judge._ask({"do": "nothing"}, 1.0)
    assert words in caught.value.message
    assert "cannot send: broken pipe" in caught.value.message
    assert "Errno" not in caught.value.message
    assert hint in caught.value.hint
    judge.close()


def test_what_the_system_says_has_no_number():
    ours, theirs = socket.socketpair()
    theirs.close()
    with pytest.raises(ChannelError) as caught:
        Channel(ours).send({"do": "nothing"})
    assert str(caught.value) == "cannot send: broken pipe"
    ours.close()
