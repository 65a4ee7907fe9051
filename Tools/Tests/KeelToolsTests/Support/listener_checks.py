"""What firestore-client.py checks over gRPC alone."""

import queue

from google.cloud.firestore_v1.base_query import FieldFilter

# The seconds after which a state counts as missing, also on a busy machine.
PATIENCE = 120


def add_to(check, same, refused):
    @check
    def a_listener_sees_what_is_committed(client):
        collection = client.collection("watched")
        collection.document("a").set({"n": 1})
        states = queue.Queue()

        def receive(documents, changes, time):
            states.put({document.id: document.get("n") for document in documents})

        watch = collection.where(filter=FieldFilter("n", ">", 0)).on_snapshot(receive)
        same(states.get(timeout=PATIENCE), {"a": 1})
        batch = client.batch()
        batch.set(collection.document("b"), {"n": 2})
        batch.update(collection.document("a"), {"n": 10})
        batch.commit()
        same(states.get(timeout=PATIENCE), {"a": 10, "b": 2})
        collection.document("b").update({"n": 0})
        same(states.get(timeout=PATIENCE), {"a": 10})
        watch.unsubscribe()

    @check
    def a_listener_sees_one_document_come_and_go(client):
        reference = client.document("watched-alone/1")
        states = queue.Queue()
        watch = reference.on_snapshot(
            lambda documents, changes, time: states.put([found.to_dict() for found in documents])
        )
        same(states.get(timeout=PATIENCE), [])
        reference.set({"n": 1})
        same(states.get(timeout=PATIENCE), [{"n": 1}])
        reference.delete()
        same(states.get(timeout=PATIENCE), [])
        watch.unsubscribe()

    @check
    def a_pipeline_is_refused_by_a_sentence(client):
        pipeline = client.pipeline().collection("notes")
        refused("UNIMPLEMENTED", lambda: list(pipeline.stream()))
