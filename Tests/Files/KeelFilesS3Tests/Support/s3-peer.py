"""Starts an S3 server on a free loopback port, and ends with its standard input.

    s3-peer.py moto                 moto, which looks at no signature
    s3-peer.py moto-signed          moto, which verifies every signature
    s3-peer.py rclone FOLDER        rclone, which keeps the objects in a folder, and verifies them too
    s3-peer.py services             the services that give credentials, as far as AWS documents them

Prints a line once it answers: the port, the id of the access key, and its secret. The bucket
"keel-tests" is there.
"""

import collections
import http.server
import json
import logging
import os
import random
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

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


def free_port():
    """Below the ports that the system chooses itself: other tests would take one of those before rclone listens."""
    for port in random.sample(range(10_000, 30_000), 1_000):
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    sys.exit("there is no free port")


def rclone(folder):
    os.makedirs(os.path.join(folder, BUCKET), exist_ok=True)
    port = free_port()
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


EXPIRY = "2027-01-01T01:00:00Z"
XML = (
    '<%(action)sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%(action)sResult>'
    "<Credentials><AccessKeyId>%(id)s</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>"
    "<SessionToken>%(token)s</SessionToken><Expiration>%(expiry)s</Expiration></Credentials>"
    "</%(action)sResult></%(action)sResponse>"
)


class Services(http.server.BaseHTTPRequestHandler):
    """The metadata service, the container's endpoint, STS and single sign-on.

    The id of a key tells how it was asked for, and its token counts the replies of its kind.
    """

    protocol_version = "HTTP/1.1"
    counts = collections.Counter()
    lock = threading.Lock()

    def log_message(self, *args):
        pass

    def reply(self, status, body=""):
        data = body.encode()
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def count(self, name):
        with self.lock:
            self.counts[name] += 1
            return "%s-%d" % (name, self.counts[name])

    def document(self, name):
        return json.dumps(
            {
                "Code": "Success",
                "AccessKeyId": name.upper(),
                "SecretAccessKey": "secret",
                "Token": self.count(name),
                "Expiration": EXPIRY,
            }
        )

    def body(self):
        return self.rfile.read(int(self.headers.get("content-length", 0))).decode()

    def do_PUT(self):
        self.body()
        lifetime = self.headers.get("x-aws-ec2-metadata-token-ttl-seconds")
        known = self.path == "/latest/api/token" and lifetime == "21600"
        self.reply(200 if known else 400, "metadata token")

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        roles = "/latest/meta-data/iam/security-credentials/"
        if url.path.startswith(roles):
            if self.headers.get("x-aws-ec2-metadata-token") != "metadata token":
                return self.reply(401)
            return self.reply(200, self.document("instance") if url.path != roles else "role")
        if url.path == "/container":
            if self.headers.get("authorization") != "the token":
                return self.reply(403)
            return self.reply(200, self.document("container"))
        if url.path == "/federation/credentials":
            bearer = self.headers.get("x-amz-sso_bearer_token")
            if bearer not in ("valid", "renewed"):
                return self.reply(401)
            query = dict(urllib.parse.parse_qsl(url.query))
            values = {
                "accessKeyId": "SSO-%(account_id)s-%(role_name)s-" % query + bearer,
                "secretAccessKey": "secret",
                "sessionToken": self.count("sso"),
                "expiration": 1798765200000,
            }
            return self.reply(200, json.dumps({"roleCredentials": values}))
        self.reply(404)

    def do_POST(self):
        body = self.body()
        if self.path == "/token":
            values = json.loads(body)
            if values != {
                "clientId": "client",
                "clientSecret": "client secret",
                "grantType": "refresh_token",
                "refreshToken": "refresh",
            }:
                return self.reply(400)
            reply = {"accessToken": "renewed", "expiresIn": 3600, "refreshToken": "next"}
            return self.reply(200, json.dumps(reply))
        form = dict(urllib.parse.parse_qsl(body))
        action, signature = form.get("Action"), self.headers.get("authorization", "")
        signer = signature.partition("Credential=")[2].partition("/")[0]
        if action == "AssumeRoleWithWebIdentity":
            signer = form["WebIdentityToken"] if not signature else "signed"
        elif "/sts/aws4_request" not in signature or form.get("ExternalId", "77") != "77":
            error = "<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>"
            return self.reply(403, error)
        role = form["RoleArn"].rpartition("/")[2]
        values = {"action": action, "id": "%s-BY-%s" % (role, signer), "expiry": EXPIRY}
        self.reply(200, XML % dict(values, token=self.count("sts")))


def services():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Services)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port, "-", "-", server.shutdown


def main():
    kind = sys.argv[1]
    out = sys.stdout
    if kind == "rclone":
        port, key, secret, stop = rclone(sys.argv[2])
    elif kind == "services":
        port, key, secret, stop = services()
    else:
        port, key, secret, stop = moto(kind == "moto-signed")
    try:
        print(port, key, secret, sep="\t", file=out, flush=True)
        sys.stdin.read()
    finally:
        stop()


main()
