"""One call of a built library on plain memory, without a framework: what a memory checker runs.

python bare_call.py LIBRARY ROWS COLUMNS
"""

import ctypes
import sys

import device


def main() -> None:
    device.open_context()
    rows, columns = int(sys.argv[2]), int(sys.argv[3])
    size = 2 * rows * columns
    given, out = (int(device.call(device.driver.cuMemAlloc(size))) for _ in range(2))
    device.call(device.driver.cuMemsetD32(given, 0x3F803F80, size // 4))
    entry = ctypes.CDLL(sys.argv[1]).softmax
    axes = [ctypes.c_int64(rows), ctypes.c_int64(columns)]
    code = entry(ctypes.c_void_p(given), ctypes.c_void_p(out), *axes, ctypes.c_void_p(0))
    device.synchronize()
    print("returned", code, "first", hex(device.read_u32(out)[0]))


if __name__ == "__main__":
    main()
