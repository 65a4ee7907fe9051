"""A pytest plugin: clients of google-cloud-firestore talk REST to the server that KEEL_ADDRESS names.

The client itself is not changed; only the transport that it makes for itself is another one of
Google's own. An emulator's would be gRPC.
"""

import os

import google.auth
from google.auth.credentials import AnonymousCredentials
from google.cloud.firestore_v1.base_client import BaseClient
from google.cloud.firestore_v1.services.firestore.client import FirestoreClient
from google.cloud.firestore_v1.services.firestore.transports.rest import FirestoreRestTransport


def over_rest(client, transport, client_class, client_module):
    if client._firestore_api_internal is None:
        client._transport = FirestoreRestTransport(
            host=os.environ["KEEL_ADDRESS"], url_scheme="http", credentials=AnonymousCredentials()
        )
        client._firestore_api_internal = FirestoreClient(transport=client._transport)
    return client._firestore_api_internal


BaseClient._firestore_api_helper = over_rest

# Without an emulator, the tests ask for the credentials of a project at Google.
google.auth.default = lambda: (AnonymousCredentials(), os.environ["GCLOUD_PROJECT"])
