#if Crypto
package import KeelCore
public import KeelSecrets
public import KeelSecurity

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension SecurityService {
    /// Creates a service with a keyset file that is encrypted with the secret named `key`, creating both on first use;
    /// the algorithm applies to a new file.
    ///
    /// ```swift
    /// let security = SecurityService(keysetAt: folder.appending(path: "keys.json"), under: secrets)
    /// let sealed = try security.encrypt(note)  // and another process decrypts it
    /// ```
    ///
    /// If several tasks or processes start at the same time, one creates the keys and all use them. If the file exists
    /// but the store cannot be read or no longer has the key, each call throws: a new keyset never replaces the file.
    public init(
        keysetAt url: URL,
        under secrets: SecretStore,
        key: String = "keyset-key",
        creating algorithm: KeyAlgorithm = .aes256GCM
    ) {
        let file = KeptKeyset(
            path: url.path(percentEncoded: false),
            secrets: secrets,
            key: key,
            algorithm: algorithm
        )
        self.init(opening: { () async throws(SecurityError) in try await file.ring() })
    }
}

/// A keyset in a file, encrypted under a key in a secret store.
package struct KeptKeyset: Sendable {
    private let path: String
    private let secrets: SecretStore
    private let key: String
    private let algorithm: KeyAlgorithm
    private let files: any FileSystem
    private let clock: any Clock<Duration>

    /// The number of attempts to lock the file while another process creates the keys.
    private static let patience = 2_000
    private static let pause = Duration.milliseconds(5)

    package init(
        path: String,
        secrets: SecretStore,
        key: String,
        algorithm: KeyAlgorithm = .aes256GCM,
        files: any FileSystem = DiskFileSystem(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.path = path
        self.secrets = secrets
        self.key = key
        self.algorithm = algorithm
        self.files = files
        self.clock = clock
    }

    /// Opens the keyset, creating it if it is missing.
    package func ring() async throws(SecurityError) -> KeyRing {
        if try isThere() { return try await found() }
        // The secret store may not compare across processes: two keys could be created, and the file could be encrypted
        // under the lost one.
        let lock = try await lock()
        defer { withExtendedLifetime(lock) {} }
        if try isThere() { return try await found() }
        do throws(SecurityError) {
            return try await file(createsIfMissing: true).ring(creating: algorithm)
        } catch {
            throw unusable(error, "could not be created")
        }
    }

    private func found() async throws(SecurityError) -> KeyRing {
        do throws(SecurityError) {
            return try await file(createsIfMissing: false).ring()
        } catch {
            throw unusable(error, "cannot be opened")
        }
    }

    private func file(createsIfMissing: Bool) -> KeysetFile {
        let source = SecretStoreKeySource(secrets, key: key, createsIfMissing: createsIfMissing)
        return KeysetFile(at: path, under: source, files: files)
    }

    private func isThere() throws(SecurityError) -> Bool {
        do throws(FileSystemError) {
            return try files.size(of: path) != nil
        } catch {
            throw SecurityError(.keyStoreFailed, "the keyset could not be read", cause: error)
        }
    }

    private func lock() async throws(SecurityError) -> any FileLock {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        for _ in 0..<Self.patience {
            do throws(FileSystemError) {
                if !folder.isEmpty { try files.makeFolder(folder) }
                return try files.lock(path + ".making")
            } catch {
                guard error.kind == .busy else {
                    throw SecurityError(
                        .keyStoreFailed,
                        "the folder of the keyset cannot be used: \(error)",
                        cause: error
                    )
                }
            }
            do {
                try await clock.sleep(for: Self.pause)
            } catch {
                throw SecurityError(.cancelled, "the call was canceled", cause: error)
            }
        }
        throw SecurityError(.keyStoreFailed, "another process has locked the keyset")
    }

    private func unusable(_ error: SecurityError, _ what: String) -> SecurityError {
        guard error.code != .cancelled else { return error }
        return SecurityError(
            error.code,
            """
            the keyset \(path) \(what): \(error.message). Its key is the secret “\(key)” of \
            \(secrets.service): unlock that store or restore it, and call again. No other keyset \
            is created in its place; delete the file only to give up what was encrypted with it
            """,
            cause: error.cause ?? error
        )
    }
}
#endif
