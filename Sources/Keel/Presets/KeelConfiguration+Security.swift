#if Crypto
package import Foundation
internal import KeelSecrets
public import KeelSecurity
internal import KeelSecuritySecrets

extension KeelConfiguration {
    /// Makes a service that encrypts with the app's keyset.
    ///
    /// The keyset is in a file in the folder that ``keys`` names, under a key in the app's secrets.
    /// Both are made at the first use, once for all processes of the app, and are there after a
    /// restart: what one process encrypts, another one decrypts. In memory, as in tests and previews,
    /// the keys end with the service.
    ///
    /// The first call that needs the keys opens them; `try await security.prepare()` does so before.
    /// Where they cannot be opened, each call throws what is wrong, and no other keyset is made.
    ///
    /// On Linux there may be no platform's store of secrets, as on a server. For
    /// ``SecretLocation/platform(service:)`` the key is in an encrypted file then, whose own key is a
    /// file with the mode 0600 in the user's folder for settings (`~/.config`); which of both stores
    /// has it is decided once. Who can read the user's files can decrypt then: name a store with
    /// ``SecretLocation/file(_:_:service:)`` where that is not enough.
    ///
    /// - Returns: The service.
    public func makeSecurity() -> SecurityService {
        makeSecurity(keyFiles: Self.settingsFolder)
    }

    package func makeSecurity(keyFiles: URL) -> SecurityService {
        let service = keyedService(keyFiles)
        guard let observer else { return service }
        return service.observed { observer(KeelObservation($0)) }
    }

    private func keyedService(_ keyFiles: URL) -> SecurityService {
        guard let folder = keys.folder("Keys") else {
            return SecurityService(opening: { () async throws(SecurityError) in
                KeyRing(try Keyset.make(.aes256GCM))
            })
        }
        do throws(SecretError) {
            return SecurityService(
                keysetAt: folder.appending(path: "keyset.json"),
                under: try keySecrets(folder, keyFiles)
            )
        } catch {
            let failure = SecurityError(
                .keyStoreFailed,
                "there is no store for the key of the keyset: \(error.message)",
                cause: error
            )
            return SecurityService(opening: { () async throws(SecurityError) in throw failure })
        }
    }

    /// The secrets that have the key of the keyset.
    private func keySecrets(_ folder: URL, _ keyFiles: URL) throws(SecretError) -> SecretStore {
        #if os(Linux)
        guard case .platform(let service) = secrets else { return try makeSecrets() }
        let name = service.replacing("/", with: "-")
        let file = EncryptedFileSecretStoreAdapter(
            folder: folder.appending(path: "Secrets").path(percentEncoded: false),
            key: .source(
                KeyFileSource(
                    path: keyFiles.appending(path: name).appending(path: "keel.key")
                        .path(percentEncoded: false)
                )
            )
        )
        return try store(on: PlatformSecretStoreAdapter(orElse: file), service)
        #else
        return try makeSecrets()
        #endif
    }

    /// The user's folder for settings (XDG Base Directory Specification).
    private static var settingsFolder: URL {
        let named = ProcessInfo.processInfo.environment["XDG_CONFIG_HOME"]
        // A relative path in the variable is to be ignored.
        if let named, named.hasPrefix("/") { return URL(filePath: named) }
        return URL.homeDirectory.appending(path: ".config")
    }
}
#endif
