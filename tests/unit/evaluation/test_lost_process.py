"""What the verifier answers when a process of its own is lost."""

from kernelwright.checks.finding import Finding, Rejected
from kernelwright.evaluation.channel import Channel
from kernelwright.evaluation.verifier import serve
from kernelwright.records.outcome import Outcome


class Losing:
    def open(self, message):
        raise Rejected(Finding(Outcome.CRASHED, "the baseline (loop) crashed with SIGKILL"))


def test_a_lost_process_is_said_in_one_sentence():
    ours, theirs = Channel.pair()
    asking = Channel(theirs)
    asking.send({"do": "open", "number": "a"})
    asking.sock.shutdown(1)
    serve(ours, Losing())
    told = asking.message(5.0)
    assert told["error"] == "JudgeError"
    assert told["message"] == "the baseline (loop) crashed with SIGKILL"
    assert told["hint"] == "run it again"
    ours.close()
    asking.close()


def test_an_answer_that_nobody_waits_for_ends_the_service():
    ours, theirs = Channel.pair()
    asking = Channel(theirs)
    asking.send({"do": "open", "number": "a"})

    class Slow(Losing):
        def open(self, message):
            asking.close()
            return {}

    serve(ours, Slow())
    ours.close()
