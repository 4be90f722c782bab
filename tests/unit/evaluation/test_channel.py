import json
import os
import struct
import threading

import pytest

from kernelwright.evaluation.channel import (
    Channel,
    ChannelError,
    ChannelMixed,
    ChannelTimeout,
)


@pytest.fixture
def pair():
    ours, theirs = Channel.pair()
    yield ours, theirs
    ours.close()
    theirs.close()


def packed(payload):
    return struct.pack("<I", len(payload)) + payload


def test_messages_and_descriptors_arrive(pair):
    ours, theirs = pair
    other = Channel(theirs)
    reading, writing = os.pipe()
    ours.send({"a": [1, "ü"]}, (writing,))
    message, fds = other.receive(5)
    os.write(fds[0], b"x")
    assert message == {"a": [1, "ü"]}
    assert os.read(reading, 1) == b"x"
    for fd in (reading, writing, *fds):
        os.close(fd)


@pytest.mark.parametrize(
    "data",
    [
        packed(b"not json"),
        packed(b"[1]"),
        packed(b"\xff\xfe"),
        packed(b"[" * 100_000),
        struct.pack("<I", 1 << 31),
        b"ab",
        b"",
    ],
)
def test_nonsense_is_a_channel_error(pair, data):
    ours, theirs = pair
    theirs.sendall(data)
    theirs.close()
    with pytest.raises(ChannelError):
        ours.receive(5)


def test_silence_is_a_timeout_and_half_a_message_too(pair):
    ours, theirs = pair
    with pytest.raises(ChannelTimeout):
        ours.receive(0.05)
    theirs.sendall(packed(json.dumps({"a": 1}).encode())[:-1])
    with pytest.raises(ChannelTimeout):
        ours.receive(0.05)


def test_sending_to_nobody_is_a_channel_error(pair):
    ours, theirs = pair
    theirs.close()
    with pytest.raises(ChannelError):
        ours.send({"a": "x" * (4 << 20)})


def serving(theirs, answers):
    """Answers one request after another by what ``answers`` makes of it."""

    def serve():
        other = Channel(theirs)
        for make in answers:
            request, fds = other.receive(10)
            for fd in fds:
                os.close(fd)
            make(other, request)

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


def test_an_answer_repeats_the_number_of_its_request(pair):
    ours, theirs = pair
    seen = []

    def answer(other, request):
        seen.append(request["number"])
        other.reply(request, {"twice": 2 * request["x"]})

    thread = serving(theirs, [answer, answer])
    assert ours.ask({"x": 4}, 10) == {"twice": 8}
    assert ours.ask({"x": 5}, 10) == {"twice": 10}
    thread.join()
    assert len(set(seen)) == 2


@pytest.mark.parametrize("number", ["0" * 16, None, 1, {"a": 1}])
def test_an_answer_with_another_number_is_refused(pair, number):
    ours, theirs = pair
    thread = serving(theirs, [lambda other, _: other.send({"x": 1, "number": number})])
    with pytest.raises(ChannelMixed):
        ours.ask({}, 10)
    thread.join()


def test_a_late_answer_is_not_taken_for_the_next_one(pair):
    ours, theirs = pair
    asked = []
    thread = serving(
        theirs,
        [
            lambda other, request: asked.append(request),
            lambda other, request: other.reply(asked[0], {"answer": "to the first"}),
        ],
    )
    with pytest.raises(ChannelTimeout):
        ours.ask({"question": 1}, 0.05)
    with pytest.raises(ChannelMixed):
        ours.ask({"question": 2}, 10)
    thread.join()


def test_a_trusted_child_may_be_told_a_long_story(pair):
    ours, theirs = pair
    other = Channel.from_fd(os.dup(theirs.fileno()))
    told = {"text": "\x01" * (3 << 20)}  # six bytes a letter
    thread = threading.Thread(target=ours.send, args=(told,))
    thread.start()
    assert other.receive(10)[0] == told
    thread.join()
    other.close()
