#if Crypto
internal import Crypto
public import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A file with a keyset that is encrypted under a key kept elsewhere.
///
/// ```swift
/// let file = KeysetFile(at: folder.appending(path: "keys.json"), under: SecretStoreKeySource(secrets))
/// let security = SecurityService(keys: try await file.ring(creating: .aes256GCM))
/// ```
///
/// Each change replaces the file atomically, under a lock that other processes respect: after a crash, the file has the
/// old or the new keyset. The file is Tink's encrypted keyset as JSON; the binary format can be read as well. Next to
/// the file are its lock and, if keys have dates of destruction, the times that the clock has shown (`keys.json.lock`,
/// `keys.json.time`).
///
/// Rings in any number of processes can share one file: see ``ring(creating:configuration:)``.
///
/// To change the key-encryption key, first make both keys known to every program (`KeysetFile(at: url, under: new,
/// alternatives: [old])`), then call ``rewrap(under:)`` once, and then remove the old key.
public struct KeysetFile: Sendable {
    /// The path of the file.
    public let path: String

    private let source: any KeyEncryptionKeySource
    private let others: [any KeyEncryptionKeySource]
    private let associatedData: Data
    private let files: any FileSystem

    /// The maximum time a change waits for another process, in milliseconds.
    private static let patience = 10_000

    /// Creates a reference to a file.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - source: The source of the key-encryption key; new files are encrypted under its key.
    ///   - others: The sources of other keys that the file may be encrypted under during a change. A source without a
    ///     key is skipped as long as another source has one.
    ///   - associatedData: The context that the keyset is bound to; other programs need the same bytes.
    public init(
        at url: URL,
        under source: any KeyEncryptionKeySource,
        alternatives others: [any KeyEncryptionKeySource] = [],
        associatedData: Data = Data()
    ) {
        self.init(
            at: url.path(percentEncoded: false),
            under: source,
            alternatives: others,
            associatedData: associatedData,
            files: DiskFileSystem()
        )
    }

    package init(
        at path: String,
        under source: any KeyEncryptionKeySource,
        alternatives others: [any KeyEncryptionKeySource] = [],
        associatedData: Data = Data(),
        files: any FileSystem
    ) {
        self.path = path
        self.source = source
        self.others = others
        self.associatedData = associatedData
        self.files = files
    }

    /// Reads the keyset.
    ///
    /// - Throws: `keyNotFound` if the file does not exist, `keyStoreFailed` if the file or the source cannot be read,
    ///   `decryptionFailed`, `invalidKey`, `unsupportedKey` or `cancelled`.
    public func load() async throws(SecurityError) -> Keyset {
        try requireFile()
        let ciphers = try await ciphers()
        guard let found = try current() else { throw missing }
        return try opened(found.content, ciphers).keyset
    }

    /// Writes the first keyset.
    ///
    /// - Throws: `invalidArgument` if the file already exists, `keyStoreFailed`, `encryptionFailed` or `cancelled`.
    public func create(_ keyset: Keyset) async throws(SecurityError) {
        // Before a source is asked, which may create its key.
        try refuseToReplace()
        let cipher = try await KeysetCipher(source)
        try locked { () throws(SecurityError) in
            // Another program may have created the file in the meantime.
            try refuseToReplace()
            try write(keyset, cipher)
        }
    }

    /// Checks that the file exists, before a source is asked, which can create a key.
    private func requireFile() throws(SecurityError) {
        guard try current() != nil else { throw missing }
    }

    private func refuseToReplace() throws(SecurityError) {
        guard try current() == nil else {
            throw SecurityError(.invalidArgument, "\(name) already contains a keyset")
        }
    }

    /// Changes the keyset.
    ///
    /// - Parameter body: Changes the keyset. If it throws, the file is unchanged.
    /// - Returns: The changed keyset.
    /// - Throws: The errors of ``load()`` and of the closure, `encryptionFailed`, or `keyStoreFailed` if the file
    ///   cannot be locked within ten seconds or cannot be written.
    @discardableResult
    public func change(
        _ body: (inout Keyset) throws(SecurityError) -> Void
    ) async throws(SecurityError) -> Keyset {
        try requireFile()
        let ciphers = try await ciphers()
        return try locked { () throws(SecurityError) in
            guard let found = try current() else { throw missing }
            var (keyset, cipher) = try opened(found.content, ciphers)
            try body(&keyset)
            try write(keyset, cipher)
            return keyset
        }
    }

    /// Encrypts the same keys under another key-encryption key.
    ///
    /// Rings that know both keys are not affected. A ring that knows only the old key encrypts until its reserved
    /// messages are used up, continues to decrypt, and needs ``KeyRing/refresh()`` once its source has the new key. The
    /// old key still decrypts copies of the old file: after a leak, rotate the keys as well.
    ///
    /// - Throws: The errors of ``change(_:)``. The file is then unchanged, or under the new key if only synchronizing
    ///   its folder failed: keep both keys.
    public func rewrap(under next: any KeyEncryptionKeySource) async throws(SecurityError) {
        try requireFile()
        let ciphers = try await ciphers()
        let cipher = try await KeysetCipher(next)
        try locked { () throws(SecurityError) in
            guard let found = try current() else { throw missing }
            try write(try opened(found.content, ciphers).keyset, cipher)
        }
    }

