"""Drives a server with google-cloud-firestore, unmodified, over REST or gRPC.

Usage: firestore-client.py HOST:PORT rest|grpc

Prints a line for each check, and exits with 1 if one of them failed.
"""

import concurrent.futures
import datetime
import os
import sys
import traceback

import listener_checks
from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import firestore
from google.cloud.firestore_v1 import field_path
from google.cloud.firestore_v1.base_query import And, FieldFilter, Or
from google.cloud.firestore_v1.query_profile import ExplainOptions
from google.cloud.firestore_v1.services.firestore.client import FirestoreClient
from google.cloud.firestore_v1.services.firestore.transports.rest import FirestoreRestTransport

CHECKS = []
OVER_GRPC = sys.argv[2] == "grpc"


def check(function):
    CHECKS.append(function)
    return function


def connect(address):
    if OVER_GRPC:
        os.environ["FIRESTORE_EMULATOR_HOST"] = address
        return firestore.Client(project="keel-test")
    transport = FirestoreRestTransport(
        host=address, url_scheme="http", credentials=AnonymousCredentials()
    )
    client = firestore.Client(project="keel-test", credentials=AnonymousCredentials())
    client._firestore_api_internal = FirestoreClient(transport=transport)
    return client


def expect(condition, what="a condition"):
    if not condition:
        raise AssertionError(f"{what} does not hold")


def same(found, wanted):
    if found != wanted:
        raise AssertionError(f"{found!r} and not {wanted!r}")


def refused(status, function):
    """Expects an error; over REST the client tells of its status of HTTP, the body of the exact one."""
    try:
        function()
    except exceptions.GoogleAPICallError as error:
        if OVER_GRPC:
            same(error.grpc_status_code.name, status)
        else:
            same(error.response.json()["error"]["status"], status)
        return
    raise AssertionError(f"{status} was not raised")


def fill(client, name, count=10):
    collection = client.collection(name)
    batch = client.batch()
    for number in range(count):
        batch.set(
            collection.document(f"d{number:02}"),
            {
                "number": number,
                "half": number / 2,
                "parity": "even" if number % 2 == 0 else "odd",
                "tags": [f"t{number % 3}", "all"],
                "nested": {"number": number},
            },
        )
    batch.commit()
    return collection


def ids(query):
    return [snapshot.id for snapshot in query.stream()]


@check
def every_kind_of_value_comes_back_as_it_was(client):
    reference = client.document("values/all")
    moment = datetime.datetime(2026, 2, 3, 4, 5, 6, 789012, tzinfo=datetime.timezone.utc)
    values = {
        "null": None,
        "yes": True,
        "no": False,
        "zero": 0,
        "large": 2**63 - 1,
        "small": -(2**63),
        "third": 1 / 3,
        "whole double": 3.0,
        "infinity": float("inf"),
        "minus infinity": float("-inf"),
        "time": moment,
        "text": "Zürich \u2028 \U0001f37d \" \\ \n \x01",
        "empty": "",
        "bytes": bytes(range(256)),
        "reference": client.document("other/1"),
        "place": firestore.GeoPoint(47.37, -8.54),
        "list": [1, "two", {"three": [3]}, None],
        "empty list": [],
        "map": {"a": {"b": {"c": "d"}}, "with.dot": 1, "é": 2},
        "empty map": {},
    }
    reference.set(values)
    snapshot = reference.get()
    found = snapshot.to_dict()
    same(set(found), set(values))
    for name, value in values.items():
        same(found[name], value)
        same(type(found[name]) in (int, bool), type(value) in (int, bool))
    reference.set({"nan": float("nan")})
    nan = reference.get().to_dict()["nan"]
    expect(nan != nan, "NaN is NaN")


@check
def documents_are_set_read_changed_and_deleted(client):
    reference = client.document("notes/1")
    refused("NOT_FOUND", lambda: reference.update({"text": "none"}))
    reference.create({"text": "first", "map": {"a": 1, "b": 2}})
    refused("ALREADY_EXISTS", lambda: reference.create({"text": "again"}))
    first = reference.get()
    expect(first.exists)
    reference.update({"map.a": 10, "map.b": firestore.DELETE_FIELD})
    same(reference.get().to_dict(), {"text": "first", "map": {"a": 10}})
    reference.set({"map": {"c": 3}}, merge=True)
    same(reference.get().to_dict(), {"text": "first", "map": {"a": 10, "c": 3}})
    reference.set({"other": 1})
    second = reference.get()
    same(second.to_dict(), {"other": 1})
    same(second.create_time, first.create_time)
    expect(second.update_time > first.update_time, "a later time")
    same(reference.get(["missing"]).to_dict(), {})
    reference.delete()
    expect(not reference.get().exists)
    reference.delete()


