#!/usr/bin/env python3
"""Measures boto3: seconds of one transfer, with the settings that Keel has.

    files-peer.py put|put-and-head|get ENDPOINT KEY SECRET BUCKET SOURCE TARGET
"""

import sys
import time

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config

action, endpoint, key, secret, bucket, source, target = sys.argv[1:]
client = boto3.client(
    "s3",
    endpoint_url=endpoint,
    region_name="us-east-1",
    aws_access_key_id=key,
    aws_secret_access_key=secret,
    config=Config(
        s3={"addressing_style": "path"},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    ),
)
settings = TransferConfig(
    multipart_threshold=8 << 20, multipart_chunksize=8 << 20, max_concurrency=4
)
if action == "get":
    client.upload_file(source, bucket, "boto3", Config=settings)
# The connection is opened before the clock starts, as for Keel.
client.list_objects_v2(Bucket=bucket, MaxKeys=1)
start = time.perf_counter()
if action.startswith("put"):
    client.upload_file(source, bucket, "boto3", Config=settings)
    if action == "put-and-head":
        client.head_object(Bucket=bucket, Key="boto3")
else:
    client.download_file(bucket, "boto3", target, Config=settings)
print(time.perf_counter() - start)
