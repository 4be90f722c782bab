"""Keeps a table of column numbers and a workspace by shape; results are always fresh."""

from collections import OrderedDict

import torch
from torch import nn


class Workspaces(OrderedDict):
    """A few of the most recently used."""

    limit = 4

    def of(self, shape):
        if shape in self:
            self.move_to_end(shape)
        else:
            self[shape] = torch.empty(shape)
            while len(self) > self.limit:
                self.popitem(last=False)
        return self[shape]


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.rooms = Workspaces()

    def forward(self, x):
        room = self.rooms.of(x.shape)
        torch.sub(x, x.amax(1, keepdim=True), out=room)
        best = torch.argmax(room, dim=1)
        room.exp_()
        return {"weights": room / room.sum(1, keepdim=True), "best": best}
