"""Does with tink, argon2-cffi and cryptography what Keel's tests ask for.

Reads a list of tasks from the file named first, and writes a list of answers to the second.
"""

import base64
import hashlib
import io
import json
import os
import subprocess
import sys

import argon2
import tink
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from tink import aead, hybrid, json_proto_keyset_format, proto_keyset_format, secret_key_access
from tink import streaming_aead
from tink.proto import common_pb2

aead.register()
hybrid.register()
streaming_aead.register()

TOKEN = secret_key_access.TOKEN


def data(text):
    return base64.b64decode(text)


def handle_of(task):
    if "encrypted" in task:
        key = kek(task)
        text = data(task["encrypted"])
        context = data(task.get("keyContext", ""))
        if task.get("format") == "binary":
            return proto_keyset_format.parse_encrypted(text, key, context)
        return json_proto_keyset_format.parse_encrypted(text.decode(), key, context)
    text = data(task["keyset"])
    if task.get("format") == "binary":
        return proto_keyset_format.parse(text, TOKEN)
    return json_proto_keyset_format.parse(text.decode(), TOKEN)


def kek(task):
    return json_proto_keyset_format.parse(data(task["kek"]).decode(), TOKEN).primitive(aead.Aead)


def template(name):
    if name == "AES256_GCM_HKDF_64KB":
        # Tink names only the two others.
        module = streaming_aead.streaming_aead_key_templates
        make = module.create_aes_gcm_hkdf_streaming_key_template
        return make(32, common_pb2.HashType.SHA256, 32, 65536)
    modules = (
        aead.aead_key_templates,
        hybrid.hybrid_key_templates,
        streaming_aead.streaming_aead_key_templates,
    )
    for module in modules:
        if hasattr(module, name):
            return getattr(module, name)
    raise ValueError(name)


def perform(task):
    what = task["do"]
    if what == "encrypt":
        primitive = handle_of(task).primitive(aead.Aead)
        return primitive.encrypt(data(task["data"]), data(task["context"]))
    if what == "decrypt":
        primitive = handle_of(task).primitive(aead.Aead)
        return primitive.decrypt(data(task["data"]), data(task["context"]))
    # Tink in Python has no keys of this type, only those with longer nonces.
    if what == "chachaEncrypt":
        nonce = os.urandom(12)
        cipher = ChaCha20Poly1305(data(task["key"]))
        return nonce + cipher.encrypt(nonce, data(task["data"]), data(task["context"]))
    if what == "chachaDecrypt":
        cipher = ChaCha20Poly1305(data(task["key"]))
        sealed = data(task["data"])
        return cipher.decrypt(sealed[:12], sealed[12:], data(task["context"]))
    if what == "make":
        handle = tink.new_keyset_handle(template(task["template"]))
        if task.get("format") == "binary":
            return proto_keyset_format.serialize(handle, TOKEN)
        return json_proto_keyset_format.serialize(handle, TOKEN).encode()
    if what == "hybridEncrypt":
        primitive = handle_of(task).primitive(hybrid.HybridEncrypt)
        return primitive.encrypt(data(task["data"]), data(task["context"]))
    if what == "hybridDecrypt":
        primitive = handle_of(task).primitive(hybrid.HybridDecrypt)
        return primitive.decrypt(data(task["data"]), data(task["context"]))
    if what == "publicKeyset":
        public = handle_of(task).public_keyset_handle()
        return json_proto_keyset_format.serialize_without_secret(public).encode()
    if what == "encryptKeyset":
        handle = handle_of(task)
        context = data(task.get("keyContext", ""))
        if task["output"] == "binary":
            return proto_keyset_format.serialize_encrypted(handle, kek(task), context)
        return json_proto_keyset_format.serialize_encrypted(handle, kek(task), context).encode()
    if what == "encryptStream":
        primitive = handle_of(task).primitive(streaming_aead.StreamingAead)
        target = io.BytesIO()
        keep = target.close
        target.close = lambda: None
        with primitive.new_encrypting_stream(target, data(task["context"])) as stream:
            stream.write(data(task["data"]))
        value = target.getvalue()
        keep()
        return value
    if what == "decryptStream":
        primitive = handle_of(task).primitive(streaming_aead.StreamingAead)
        source = io.BytesIO(data(task["data"]))
        with primitive.new_decrypting_stream(source, data(task["context"])) as stream:
            return stream.read()
    if what == "argon2":
        hasher = argon2.PasswordHasher(
            time_cost=int(task["t"]),
            memory_cost=int(task["m"]),
            parallelism=int(task["p"]),
            hash_len=int(task["length"]),
            salt_len=int(task["salt"]),
            type=argon2.Type[task.get("type", "ID")],
        )
        return hasher.hash(data(task["password"])).encode()
    if what == "argon2Tool":
        # The reference implementation's own program, which takes the password from its input.
        costs = ["-t", task["t"], "-k", task["m"], "-p", task["p"], "-l", task["length"]]
        call = ["argon2", task["salt"], {"ID": "-id", "I": "-i", "D": "-d"}[task["type"]], *costs]
        done = subprocess.run(
            [*call, "-v", "13", "-e"], input=data(task["password"]), capture_output=True, check=True
        )
        return done.stdout.strip()
    if what == "scrypt":
        salt = data(task["salt"])
        cost, size, lanes = int(task["ln"]), int(task["r"]), int(task["p"])
        value = hashlib.scrypt(
            data(task["password"]), salt=salt, n=1 << cost, r=size, p=lanes, dklen=32
        )
        texts = [base64.b64encode(part).decode().rstrip("=") for part in (salt, value)]
        return f"$scrypt$ln={cost},r={size},p={lanes}${texts[0]}${texts[1]}".encode()
    if what == "argon2Verify":
        argon2.PasswordHasher().verify(data(task["hash"]).decode(), data(task["password"]))
        return b"verified"
    if what in ("oaepEncrypt", "oaepDecrypt"):
        key = serialization.load_pem_private_key(
            data(task["pem"]), None, unsafe_skip_rsa_key_validation=True
        )
        oaep = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
        if what == "oaepEncrypt":
            return key.public_key().encrypt(data(task["data"]), oaep)
        return key.decrypt(data(task["data"]), oaep)
    if what == "makePEM":
        ed25519_key = ed25519.Ed25519PrivateKey.generate
        p256_key = lambda: ec.generate_private_key(ec.SECP256R1())
        key = ed25519_key() if task["kind"] == "ed25519" else p256_key()
        return key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    if what in ("sign", "verify"):
        extra = []
        if "pem" in task:
            key = serialization.load_pem_private_key(data(task["pem"]), None)
        elif task["kind"] == "ed25519":
            key = ed25519.Ed25519PrivateKey.from_private_bytes(data(task["key"]))
        else:
            key = ec.derive_private_key(int.from_bytes(data(task["key"]), "big"), ec.SECP256R1())
        if task["kind"] != "ed25519":
            extra = [ec.ECDSA(hashes.SHA256())]
        if what == "sign":
            return key.sign(data(task["data"]), *extra)
        key.public_key().verify(data(task["signature"]), data(task["data"]), *extra)
        return b"verified"
    raise ValueError(what)


def answer(task):
    try:
        return {"ok": base64.b64encode(perform(task)).decode()}
    except Exception as error:  # What fails is an answer as well.
        return {"error": type(error).__name__ + ": " + str(error)}


with open(sys.argv[1]) as source:
    tasks = json.load(source)
with open(sys.argv[2], "w") as target:
    json.dump([answer(task) for task in tasks], target)
