"""How much memory the C library's malloc has given out: what leaks shows to the byte."""

import ctypes
import gc

import pytest

FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


class MallocInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in FIELDS.split()]


def used_bytes():
    """Bytes in use. The interpreter's own small objects are not among them: references are what counts those."""
    ask = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if ask is None:
        pytest.skip("this C library does not say how much memory is in use (glibc does from 2.33 on)")
    ask.restype = MallocInfo
    gc.collect()
    info = ask()
    return info.uordblks + info.hblkhd


def bytes_a_call(call, calls=1000):
    """What each call of many leaves behind."""
    for _ in range(100):
        call()
    before = used_bytes()
    for _ in range(calls):
        call()
    return (used_bytes() - before) / calls
