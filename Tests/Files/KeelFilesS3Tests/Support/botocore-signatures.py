"""Signs requests with botocore: botocore-signatures.py CASES ANSWERS."""

import datetime
import json
import sys
from unittest import mock
from urllib.parse import parse_qs, urlsplit

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials


def request(case, body):
    url = "%s://%s%s" % (case["scheme"], case["authority"], case["path"])
    made = AWSRequest(method=case["method"], url=url, data=body)
    for name, value in case["fields"]:
        made.headers[name] = value
    return made


def answer(case):
    now = datetime.datetime.fromtimestamp(case["seconds"], datetime.timezone.utc)
    credentials = Credentials(
        "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", case.get("token")
    )
    with mock.patch.object(botocore.auth, "get_current_datetime", lambda *_, **__: now):
        signer = botocore.auth.S3SigV4Auth(credentials, "s3", case["region"])
        signed = request(case, (case.get("body") or "").encode())
        hashes = case.get("body") is not None
        with mock.patch.object(signer, "_should_sha256_sign_payload", lambda _: hashes):
            signer.add_auth(signed)
        query = botocore.auth.S3SigV4QueryAuth(
            credentials, "s3", case["region"], expires=case["expires"]
        )
        # A body would be taken for more of the query.
        presigned = request(case, b"")
        query.add_auth(presigned)
    items = parse_qs(urlsplit(presigned.url).query)
    return {
        "authorization": signed.headers["Authorization"],
        "signature": items["X-Amz-Signature"][0],
    }


with open(sys.argv[1], encoding="utf-8") as cases:
    answers = [answer(case) for case in json.load(cases)]
with open(sys.argv[2], "w", encoding="utf-8") as out:
    json.dump(answers, out)
