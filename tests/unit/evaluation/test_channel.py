import json
import os
import struct

import pytest

from kernelwright.evaluation.channel import Channel, ChannelError, ChannelTimeout


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
