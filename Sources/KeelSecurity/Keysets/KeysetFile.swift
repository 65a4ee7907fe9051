#if Crypto
internal import Crypto
public import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A keyset in a file, encrypted under a key that is kept somewhere else.
///
/// ```swift
/// let file = KeysetFile(at: folder.appending(path: "keys.json"), under: SecretStoreKeySource(secrets))
/// let security = SecurityService(keys: try await file.ring(creating: .aes256GCM))
/// ```
///
/// Each change is written beside the file and takes its name in one step, under a lock that other
/// processes respect: after a crash the old or the new keyset is there. The file is Tink's encrypted
/// keyset as JSON, which is read in its binary form too.
///
/// Any number of rings, in any number of processes, may share one file: see
/// ``ring(creating:configuration:)``.
///
/// To change the key-encryption key, let every program know both keys first
/// (`KeysetFile(at: url, under: new, or: [old])`), then call ``rewrap(under:)`` once, and take the old
/// one away when no program needs it any more.
public struct KeysetFile: Sendable {
    /// Where the file is.
    public let path: String

    private let source: any KeyEncryptionKeySource
    private let others: [any KeyEncryptionKeySource]
    private let associatedData: Data
    private let files: any FileSystem

    /// How long a change waits for another process, in milliseconds.
    private static let patience = 10_000

    /// Names a file; nothing is read or written yet.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - source: What knows the key that the keyset is encrypted under. A new file is encrypted
    ///     under its key.
    ///   - others: What knows further keys that the keyset may be under while its key is changed; a
    ///     source without a key is passed over as long as another one has one.
    ///   - associatedData: What the keyset belongs to; another program needs the same bytes.
    public init(
        at url: URL,
        under source: any KeyEncryptionKeySource,
        or others: [any KeyEncryptionKeySource] = [],
        associatedData: Data = Data()
    ) {
        self.init(
            at: url.path(percentEncoded: false),
            under: source,
            or: others,
            associatedData: associatedData,
            files: DiskFileSystem()
        )
    }

    package init(
        at path: String,
        under source: any KeyEncryptionKeySource,
        or others: [any KeyEncryptionKeySource] = [],
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
    /// - Returns: The keyset.
    /// - Throws: `keyNotFound` if there is no file, `keyStoreFailed` if it or the source cannot be
    ///   read, `decryptionFailed`, `invalidKey`, `unsupportedKey`, `cancelled`.
    public func load() async throws(SecurityError) -> Keyset {
        let ciphers = try await ciphers()
        guard let found = try current() else { throw missing }
        return try opened(found.content, ciphers).keyset
    }

    /// Writes a first keyset.
    ///
    /// - Parameter keyset: The keyset.
    /// - Throws: `invalidArgument` if there is a file already, which stays as it is;
    ///   `keyStoreFailed`, `encryptionFailed`, `cancelled`.
    public func create(_ keyset: Keyset) async throws(SecurityError) {
        let cipher = try await KeysetCipher(source)
        try locked { () throws(SecurityError) in
            guard try current() == nil else {
                throw SecurityError(.invalidArgument, "there is a keyset in \(name) already")
            }
            try write(keyset, cipher)
        }
    }

    /// Changes the keyset: rotates it, disables or destroys a key.
    ///
    /// - Parameter body: Changes the keyset; what it throws leaves the file as it is.
    /// - Returns: The keyset as it is now.
    /// - Throws: What ``load()`` and the body throw.
    @discardableResult
    public func change(
        _ body: (inout Keyset) throws(SecurityError) -> Void
    ) async throws(SecurityError) -> Keyset {
        let ciphers = try await ciphers()
        return try locked { () throws(SecurityError) in
            guard let found = try current() else { throw missing }
            var (keyset, cipher) = try opened(found.content, ciphers)
            try body(&keyset)
            try write(keyset, cipher)
            return keyset
        }
    }

    /// Encrypts the keyset under another key-encryption key; the keys in it stay as they are.
    ///
    /// The file is under the old or the new key at any moment. Rings that know both keys go on with
    /// the next message. One that knows the old key alone encrypts until the messages that it has
    /// reserved are used up, goes on decrypting, and needs ``KeyRing/refresh()`` when its source has
    /// the new key.
    ///
    /// The old key still decrypts copies of the old file: after a leak, rotate the keys too.
    ///
    /// - Parameter next: What knows the new key.
    /// - Throws: What ``load()`` throws; the file is then as it was.
    public func rewrap(under next: any KeyEncryptionKeySource) async throws(SecurityError) {
        let ciphers = try await ciphers()
        let cipher = try await KeysetCipher(next)
        try locked { () throws(SecurityError) in
            guard let found = try current() else { throw missing }
            try write(try opened(found.content, ciphers).keyset, cipher)
        }
    }

    /// Begins to use the keyset, with a ring that saves what it changes and follows what others do.
    ///
    /// Each call of the ring looks whether the file is still the one that it has read. What another
    /// ring, process or `keel keyset` has changed holds from the next message on: a rotation, a key
    /// that was disabled or destroyed, a change of the key-encryption key. Messages are reserved in
    /// the file before they are encrypted, by each ring for itself: the counts in the file are those
    /// of all rings together.
    ///
    /// While the file cannot be read, the ring goes on with what it has reserved. It refuses to
    /// encrypt, with `keyStoreFailed`, when the file is gone or no longer has the ring's primary
    /// key: what it would encrypt, nobody could decrypt later. What was in such a case intended is
    /// told with ``KeyRing/replace(with:)``.
    ///
    /// - Parameters:
    ///   - algorithm: What the keys are for where there is no file yet; nil makes none.
    ///   - configuration: How to count; its `save` is replaced.
    /// - Returns: The ring.
    /// - Throws: What ``load()`` throws.
    public func ring(
        creating algorithm: KeyAlgorithm? = nil,
        configuration: KeyRing.Configuration = KeyRing.Configuration()
    ) async throws(SecurityError) -> KeyRing {
        let ciphers = try await ciphers()
        let found: (file: any OpenFile, content: [UInt8])
        if let present = try current() {
            found = present
        } else {
            guard let algorithm else { throw missing }
            let cipher = try await KeysetCipher(source)
            found = try locked { () throws(SecurityError) in
                // Another program may have made it while this one waited.
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
            throw Self.failure("the lock of the keyset could not be had", error)
        }
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }

    var missing: SecurityError {
        SecurityError(.keyNotFound, "there is no keyset in \(name)")
    }

    /// The file as it is now, open, and what it holds.
    func current() throws(SecurityError) -> (file: any OpenFile, content: [UInt8])? {
        do throws(FileSystemError) {
            let file = try files.open(path, for: .reading)
            return (file, try file.read(at: 0, count: try file.size()))
        } catch {
            guard error.kind != .notFound else { return nil }
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
            try files.replaceFile(path, by: path + ".new", with: content)
            try files.syncFolder(folder)
        } catch {
            throw Self.failure("the keyset was not written", error)
        }
    }

    private static func failure(_ message: String, _ error: FileSystemError) -> SecurityError {
        SecurityError(.keyStoreFailed, "\(message): \(error)", cause: error)
    }
}

extension KeysetFile: CustomStringConvertible, CustomReflectable {
    /// Where the file is.
    public var description: String { "keyset in \(path)" }

    public var customMirror: Mirror { Mirror(self, children: ["path": path]) }
}
#endif
