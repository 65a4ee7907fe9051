"""Reads and writes an item of the Secret Service's default collection with PyPI's SecretStorage.

    secret-storage-peer.py get SERVICE ACCOUNT
    secret-storage-peer.py set SERVICE ACCOUNT SECRET
"""

import sys

import secretstorage

names = {"service": sys.argv[2], "account": sys.argv[3]}
collection = secretstorage.get_default_collection(secretstorage.dbus_init())
if sys.argv[1] == "get":
    items = list(collection.search_items(names))
    if len(items) != 1:
        sys.exit(f"there are {len(items)} items")
    sys.stdout.buffer.write(items[0].get_secret())
else:
    collection.create_item("a test", names, sys.argv[4].encode(), replace=True)