    /// Returns a ring that saves its changes to the file and follows changes by others.
    ///
    /// Each call to the ring checks whether the file has changed, so a change by another ring or process takes effect
    /// with the next message. Each ring reserves messages in the file before it encrypts them, so the counts in the
    /// file cover all rings.
    ///
    /// While the file cannot be read or written, the ring continues with its reservation as long as the dates of its
    /// primary key allow that, even if another key is due. If the file is gone or no longer has the ring's primary key,
    /// the ring refuses to encrypt with `keyStoreFailed`. If that change of the file was intended, call
    /// ``KeyRing/replace(with:)``.
    ///
    /// If several processes can create the file at the same time, the source has to give them the same key. With a
    /// `SecretStoreKeySource`, this requires a store that declares `comparesAcrossProcesses`; otherwise, the file can
    /// be under a key that is lost. `SecurityService(keysetAt:under:)` of KeelSecuritySecrets works with every store.
    ///
    /// - Parameters:
    ///   - algorithm: The algorithm of the keys if the file does not exist yet; nil creates no file.
    ///   - configuration: The limits of the ring; its `save` is replaced.
    /// - Returns: The ring.
    /// - Throws: The errors of ``load()``. If the file has to be created, also those of ``create(_:)``, except that an
    ///   existing file is used.
    public func ring(
        creating algorithm: KeyAlgorithm? = nil,
        configuration: KeyRing.Configuration = KeyRing.Configuration()
    ) async throws(SecurityError) -> KeyRing {
        if algorithm == nil { try requireFile() }
        let ciphers = try await ciphers()
        let found: (file: any OpenFile, content: [UInt8])
        if let present = try current() {
            found = present
        } else {
            guard let algorithm else { throw missing }
            let cipher = try await KeysetCipher(source)
            found = try locked { () throws(SecurityError) in
                // Another program may have created the file in the meantime.
                if let present = try current() { return present }
                try write(try Keyset.make(algorithm), cipher)
                guard let present = try current() else { throw missing }
                return present
            }
        }
        return KeyRing(
            try opened(found.content, ciphers).keyset,
            configuration: configuration,
            following: KeysetFollower(self, ciphers, seen: found.file)
        )
    }

    func ciphers() async throws(SecurityError) -> KeysetCiphers {
        try await KeysetCiphers([source] + others)
    }

    // MARK: Files

    private var name: String { path.split(separator: "/").last.map { String($0) } ?? path }

    private var folder: String {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        return folder.isEmpty ? "/" : folder
    }

    func locked<Value>(
        _ body: () throws(SecurityError) -> Value
    ) throws(SecurityError) -> Value {
        let lock: any FileLock
        do throws(FileSystemError) {
            try files.makeFolder(folder)
            lock = try files.lock(path + ".lock", waitingUpTo: Self.patience)
        } catch {
            throw Self.failure("the keyset could not be locked", error)
        }
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    /// Returns a time that has surely been reached, or nil if none is certain; the caller holds the lock.
    func certainTime(at now: Date) -> Date? {
        // Certain after a pause of a quarter, an hour.
        let limit: Int64 = 4 * 3_600 * 1_000_000
        let shown = Int64(now.timeIntervalSince1970 * 1_000_000)
        let oldest = CertainTime.oldest(
            within: limit,
            at: shown,
            notedIn: path + ".time",
            files
        )
        return oldest.map { Date(timeIntervalSince1970: Double($0 + limit) / 1_000_000) }
    }

    var missing: SecurityError {
        SecurityError(.keyNotFound, "there is no keyset in \(name)")
    }

    /// Opens the file and returns it with its content, or nil if it does not exist.
    func current() throws(SecurityError) -> (file: any OpenFile, content: [UInt8])? {
        do throws(FileSystemError) {
            guard let file = try files.openIfThere(path) else { return nil }
            return (file, try file.read(at: 0, count: try file.size()))
        } catch {
            throw Self.failure("the keyset could not be read", error)
        }
    }

    func opened(
        _ content: [UInt8],
        _ ciphers: KeysetCiphers
    ) throws(SecurityError) -> (keyset: Keyset, cipher: KeysetCipher) {
        try ciphers.open(content, associatedData)
    }

    func write(_ keyset: Keyset, _ cipher: KeysetCipher) throws(SecurityError) {
        let content = [UInt8](try keyset.encrypted(cipher, associatedData, .json))
        do throws(FileSystemError) {
            // An administrator may change the keyset of a service, which then has to read it.
            try files.replaceFile(path, by: path + ".new", with: content, keepsAccess: true)
            try files.syncFolder(folder)
        } catch {
            throw Self.failure("the keyset could not be written", error)
        }
    }

    private static func failure(_ message: String, _ error: FileSystemError) -> SecurityError {
        SecurityError(.keyStoreFailed, "\(message): \(error)", cause: error)
    }
}

extension KeysetFile: CustomStringConvertible, CustomReflectable {
    /// The path of the file, in words.
    public var description: String { "keyset in \(path)" }

    public var customMirror: Mirror { Mirror(self, children: ["path": path]) }
}
#endif
