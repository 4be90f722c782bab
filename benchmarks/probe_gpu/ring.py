"""What workers work on: a task's slots of shared memory, filled and checked by the verifier."""

from device import Block, create_block
from pairs import BLOCK
from tasks import Task

SLOTS = BLOCK
GUARD_BYTES = 4096  # behind each output


class Ring:
    """Slots of shared memory for one task: an input block and an output block each."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.slots: list[tuple[Block, Block]] = []
        for _ in range(SLOTS):
            sizes = task.in_elements * task.width, task.out_elements * task.width
            self.slots.append((create_block(sizes[0]), create_block(sizes[1] + GUARD_BYTES)))
        self.seeds = [0] * SLOTS
        self.before = [0] * SLOTS
        self.poison = task.poisons[0]
        self.blocks = [block for slot in self.slots for block in slot]
        self.fds = [block.descriptor() for block in self.blocks]

    @property
    def word(self) -> int:
        """The poison as a word of 32 bits."""
        return self.poison if self.task.width == 4 else self.poison * 0x10001

    @property
    def out_bytes(self) -> int:
        return self.task.out_elements * self.task.width
