#if Crypto
package import Foundation
internal import KeelSecrets
public import KeelSecurity
internal import KeelSecuritySecrets

extension KeelConfiguration {
    /// Creates a service that encrypts with the app's keyset.
    ///
    /// The keyset is a file in the ``keys`` folder, encrypted with a key in the app's secrets. Both are created on
    /// first use and shared by all processes of the app. In memory, as in tests, keys are temporary.
    ///
    /// The first call that needs the keys opens them; to open them earlier, call `try await security.prepare()`. If
    /// they cannot be opened, each call throws; no other keyset is created.
    ///
    /// On Linux, the platform may have no secret store, for example on a server. With
    /// ``SecretLocation/platform(service:)``, the key is then in an encrypted file, whose own key is a file with mode
    /// 0600 in `$XDG_CONFIG_HOME` or `~/.config`; the choice between the stores is made once. Anyone who can read the
    /// user's files can then decrypt the data; to avoid that, use ``SecretLocation/file(_:_:service:)``.
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
                "no store for the keyset's key is available: \(error.message)",
                cause: error
            )
            return SecurityService(opening: { () async throws(SecurityError) in throw failure })
        }
    }

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
        return try store(on: PlatformSecretStoreAdapter(fallback: file), service)
        #else
        return try makeSecrets()
        #endif
    }

    /// The user's configuration folder (XDG Base Directory Specification).
    private static var settingsFolder: URL {
        let named = ProcessInfo.processInfo.environment["XDG_CONFIG_HOME"]
        // The specification says to ignore relative paths.
        if let named, named.hasPrefix("/") { return URL(filePath: named) }
        return URL.homeDirectory.appending(path: ".config")
    }
}
#endif
