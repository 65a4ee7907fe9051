#!/usr/bin/env python3
"""Calls a server of Firestore's protocol with Google's client, over gRPC, and prints a number.

    firestore-client.py set HOST COUNT      microseconds of one `set`, one by one
    firestore-client.py change HOST COUNT   bytes that a commit costs a listener to 1,000 documents
    firestore-client.py resume HOST COUNT   bytes of the resumption of such a listener, nothing new

The bytes are those of the messages, with the five bytes that gRPC puts in front of each.
"""

import os
import queue
import sys
import time


class Stream:
    """A stream of the method Listen with one target, a collection."""

    def __init__(self, client, token=b"", count=0):
        from google.cloud.firestore_v1.types import ListenRequest, StructuredQuery, Target

        name = client._database_string
        query = StructuredQuery(from_=[StructuredQuery.CollectionSelector(collection_id="notes")])
        target = Target(
            query=Target.QueryTarget(parent=f"{name}/documents", structured_query=query),
            target_id=2,
            resume_token=token,
        )
        if count:
            target.expected_count = count
        self.requests = queue.Queue()
        self.requests.put(ListenRequest(database=name, add_target=target))
        self.replies = client._firestore_api.listen(
            requests=iter(self.requests.get, None), metadata=client._rpc_metadata, timeout=120
        )
        self.token = token

    def read(self, is_enough):
        """Reads up to a consistent point after a message, and returns the number of bytes."""
        count, is_near = 0, False
        for reply in self.replies:
            message = type(reply).pb(reply)
            count += message.ByteSize() + 5
            is_near = is_near or is_enough(message)
            change = message.target_change
            if change.resume_token:
                self.token = change.resume_token
            is_point = message.HasField("target_change") and change.target_change_type == 0
            if is_near and is_point and not change.target_ids and change.HasField("read_time"):
                return count
        raise RuntimeError("the stream has ended")

    def close(self):
        self.requests.put(None)
        self.replies.cancel()


def is_current(message):
    return message.target_change.target_change_type == 3


def set_documents(client, count):
    """Returns the microseconds of a set."""
    notes = client.collection("notes")

    def repeat(count):
        for number in range(count):
            notes.document(str(number % 100)).set({"group": 0, "n": number})

    repeat(count // 5)
    start = time.perf_counter()
    repeat(count)
    return (time.perf_counter() - start) / count * 1_000_000


def fill(client):
    for first in range(0, 1_000, 500):
        batch = client.batch()
        for number in range(first, first + 500):
            batch.set(client.document(f"notes/{number}"), {"group": 0, "n": 0})
        batch.commit()


def change(client, count):
    """Returns the average bytes that a commit costs a listener."""
    fill(client)
    stream = Stream(client)
    stream.read(is_current)
    total = 0
    for number in range(1, count + 1):
        client.document(f"notes/{number}").set({"group": 0, "n": number})

        def is_told(message):
            document = message.document_change.document
            return document.name.endswith(f"/{number}") and (
                document.fields["n"].integer_value == number
            )

        total += stream.read(is_told)
    stream.close()
    return total / count


def resume(client, _):
    """Returns the bytes of a resumption."""
    fill(client)
    first = Stream(client)
    first.read(is_current)
    first.close()
    second = Stream(client, first.token, 1_000)
    count = second.read(is_current)
    second.close()
    return count


def main(action, host, count):
    os.environ["FIRESTORE_EMULATOR_HOST"] = host
    from google.cloud import firestore

    client = firestore.Client(project="bench")
    actions = {"set": set_documents, "change": change, "resume": resume}
    print(actions[action](client, int(count)), flush=True)
    # The threads of open streams would keep the process alive.
    os._exit(0)


main(*sys.argv[1:])
