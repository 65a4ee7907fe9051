#if Crypto
public import KeelCore

/// A key in a file with mode 0600, which is created on first use.
///
/// A file of a user other than this one and root is refused with `permissionDenied`, as is one that other users can
/// access.
///
/// Keep the file on another disk than the data that its key encrypts, or exclude it from backups: anyone with both has
/// the secrets. A lost file is replaced by a new key, which does not decrypt older data;
/// `EncryptedFileSecretStoreAdapter` then throws `wrongKey` and leaves its file unchanged.
public struct KeyFileSource: KeyEncryptionKeySource {
    private let path: String
    private let createsIfMissing: Bool
    private let files: any FileSystem

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - path: The absolute path of the file.
    ///   - createsIfMissing: Whether a missing file is created, with a random key.
    public init(path: String, createsIfMissing: Bool = true) {
        self.init(path: path, createsIfMissing: createsIfMissing, files: DiskFileSystem())
    }

    package init(path: String, createsIfMissing: Bool = true, files: any FileSystem) {
        self.path = path
        self.createsIfMissing = createsIfMissing
        self.files = files
    }

    public func keyEncryptionKey() async throws -> KeyEncryptionKey {
        if let key = try existing() { return key }
        guard createsIfMissing else {
            throw SecretError(.missingKey, "The key file \(path) does not exist.")
        }
        do throws(FileSystemError) {
            try make()
        } catch {
            throw SecretError(error, otherwise: .missingKey)
        }
        guard let key = try existing() else {
            throw SecretError(
                .missingKey,
                "The key file \(path) disappeared while it was being created."
            )
        }
        return key
    }

    private func existing() throws(SecretError) -> KeyEncryptionKey? {
        let limit = 1_024
        let bytes: [UInt8]?
        if files is DiskFileSystem {
            bytes = try PrivateFile.bytes(path, upTo: limit)
        } else {
            // The simulated disk of tests has no owners and modes.
            bytes = try simulated(upTo: limit)
        }
        return try bytes.map { bytes throws(SecretError) in
            try KeyText.key(bytes, from: "The key file \(path)")
        }
    }

    private func simulated(upTo limit: Int) throws(SecretError) -> [UInt8]? {
        do throws(FileSystemError) {
            return try files.contents(of: path, upTo: limit)
        } catch {
            throw SecretError(error, otherwise: .missingKey)
        }
    }

    private func make() throws(FileSystemError) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        if !folder.isEmpty { try files.makeFolder(folder) }
        let lock = try files.lock(path + ".lock", waitingUpTo: 10_000)
        defer { withExtendedLifetime(lock) {} }
        // Another process may have created the file in the meantime.
        guard try files.size(of: path) == nil else { return }
        let key = SecretFileCipher.randomBytes(KeyEncryptionKey.byteCount)
        try files.replaceFile(path, by: path + ".new", with: key)
        try files.syncFolder(folder.isEmpty ? "/" : folder)
    }
}
#endif
