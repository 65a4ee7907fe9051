"""Starts moto on a free loopback port with two buckets, prints the port, and ends with its input.

Until something was sent to the key "go" of the same folder, a request for the second part of an upload
to the key "held" is never answered: whoever uploads there stands still, with one part done.
"""

import logging
import os
import sys
import threading

import boto3
from moto.moto_server.werkzeug_app import DomainDispatcherApplication
from moto.server import ThreadedMotoServer

released = set()
answer = DomainDispatcherApplication.__call__


def answer_or_hold(self, environ, start_response):
    folder, _, name = environ["PATH_INFO"].rpartition("/")
    is_second = "partNumber=2&" in environ["QUERY_STRING"] + "&"
    if name == "go":
        released.add(folder)
    if name == "held" and is_second and folder not in released:
        threading.Event().wait()
    return answer(self, environ, start_response)


DomainDispatcherApplication.__call__ = answer_or_hold
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
# A key that is no file path, beside one that is.
client.put_object(Bucket="second", Key="unnamed/a/", Body=b"12345")
client.put_object(Bucket="second", Key="unnamed/b", Body=b"1")
print(port, flush=True)
sys.stdin.read()
# Not by its own end, which would wait for what is held.
os._exit(0)
