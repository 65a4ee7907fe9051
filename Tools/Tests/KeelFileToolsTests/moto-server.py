"""Starts moto on a free loopback port with two buckets, prints the port, and ends with its input."""

import logging
import os
import sys

import boto3
from moto.server import ThreadedMotoServer

logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
sys.stderr = open(os.devnull, "w")
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
port = server.get_host_and_port()[1]
client = boto3.client(
    "s3",
    endpoint_url="http://127.0.0.1:%d" % port,
    region_name="us-east-1",
    aws_access_key_id="AKIDEXAMPLE",
    aws_secret_access_key="example",
)
for bucket in ("first", "second"):
    client.create_bucket(Bucket=bucket)
print(port, flush=True)
sys.stdin.read()
server.stop()
