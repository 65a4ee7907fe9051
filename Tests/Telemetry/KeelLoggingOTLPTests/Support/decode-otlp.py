#!/usr/bin/env python3
"""Prints what opentelemetry-proto understands of an ExportLogsServiceRequest, one record a line.

    decode-otlp.py protobuf|json FILE

The file may be compressed with gzip. Needs the package opentelemetry-proto.
"""

import base64
import gzip
import json
import pathlib
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

data = pathlib.Path(sys.argv[2]).read_bytes()
if data[:2] == b"\x1f\x8b":
    data = gzip.decompress(data)
if sys.argv[1] == "protobuf":
    request = ExportLogsServiceRequest.FromString(data)
    # What is not a field of the schema would be kept as unknown.
    canonical = ExportLogsServiceRequest.FromString(data)
    canonical.DiscardUnknownFields()
    assert canonical.SerializeToString(deterministic=True) == request.SerializeToString(
        deterministic=True
    ), "unknown fields"
else:
    parsed = json.loads(data)
    # OTLP has these identifiers in hexadecimal, other JSON of Protocol Buffers in base64.
    for logs in parsed["resourceLogs"]:
        for scope in logs["scopeLogs"]:
            for record in scope["logRecords"]:
                for name in ("traceId", "spanId"):
                    if name in record:
                        record[name] = base64.b64encode(bytes.fromhex(record[name])).decode()
    request = json_format.ParseDict(parsed, ExportLogsServiceRequest())


def plain(value):
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [plain(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return attributes(value.kvlist_value.values)
    return getattr(value, kind) if kind else None


def attributes(pairs):
    return {pair.key: plain(pair.value) for pair in pairs}


for logs in request.resource_logs:
    for scope in logs.scope_logs:
        for record in scope.log_records:
            fields = attributes(record.attributes)
            assert fields["log.record.uid"][14] == "7", "no UUID of version 7"
            del fields["log.record.uid"], fields["code.line.number"]
            print(
                json.dumps(
                    {
                        "resource": attributes(logs.resource.attributes),
                        "scope": scope.scope.name,
                        "time": record.time_unix_nano,
                        "observed": record.observed_time_unix_nano,
                        "number": record.severity_number,
                        "severity": record.severity_text,
                        "body": plain(record.body),
                        "attributes": fields,
                        "trace": record.trace_id.hex(),
                        "span": record.span_id.hex(),
                    },
                    sort_keys=True,
                    separators=(",", ":"),
                    ensure_ascii=False,
                )
            )