@check
def conditions_on_times_hold_or_fail(client):
    reference = client.document("notes/conditional")
    result = reference.set({"n": 1})
    option = client.write_option(last_update_time=result.update_time)
    changed = reference.update({"n": 2}, option=option)
    refused("FAILED_PRECONDITION", lambda: reference.update({"n": 3}, option=option))
    refused("FAILED_PRECONDITION", lambda: reference.delete(option=option))
    unchanged = reference.set({"n": 2})
    same(unchanged.update_time, changed.update_time)
    same(reference.get().update_time, changed.update_time)
    missing = client.document("notes/missing")
    refused("NOT_FOUND", lambda: missing.delete(client.write_option(exists=True)))


@check
def transforms_are_computed_by_the_server(client):
    reference = client.document("transforms/1")
    reference.set({"count": 1, "list": [1, 2], "time": firestore.SERVER_TIMESTAMP})
    reference.update(
        {
            "count": firestore.Increment(2),
            "half": firestore.Increment(0.5),
            "list": firestore.ArrayUnion([2, 3]),
            "high": firestore.Maximum(7),
            "low": firestore.Minimum(7),
        }
    )
    reference.update({"list": firestore.ArrayRemove([1])})
    found = reference.get()
    time = found.to_dict().pop("time")
    expect(isinstance(time, datetime.datetime) and time <= found.update_time)
    wanted = {"count": 3, "half": 0.5, "list": [2, 3], "high": 7, "low": 7}
    same({name: found.get(name) for name in wanted}, wanted)


@check
def several_documents_are_read_at_once(client):
    collection = fill(client, "batch-get", 3)
    references = [collection.document("d00"), collection.document("none"), collection.document("d02")]
    found = {snapshot.id: snapshot.exists for snapshot in client.get_all(references, ["number"])}
    same(found, {"d00": True, "none": False, "d02": True})


@check
def queries_filter_order_and_limit(client):
    collection = fill(client, "queries")
    where = lambda *parts: collection.where(filter=FieldFilter(*parts))
    same(ids(where("number", "==", 3)), ["d03"])
    same(ids(where("number", "!=", 3)), [f"d{n:02}" for n in range(10) if n != 3])
    same(ids(where("number", ">=", 8)), ["d08", "d09"])
    same(ids(where("number", "in", [1, 5])), ["d01", "d05"])
    same(ids(where("number", "not-in", list(range(8)))), ["d08", "d09"])
    same(ids(where("tags", "array_contains", "t0")), ["d00", "d03", "d06", "d09"])
    same(len(ids(where("tags", "array_contains_any", ["t0", "t1"]))), 7)
    same(ids(where("nested.number", "<", 2)), ["d00", "d01"])
    same(ids(where("missing", "==", None)), [])
    both = And([FieldFilter("parity", "==", "odd"), FieldFilter("number", ">", 4)])
    same(ids(collection.where(filter=both)), ["d05", "d07", "d09"])
    either = Or([FieldFilter("number", "==", 1), FieldFilter("number", "==", 8)])
    same(ids(collection.where(filter=either)), ["d01", "d08"])
    down = collection.order_by("number", direction=firestore.Query.DESCENDING)
    same(ids(down.limit(2)), ["d09", "d08"])
    same(ids(down.offset(3).limit(2)), ["d06", "d05"])
    up = collection.order_by("number")
    same(ids(up.start_after(collection.document("d07").get())), ["d08", "d09"])
    same(ids(up.start_at({"number": 8})), ["d08", "d09"])
    same(ids(up.start_after({"number": 8})), ["d09"])
    same(ids(up.end_at({"number": 1})), ["d00", "d01"])
    same(ids(up.end_before({"number": 1})), ["d00"])
    # The client turns the orders of the query itself round, so that it is of no use afterwards.
    last = collection.order_by("number").limit_to_last(2).get()
    same([found.id for found in last], ["d08", "d09"])
    one = list(up.select(["number"]).limit(1).stream())[0]
    same(one.to_dict(), {"number": 0})
    name = field_path.FieldPath.document_id()
    same(ids(where(name, "==", collection.document("d04"))), ["d04"])
    same(ids(client.collection("nothing-here")), [])
    refused("INVALID_ARGUMENT", lambda: ids(where("number", "in", list(range(40)))))


