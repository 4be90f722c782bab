"""The driver API as the probe needs it: context, modules, launches, memory that can be shared.

It refuses to know candidates or tasks, and never imports an array framework. Sizes are bytes,
times milliseconds unless a name says otherwise. Every call's return code becomes a DeviceError.
"""

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuda.bindings import driver, nvrtc

HERE = Path(__file__).resolve().parent
POINTER, U64, U32, U16, F32 = (
    ctypes.c_void_p,
    ctypes.c_uint64,
    ctypes.c_uint32,
    ctypes.c_uint16,
    ctypes.c_float,
)
FD_HANDLE = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR


class DeviceError(Exception):
    """The driver refused; its text is the error's name, as in CUDA_ERROR_ILLEGAL_ADDRESS."""


def call(result: tuple) -> Any:
    """The values of a driver call without its error code."""
    error, *values = result
    if int(error) != 0:
        raise DeviceError(getattr(error, "name", str(error)))
    if not values:
        return None
    return values[0] if len(values) == 1 else tuple(values)


def open_context(ordinal: int = 0) -> None:
    """Makes the primary context of a device current in this thread."""
    call(driver.cuInit(0))
    call(driver.cuCtxSetCurrent(call(driver.cuDevicePrimaryCtxRetain(ordinal))))


def attribute(name: str, ordinal: int = 0) -> int:
    key = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    return call(driver.cuDeviceGetAttribute(key, ordinal))


def free_bytes() -> int:
    return int(call(driver.cuMemGetInfo())[0])


def synchronize() -> None:
    call(driver.cuCtxSynchronize())


# ---------------------------------------------------------------- code


def compile_cubin(source: Path, target: Path, arch: str = "sm_90") -> Path:
    """Builds device code with NVRTC, once; ``target`` is the file of machine code."""
    program = call(nvrtc.nvrtcCreateProgram(source.read_bytes(), b"judge.cu", 0, [], []))
    options = [f"--gpu-architecture={arch}".encode(), b"--fmad=true"]
    error = nvrtc.nvrtcCompileProgram(program, len(options), options)[0]
    if int(error) != 0:
        log = b" " * call(nvrtc.nvrtcGetProgramLogSize(program))
        call(nvrtc.nvrtcGetProgramLog(program, log))
        raise DeviceError(log.decode(errors="replace"))
    code = b" " * call(nvrtc.nvrtcGetCUBINSize(program))
    call(nvrtc.nvrtcGetCUBIN(program, code))
    part = target.with_suffix(f".{os.getpid()}")
    part.write_bytes(code)
    return part.rename(target)


class Code:
    """Kernels of one cubin by name, launched on one stream."""

    def __init__(self, cubin: Path, stream: Any = None) -> None:
        self.stream = driver.CUstream(0) if stream is None else stream
        self.module = call(driver.cuModuleLoadData(cubin.read_bytes()))
        self.found: dict[str, Any] = {}

    def __call__(self, name: str, blocks: int, threads: int, *typed: tuple[Any, Any]) -> None:
        """Launches a kernel; ``typed`` are pairs of a value and its C type."""
        if name not in self.found:
            self.found[name] = call(driver.cuModuleGetFunction(self.module, name.encode()))
        values, types = zip(*typed, strict=True)
        arguments = (values, types)
        call(
            driver.cuLaunchKernel(
                self.found[name], blocks, 1, 1, threads, 1, 1, 0, self.stream, arguments, 0
            )
        )


# ---------------------------------------------------------------- time


class Events:
    """A row of device events; ``between(i, j)`` is in microseconds."""

    def __init__(self, count: int) -> None:
        self.row = [call(driver.cuEventCreate(0)) for _ in range(count)]

    def record(self, index: int, stream: Any) -> None:
        call(driver.cuEventRecord(self.row[index], stream))

    def between(self, first: int, second: int) -> float:
        return 1e3 * call(driver.cuEventElapsedTime(self.row[first], self.row[second]))


# ---------------------------------------------------------------- memory


@dataclass
class Block:
    """Dedicated physical memory of the device, mapped here; nothing else lies in it."""

    address: int
    size: int
    handle: Any

    def descriptor(self) -> int:
        """A file descriptor for another process; the receiver closes its own."""
        return int(call(driver.cuMemExportToShareableHandle(self.handle, FD_HANDLE, 0)))

    def release(self) -> None:
        call(driver.cuMemUnmap(self.address, self.size))
        call(driver.cuMemAddressFree(self.address, self.size))
        call(driver.cuMemRelease(self.handle))


def allocation_of(ordinal: int) -> Any:
    asked = driver.CUmemAllocationProp()
    asked.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    asked.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    asked.location.id = ordinal
    asked.requestedHandleTypes = FD_HANDLE
    return asked


def map_handle(handle: Any, size: int, ordinal: int = 0, writable: bool = True) -> Block:
    """Maps physical memory at an address of its own in this process."""
    flags = driver.CUmemAccess_flags
    access = driver.CUmemAccessDesc()
    access.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    access.location.id = ordinal
    access.flags = (
        flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        if writable
        else flags.CU_MEM_ACCESS_FLAGS_PROT_READ
    )
    address = call(driver.cuMemAddressReserve(size, 0, 0, 0))
    call(driver.cuMemMap(address, size, 0, handle, 0))
    call(driver.cuMemSetAccess(address, size, [access], 1))
    return Block(int(address), size, handle)


def create_block(size: int, ordinal: int = 0) -> Block:
    """New physical memory, ``size`` rounded up to the driver's granularity (2 MiB seen)."""
    asked = allocation_of(ordinal)
    least = driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
    step = int(call(driver.cuMemGetAllocationGranularity(asked, least)))
    whole = -(-size // step) * step
    return map_handle(call(driver.cuMemCreate(whole, asked, 0)), whole, ordinal)


def open_block(descriptor: int, size: int, ordinal: int = 0, writable: bool = True) -> Block:
    """Another process's memory from its file descriptor, which is closed here."""
    try:
        handle = call(driver.cuMemImportFromShareableHandle(descriptor, FD_HANDLE))
    finally:
        os.close(descriptor)
    return map_handle(handle, size, ordinal, writable)


def read_u32(address: int, count: int = 1) -> list[int]:
    """Words of device memory through a copy by the driver."""
    words = (ctypes.c_uint32 * count)()
    call(driver.cuMemcpyDtoH(ctypes.addressof(words), address, 4 * count))
    return list(words)
