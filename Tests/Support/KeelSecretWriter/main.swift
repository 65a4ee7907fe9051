// Saves secrets until it is killed, saves a number of them, or prints the answers of a Secret Service; see
// SecretFileKillTests and SecretServiceStateTests.

import Foundation
import KeelSecrets

let arguments = CommandLine.arguments

func fail(_ text: String) -> Never {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    exit(2)
}

#if Crypto
/// Saves `prefix-0`, `prefix-1` … and prints each number once its secret is saved.
func write(_ folder: String, _ prefix: String, _ count: Int) async throws {
    let source = KeyFileSource(path: folder + "/key")
    let adapter = EncryptedFileSecretStoreAdapter(folder: folder + "/store", key: .source(source))
    let store = try SecretStore(adapter, service: "test")
    for number in 0..<count {
        // The counter is one key that is replaced; the other keys are added.
        try await store.save("\(number)", forKey: prefix)
        if number % 8 == 0 { try await store.save("x", forKey: "\(prefix)-\(number)") }
        FileHandle.standardOutput.write(Data("\(number)\n".utf8))
    }
}
#endif

#if os(Linux)
/// Prints the error code of a call of the Secret Service, or "none", and its duration in milliseconds.
func probe(_ library: String?) async {
    let clock = ContinuousClock()
    let start = clock.now
    let adapter =
        library.map { SecretServiceSecretStoreAdapter(library: $0) }
        ?? SecretServiceSecretStoreAdapter()
    var code = "none"
    do throws(SecretError) {
        _ = try await adapter.replace(
            SecretName(service: "test", account: "A"),
            with: [1, 0, 2],
            expecting: .anything
        )
    } catch {
        code = error.code.name
    }
    let capabilities = await adapter.capabilities()
    print(code, (clock.now - start) / .milliseconds(1), capabilities.problem?.name ?? "none")
}
#endif

/// Prints the default store, or the code and the message of the error.
func printDefault(_ folder: String?) async {
    do throws(SecretError) {
        #if Crypto
        let file = folder.map { folder in
            EncryptedFileSecretStoreAdapter(
                folder: folder,
                key: .source(KeyFileSource(path: folder + ".key"))
            )
        }
        let store = try await SecretStore.platformDefault(service: "test", fallback: file)
        #else
        let store = try await SecretStore.platformDefault(service: "test")
        #endif
        print(await store.capabilities().kind)
    } catch {
        print(error)
    }
}

switch arguments.dropFirst().first {
#if Crypto
case "write" where arguments.count == 5:
    try await write(arguments[2], arguments[3], Int(arguments[4]) ?? .max)
#endif
#if os(Linux)
case "probe":
    await probe(arguments.dropFirst(2).first)
#endif
case "default": await printDefault(arguments.dropFirst(2).first)
default:
    fail("usage: KeelSecretWriter write <folder> <prefix> <count>|probe [library]|default [folder]")
}