@check
def aggregations_are_computed(client):
    collection = fill(client, "sums")
    query = collection.count(alias="n").sum("number", alias="sum").avg("half", alias="mean")
    found = {result.alias: result.value for result in query.get()[0]}
    same(found, {"n": 10, "sum": 45, "mean": 2.25})
    odd = collection.where(filter=FieldFilter("parity", "==", "odd"))
    same(odd.count().get()[0][0].value, 5)
    empty = client.collection("no-sums").avg("x").get()[0][0].value
    expect(not empty, "no mean of nothing")


@check
def a_batch_takes_effect_whole_or_not_at_all(client):
    collection = client.collection("batches")
    batch = client.batch()
    batch.set(collection.document("a"), {"n": 1})
    batch.update(collection.document("missing"), {"n": 2})
    refused("NOT_FOUND", batch.commit)
    expect(not collection.document("a").get().exists)


@check
def bulk_writes_are_told_of_one_by_one(client):
    collection = client.collection("bulk")
    errors = []
    writer = client.bulk_writer()
    writer.on_write_error(lambda error, _: errors.append(error.message) and False)
    for number in range(50):
        writer.set(collection.document(f"b{number:02}"), {"n": number})
    writer.create(collection.document("b00x"), {"n": 0})
    writer.close()
    same(len(ids(collection)), 51)


# The client begins a transaction again by itself after Aborted, which it makes of ABORTED over gRPC;
# over REST it makes Conflict of every status 409 and passes it on. The checks begin again themselves.


@check
def transactions_see_conflicts_and_begin_again(client):
    reference = client.document("counters/1")
    reference.set({"n": 0})
    attempts = []

    @firestore.transactional
    def increment(transaction):
        n = reference.get(transaction=transaction).get("n")
        attempts.append(n)
        if len(attempts) == 1:
            # Somebody else comes in between.
            client.document("counters/1").set({"n": 100})
        transaction.set(reference, {"n": n + 1})
        return n

    if not OVER_GRPC:
        refused("ABORTED", lambda: increment(client.transaction()))
        same(reference.get().get("n"), 100)
    same(increment(client.transaction()), 100)
    same(attempts, [0, 100])
    same(reference.get().get("n"), 101)


@check
def a_transaction_that_read_a_query_meets_a_new_document(client):
    collection = fill(client, "phantoms", 3)
    attempts = []

    @firestore.transactional
    def count(transaction):
        found = list(collection.where(filter=FieldFilter("number", "<", 100)).stream(transaction))
        attempts.append(len(found))
        if len(attempts) == 1:
            collection.document("new").set({"number": 50})
        transaction.set(client.document("counters/phantoms"), {"n": len(found)})

    if not OVER_GRPC:
        refused("ABORTED", lambda: count(client.transaction()))
    count(client.transaction())
    same(attempts, [3, 4])
    same(client.document("counters/phantoms").get().get("n"), 4)


@check
def increments_of_many_threads_are_all_counted(client):
    reference = client.document("counters/threads")
    reference.set({"n": 0})

    @firestore.transactional
    def increment(transaction):
        n = reference.get(transaction=transaction).get("n")
        transaction.set(reference, {"n": n + 1})

    def work(_):
        conflicts = 0
        for _ in range(5):
            while True:
                try:
                    increment(client.transaction())
                    break
                # Over gRPC the client gives up by a ValueError after five attempts.
                except (exceptions.Conflict, ValueError):
                    conflicts += 1
        return conflicts

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    same(reference.get().get("n"), 20)


@check
def a_transaction_can_be_given_up_or_only_read(client):
    reference = client.document("counters/given-up")
    reference.set({"n": 1})

    @firestore.transactional
    def fail(transaction):
        reference.get(transaction=transaction)
        transaction.set(reference, {"n": 2})
        raise KeyError("given up")

    try:
        fail(client.transaction())
        expect(False, "the error of the function")
    except KeyError:
        pass
    same(reference.get().get("n"), 1)

    @firestore.transactional
    def read(transaction):
        return reference.get(transaction=transaction).get("n")

    same(read(client.transaction(read_only=True)), 1)


@check
def collections_and_documents_are_listed(client):
    fill(client, "listed", 7)
    client.document("listed/parent-only/below/1").set({"n": 1})
    listed = [reference.id for reference in client.collection("listed").list_documents(page_size=3)]
    same(listed, [f"d{n:02}" for n in range(7)] + ["parent-only"])
    expect("listed" in [collection.id for collection in client.collections()])
    parent = client.document("listed/parent-only")
    same([collection.id for collection in parent.collections()], ["below"])


