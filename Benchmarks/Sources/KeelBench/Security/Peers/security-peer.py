#!/usr/bin/env python3
"""Measures what Keel's security is compared with, in Python over C and C++.

    security-peer.py stream KEYSET PLAIN TARGET         seconds that Tink takes to encrypt a file
    security-peer.py argon2 MEMORY PASSES LANES COUNT   milliseconds of one hash by libargon2
"""

import sys
import time


def stream(keyset, plain, target):
    """Encrypts a file in pieces of 1 MiB, as Keel's side does."""
    import tink
    from tink import json_proto_keyset_format, secret_key_access, streaming_aead

    streaming_aead.register()
    with open(keyset) as source:
        handle = json_proto_keyset_format.parse(source.read(), secret_key_access.TOKEN)
    primitive = handle.primitive(streaming_aead.StreamingAead)
    start = time.perf_counter()
    with open(plain, "rb") as source, open(target, "wb") as sink:
        with primitive.new_encrypting_stream(sink, b"") as encrypted:
            while piece := source.read(1 << 20):
                encrypted.write(piece)
    return time.perf_counter() - start


def argon2(memory, passes, lanes, count):
    """Hashes one password so many times."""
    from argon2 import PasswordHasher

    hasher = PasswordHasher(
        time_cost=int(passes), memory_cost=int(memory), parallelism=int(lanes), hash_len=32
    )
    start = time.perf_counter()
    for _ in range(int(count)):
        hasher.hash("correct horse battery staple")
    return (time.perf_counter() - start) / int(count) * 1000


print({"stream": stream, "argon2": argon2}[sys.argv[1]](*sys.argv[2:]))
