// Encrypts or decrypts with a keyset that is created on first use; see KeptKeysetTests of KeelSecuritySecrets.

import Foundation
import KeelSecrets
import KeelSecurity
import KeelSecuritySecrets

#if Crypto
func security(in folder: String) throws -> SecurityService {
    let adapter = EncryptedFileSecretStoreAdapter(
        folder: folder + "/secrets",
        key: .source(KeyFileSource(path: folder + "/key"))
    )
    return SecurityService(
        keysetAt: URL(filePath: folder).appending(path: "keys").appending(path: "keyset.json"),
        under: try SecretStore(adapter, service: "test")
    )
}

let arguments = Array(CommandLine.arguments.dropFirst())
switch (arguments.first, arguments.count) {
case ("encrypt", 3):
    let sealed = try security(in: arguments[1]).encrypt(Data(arguments[2].utf8))
    print(sealed.base64EncodedString())
case ("decrypt", 3):
    let sealed = Data(base64Encoded: arguments[2]) ?? Data()
    print(String(decoding: try security(in: arguments[1]).decrypt(sealed), as: UTF8.self))
default:
    print("usage: KeelKeysetProgram encrypt|decrypt <folder> <text>")
    exit(2)
}
#endif
