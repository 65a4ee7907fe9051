#!/usr/bin/env python3
"""Measures echo round trips with the client of PyPI's `websockets`.

    websocket-echo-client.py URL ROUND_TRIPS BYTES

Prints the microseconds that one round trip took, after a tenth of them as a warm-up.
"""

import asyncio
import sys
import time

from websockets.asyncio.client import connect


async def main():
    """Sends a message, waits for its echo, and so on."""
    url, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    message = b"x" * size
    # As for Keel, no compression, pings or limits that cost time.
    async with connect(url, compression=None, ping_interval=None) as connection:
        for number in range(count + count // 10):
            if number == count // 10:
                start = time.perf_counter()
            await connection.send(message)
            if await connection.recv() != message:
                sys.exit("the echo differs")
        print((time.perf_counter() - start) / count * 1_000_000)


asyncio.run(main())