@check
def a_collection_group_is_queried_at_any_depth(client):
    for place in ["towns/a/shops/1", "towns/b/shops/2", "shops/3", "towns/a/parks/4"]:
        client.document(place).set({"open": True})
    group = client.collection_group("shops")
    same(sorted(ids(group)), ["1", "2", "3"])
    same(len(ids(group.where(filter=FieldFilter("open", "==", True)))), 3)
    parts = list(group.get_partitions(4))
    same(sorted(found.id for part in parts for found in part.query().stream()), ["1", "2", "3"])


@check
def documents_are_added_under_new_ids(client):
    collection = client.collection("added")
    _, one = collection.add({"n": 1})
    _, other = collection.add({"n": 2})
    expect(one.id != other.id and len(one.id) == 20)
    same(sorted(ids(collection)), sorted([one.id, other.id]))
    one.delete()
    other.delete()
    same(ids(collection), [])


@check
def names_with_any_character_stay_apart(client):
    for name in ["a b", "ü", "a:b", "a%2Fb", "(x)", "q?&=+#", "日本"]:
        reference = client.document("names", name)
        reference.set({"name": name})
        same(reference.get().get("name"), name)
    same(len(ids(client.collection("names"))), 7)


@check
def what_is_wrong_is_refused(client):
    refused("INVALID_ARGUMENT", lambda: client.document("__keel__/1").set({"n": 1}))
    refused("INVALID_ARGUMENT", lambda: client.document("__keel__/1").get())
    refused("INVALID_ARGUMENT", lambda: client.document("a/1").set({"n": [[1]]}))
    large = {"text": "x" * (1 << 20)}
    refused("INVALID_ARGUMENT", lambda: client.document("a/1").set(large))


@check
def the_past_is_read(client):
    collection = client.collection("past")
    before = collection.document("1").set({"n": 1}).update_time
    collection.document("1").set({"n": 2})
    collection.document("2").set({"n": 3})
    same(collection.document("1").get().get("n"), 2)
    same([found.get("n") for found in collection.stream(read_time=before)], [1])
    found = client.get_all([collection.document("1"), collection.document("2")], read_time=before)
    same(sorted((snapshot.id, snapshot.exists) for snapshot in found), [("1", True), ("2", False)])
    same(collection.count().get(read_time=before)[0][0].value, 1)
    same([found.id for found in collection.list_documents(read_time=before)], ["1"])
    now = collection.document("2").get().read_time
    collection.document("2").delete()
    same(sorted(found.id for found in collection.stream(read_time=now)), ["1", "2"])


@check
def queries_are_explained(client):
    collection = fill(client, "explained")
    query = collection.where(filter=FieldFilter("parity", "==", "odd"))
    found = query.get(explain_options=ExplainOptions(analyze=True))
    metrics = found.get_explain_metrics()
    same(metrics.execution_stats.results_returned, 5)
    same(metrics.execution_stats.debug_stats["documents_scanned"], "10")
    same(metrics.plan_summary.indexes_used[0]["query_scope"], "Collection")
    planned = query.get(explain_options=ExplainOptions(analyze=False))
    same(len(list(planned)), 0)
    same(len(planned.get_explain_metrics().plan_summary.indexes_used), 1)


@check
def a_group_is_divided(client):
    for start in range(0, 600, 300):
        batch = client.batch()
        for number in range(start, start + 300):
            batch.set(client.document(f"halls/{number % 7}/seats/{number:03}"), {"n": number})
        batch.commit()
    group = client.collection_group("seats")
    parts = list(group.get_partitions(3))
    same(len(parts), 4)
    counts = [len(list(part.query().stream())) for part in parts]
    same(sum(counts), 600)
    expect(max(counts) - min(counts) <= 1, "an equal share")


if OVER_GRPC:
    listener_checks.add_to(check, same, refused)


def main():
    client = connect(sys.argv[1])
    failures = 0
    for function in CHECKS:
        name = function.__name__.replace("_", " ")
        try:
            function(client)
            print(f"PASS {name}", flush=True)
        except Exception as error:
            failures += 1
            print(f"FAIL {name}: {type(error).__name__}: {error}", flush=True)
            traceback.print_exc()
    print(f"{len(CHECKS) - failures} of {len(CHECKS)} passed", flush=True)
    sys.exit(1 if failures else 0)


main()
