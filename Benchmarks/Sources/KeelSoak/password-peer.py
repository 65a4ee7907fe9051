"""Hashes and verifies passwords for keel-soak.

    password-peer.py verify|library|program PAIRS MEMORY PASSES LANES

PAIRS is a file of JSON: a password and a hash, or a number for the salt. Prints a line for each.
"""

import json
import subprocess
import sys

import argon2

what, file, memory, passes, lanes = sys.argv[1:]
hasher = argon2.PasswordHasher(
    time_cost=int(passes), memory_cost=int(memory), parallelism=int(lanes), hash_len=32
)


def verifies(password, encoded):
    try:
        return hasher.verify(encoded, password)
    except argon2.exceptions.VerifyMismatchError:
        return False


with open(file) as source:
    pairs = json.load(source)
for password, other in pairs:
    if what == "verify":
        print(verifies(password, other), verifies(password + "x", other))
    elif what == "library":
        print(hasher.hash(password))
    else:
        salt = f"a salt for {other:>05}"
        call = ["argon2", salt, "-id", "-t", passes, "-k", memory, "-p", lanes, "-l", "32"]
        done = subprocess.run(
            [*call, "-v", "13", "-e"], input=password.encode(), capture_output=True, check=True
        )
        print(done.stdout.decode().strip())
