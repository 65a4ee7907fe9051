"""Starts an S3 server on a free loopback port, and ends with its standard input.

    s3-peer.py moto                 moto, which looks at no signature
    s3-peer.py moto-signed          moto, which verifies every signature
    s3-peer.py rclone FOLDER        rclone, which keeps the objects in a folder, and verifies them too

Prints a line once it answers: the port, the id of the access key, and its secret. The bucket
"keel-tests" is there.
"""

import json
import logging
import os
import socket
import subprocess
import sys
import threading
import time

BUCKET = "keel-tests"


def moto(signed):
    if signed:
        # The calls that make the user are not verified; all after them are.
        os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "4"
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    sys.stderr = open(os.devnull, "w")
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication
    from moto.server import ThreadedMotoServer

    import boto3

    # moto compares If-Match and writes in two steps, and its threads can take turns between them. S3 does
    # both in one.
    answer, turn = DomainDispatcherApplication.__call__, threading.Lock()

    def answer_alone(*call):
        with turn:
            return answer(*call)

    DomainDispatcherApplication.__call__ = answer_alone

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    port = server.get_host_and_port()[1]
    keys = {
        "endpoint_url": "http://127.0.0.1:%d" % port,
        "region_name": "us-east-1",
        "aws_access_key_id": "AKIDEXAMPLE",
        "aws_secret_access_key": "a secret that nobody checks",
    }
    boto3.client("s3", **keys).create_bucket(Bucket=BUCKET)
    if not signed:
        return port, keys["aws_access_key_id"], keys["aws_secret_access_key"], server.stop
    iam = boto3.client("iam", **keys)
    iam.create_user(UserName="keel")
    key = iam.create_access_key(UserName="keel")["AccessKey"]
    everything = {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}],
    }
    iam.put_user_policy(
        UserName="keel", PolicyName="everything", PolicyDocument=json.dumps(everything)
    )
    return port, key["AccessKeyId"], key["SecretAccessKey"], server.stop


def rclone(folder):
    os.makedirs(os.path.join(folder, BUCKET), exist_ok=True)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    key, secret = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
    program = os.path.join(os.path.dirname(sys.executable), "rclone")
    process = subprocess.Popen(
        [program, "serve", "s3", "--addr", "127.0.0.1:%d" % port]
        + ["--auth-key", "%s,%s" % (key, secret), "--config", "", folder],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for _ in range(600):
        if process.poll() is not None:
            sys.exit("rclone ended with %d" % process.returncode)
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return port, key, secret, process.kill
        except OSError:
            time.sleep(0.05)
    process.kill()
    sys.exit("rclone does not answer")


def main():
    kind = sys.argv[1]
    out = sys.stdout
    if kind == "rclone":
        port, key, secret, stop = rclone(sys.argv[2])
    else:
        port, key, secret, stop = moto(kind == "moto-signed")
    try:
        print(port, key, secret, sep="\t", file=out, flush=True)
        sys.stdin.read()
    finally:
        stop()


main()
