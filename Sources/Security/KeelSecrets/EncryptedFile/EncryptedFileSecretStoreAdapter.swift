#if Crypto
internal import Crypto
package import KeelCore

/// An adapter that keeps secrets in one file, which is encrypted and authenticated as a whole.
///
/// Each change atomically replaces the file, under a lock that other processes respect. After a crash, the file has the
/// old or the new secrets, and processes that save at the same time lose nothing. A new file has mode 0600. An older
/// copy in place of the file is not detected.
///
/// Documentation/Protocols/SecretFile.md describes the format.
public actor EncryptedFileSecretStoreAdapter: SecretStoreAdapter {
    /// The name of the file in its folder.
    public static let fileName = "secrets.keel"
    private static let newFileName = "secrets.new"
    private static let lockName = "secrets.lock"

    private nonisolated let folder: String
    private var key: SecretFileKey
    private var changes = 0
    /// Whether the last change of this adapter was synchronized.
    private var isDurable = true
    private nonisolated let files: any FileSystem
    private let lockMilliseconds: Int
    /// The key last derived from a passphrase: deriving it takes a tenth of a second.
    private var remembered: (kind: SecretFileHeader.KeyKind, key: SymmetricKey)?

    /// Creates an adapter; the first secret creates the folder and the file.
    ///
    /// - Parameters:
    ///   - folder: The path of a dedicated folder for the file.
    ///   - key: The key of the file.
    public init(folder: String, key: SecretFileKey) {
        self.init(folder: folder, key: key, files: DiskFileSystem())
    }

    package init(
        folder: String,
        key: SecretFileKey,
        files: any FileSystem,
        lockMilliseconds: Int = 10_000
    ) {
        self.folder = folder
        self.key = key
        self.files = files
        self.lockMilliseconds = lockMilliseconds
    }

    /// The record of the store that has the secrets: this file or another store.
    nonisolated var choice: StoreSelectionRecord {
        StoreSelectionRecord(folder: folder, files: files)
    }

    public func capabilities() async -> SecretStoreCapabilities {
        var capabilities = SecretStoreCapabilities(
            kind: .encryptedFile,
            features: [.writable, .persistent, .comparesAcrossProcesses]
        )
        do throws(SecretError) {
            _ = try contents(with: try await sourceKey())
        } catch {
            capabilities.problem = error.code
        }
        return capabilities
    }

    public func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? {
        // Reading needs no lock: the path refers to the old or the new file, each of them complete.
        try contents(with: try await sourceKey()).secrets[name]
    }

    public func accounts(of service: String) async throws(SecretError) -> [String] {
        try contents(with: try await sourceKey()).secrets.keys
            .filter { $0.service.utf8.elementsEqual(service.utf8) }
            .map(\.account)
    }

    /// Returns the services that have secrets in the file, in ascending order.
    ///
    /// - Returns: The services; empty if the file does not exist.
    /// - Throws: ``SecretError`` if the file cannot be opened.
    public func services() async throws(SecretError) -> [String] {
        let names = try contents(with: try await sourceKey()).secrets.keys.sorted()
        return names.reduce(into: []) { services, name in
            let isKnown = services.last.map { $0.utf8.elementsEqual(name.service.utf8) }
            if isKnown != true { services.append(name.service) }
        }
    }

    public func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool {
        // The key comes first, because nothing may be awaited while the lock is held. Its holder is then always
        // running, and a thread that blocks on the lock waits only for a few file operations.
        let key = try await sourceKey()
        let lock = try locked()
        defer { withExtendedLifetime(lock) {} }
        var contents = try contents(with: key)
        let stored = contents.secrets[name]
        guard expectation.holds(for: stored) else { return false }
        if stored == bytes, isDurable { return true }
        contents.secrets[name] = bytes
        try write(contents, with: key)
        return true
    }

    /// Encrypts the same secrets under another key.
    ///
    /// This adapter continues with the new key. Other adapters have to be recreated, and throw `wrongKey` until then.
    /// The old key still decrypts copies of the old file: after a leak, change the secrets as well.
    ///
    /// - Throws: ``SecretError``. The file is then unchanged, or under the new key if only synchronizing its folder
    ///   failed; this adapter continues with the key that applies.
    public func rekey(to next: SecretFileKey) async throws(SecretError) {
        let nextSource = try await Self.sourceKey(of: next)
        let source = try await sourceKey()
        let lock = try locked()
        defer { withExtendedLifetime(lock) {} }
        let contents = try contents(with: source)
        let (old, known) = (key, remembered)
        (key, remembered) = (next, nil)
        var kind: SecretFileHeader.KeyKind?
        do throws(SecretError) {
            let made = try newKind(nextSource)
            kind = made
            try write(contents, with: nextSource, as: made)
            changes += 1
        } catch {
            let bytes = try? fileBytes()
            let found = bytes.flatMap { try? SecretFileHeader.read($0).header.kind }
            if found == nil || found != kind { (key, remembered) = (old, known) }
            throw error
        }
    }

    // MARK: Keys

    /// Returns the source's key, retrying if the file's key changes in the meantime.
    private func sourceKey() async throws(SecretError) -> KeyEncryptionKey? {
        while true {
            let before = changes
            let found = try await Self.sourceKey(of: key)
            if changes == before { return found }
        }
    }

    private static func sourceKey(
        of key: SecretFileKey
    ) async throws(SecretError) -> KeyEncryptionKey? {
        guard case .source(let source) = key.origin else { return nil }
        do {
            return try await source.keyEncryptionKey()
        } catch let error as SecretError {
            throw error
        } catch is CancellationError {
            throw SecretError(.cancelled, "The call was canceled.", cause: CancellationError())
        } catch {
            throw SecretError(.missingKey, "The source of the file's key failed.", cause: error)
        }
    }

    private func key(
        _ source: KeyEncryptionKey?,
        for kind: SecretFileHeader.KeyKind
    ) throws(SecretError) -> SymmetricKey {
        switch (key.origin, kind) {
        case (.source, .source(let identifier)):
            guard let source, source.identifier == identifier else {
                let given = source?.identifier ?? "none"
                throw SecretError(
                    .wrongKey,
                    "The file was sealed with the key \(identifier), but the source has \(given)."
                )
            }
            return SymmetricKey(data: source.bytes)
        case (.passphrase(let text, _), .argon2id(let memory, let passes, let lanes, let salt)):
            if let remembered, remembered.kind == kind { return remembered.key }
            let cost = Argon2Cost(memory: Int(memory), passes: Int(passes), lanes: Int(lanes))
            guard cost.isSound else {
                throw SecretError(.damaged, "The file's Argon2 cost exceeds the limit.")
            }
            let key = SecretFileCipher.key(from: text, salt: salt, cost: cost)
            remembered = (kind, key)
            return key
        case (.source, .argon2id):
            throw SecretError(.wrongKey, "The file was sealed with a passphrase.")
        case (.passphrase, .source):
            throw SecretError(.wrongKey, "The file was sealed with a key from a source.")
        }
    }

    private func newKind(_ source: KeyEncryptionKey?) throws(SecretError)
        -> SecretFileHeader.KeyKind
    {
        guard case .passphrase(_, let cost) = key.origin else {
            let identifier = source?.identifier ?? ""
            guard identifier.utf8.count <= 255 else {
                throw SecretError(.invalidArgument, "A key identifier must not exceed 255 bytes.")
            }
            return .source(identifier: identifier)
        }
        guard cost.isSound else {
            throw SecretError(
                .invalidArgument,
                "The Argon2 cost is out of bounds: use 1 to 64 lanes, 1 to 1024 passes, "
                    + "and memory of 8 KiB per lane to 1 GiB."
            )
        }
        return .argon2id(
            memory: UInt32(cost.memory),
            passes: UInt32(cost.passes),
            lanes: UInt32(cost.lanes),
            salt: SecretFileCipher.randomBytes(SecretFileHeader.passphraseSaltByteCount)
        )
    }

    // MARK: Files

    private func path(_ name: String) -> String { folder + "/" + name }

    private func locked() throws(SecretError) -> any FileLock {
        do throws(FileSystemError) {
            try files.makeFolder(folder)
            return try files.lock(path(Self.lockName), waitingUpTo: lockMilliseconds)
        } catch {
            throw SecretError(error, otherwise: .saveFailed)
        }
    }

    private func fileBytes() throws(SecretError) -> [UInt8]? {
        do throws(FileSystemError) {
            return try files.contents(of: path(Self.fileName))
        } catch {
            throw SecretError(error, otherwise: .loadFailed)
        }
    }

    private func contents(
        with source: KeyEncryptionKey?
    ) throws(SecretError) -> SecretFileContents {
        guard let bytes = try fileBytes() else { return SecretFileContents() }
        let kind = try SecretFileHeader.read(bytes).header.kind
        return try SecretFileCipher.open(bytes, with: try key(source, for: kind))
    }

    private func write(
        _ contents: SecretFileContents,
        with source: KeyEncryptionKey?
    ) throws(SecretError) {
        // An existing file keeps its salt, so that a passphrase is derived once per process.
        var kind = try newKind(source)
        if let bytes = try fileBytes() { kind = try SecretFileHeader.read(bytes).header.kind }
        try write(contents, with: source, as: kind)
    }

    private func write(
        _ contents: SecretFileContents,
        with source: KeyEncryptionKey?,
        as kind: SecretFileHeader.KeyKind
    ) throws(SecretError) {
        let sealed = try SecretFileCipher.seal(contents, with: try key(source, for: kind), of: kind)
        isDurable = false
        do throws(FileSystemError) {
            // An administrator may change the secrets of a service, which then has to read them.
            try files.replaceFile(
                path(Self.fileName),
                by: path(Self.newFileName),
                with: sealed,
                keepsAccess: true
            )
            try files.syncFolder(folder)
            isDurable = true
        } catch {
            throw SecretError(error, otherwise: .saveFailed)
        }
    }
}

extension EncryptedFileSecretStoreAdapter: CustomStringConvertible, CustomReflectable {
    /// The path of the folder.
    public nonisolated var description: String { "secrets in \(folder)" }

    public nonisolated var customMirror: Mirror { Mirror(self, children: ["folder": folder]) }
}
#else
/// An adapter that keeps secrets in one encrypted file; requires the trait `Crypto`.
@available(
    *,
    unavailable,
    message: "Enable the 'Crypto' trait of the keel package to use this adapter."
)
public struct EncryptedFileSecretStoreAdapter: Sendable {}
#endif
