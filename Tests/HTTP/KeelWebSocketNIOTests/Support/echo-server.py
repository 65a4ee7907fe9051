#!/usr/bin/env python3
"""A WebSocket echo server on PyPI's `websockets`, for the tests of KeelWebSocketNIO.

Prints the port it listens on and runs until its standard input ends.

    echo-server.py [--deflate] [--window BITS] [--no-takeover] [--subprotocol NAME]

A request for /refused is answered with status 403, /redirect with 302. A message "close CODE" makes
the server close with that code, "ping" makes it send a ping and report the round trip.
"""

import argparse
import asyncio
import http
import sys

from websockets.asyncio.server import serve
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory


def refuse(connection, request):
    """Refuses some paths, the others are upgraded."""
    if request.path == "/refused":
        response = connection.respond(http.HTTPStatus.FORBIDDEN, "not for you\n")
        response.headers["X-Reason"] = "policy"
        return response
    if request.path == "/redirect":
        response = connection.respond(http.HTTPStatus.FOUND, "elsewhere\n")
        response.headers["Location"] = "/"
        return response
    return None


async def echo(connection):
    """Sends every message back."""
    async for message in connection:
        if isinstance(message, str) and message.startswith("close "):
            await connection.close(int(message.split()[1]), "as asked")
        elif message == "ping":
            await (await connection.ping())
            await connection.send("pong")
        elif message == "headers":
            await connection.send(connection.request.headers.get("X-Test", ""))
        else:
            await connection.send(message)


async def main():
    """Serves until the standard input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--deflate", action="store_true")
    parser.add_argument("--window", type=int, default=None)
    parser.add_argument("--no-takeover", action="store_true")
    parser.add_argument("--subprotocol", action="append")
    options = parser.parse_args()

    extensions = None
    if options.deflate:
        extensions = [
            ServerPerMessageDeflateFactory(
                server_no_context_takeover=options.no_takeover,
                client_no_context_takeover=options.no_takeover,
                server_max_window_bits=options.window,
                client_max_window_bits=options.window,
            )
        ]
    server = await serve(
        echo,
        "127.0.0.1",
        0,
        compression=None,
        extensions=extensions,
        subprotocols=options.subprotocol,
        process_request=refuse,
        max_size=64 << 20,
        # The tests send pings of their own.
        ping_interval=None,
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.close()


asyncio.run(main())
