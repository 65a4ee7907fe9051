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
public struct KeysetFile: Sendable {
    /// Where the file is.
    public let path: String

    private let source: any KeyEncryptionKeySource
    private let associatedData: Data
    private let files: any FileSystem

    /// How long a change waits for another process, in milliseconds.
    private static let patience = 10_000

    /// Names a file; nothing is read or written yet.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - source: What knows the key that the keyset is encrypted under.
    ///   - associatedData: What the keyset belongs to; another program needs the same bytes.
    public init(
        at url: URL,
        under source: any KeyEncryptionKeySource,
        associatedData: Data = Data()
    ) {
        self.init(
            at: url.path(percentEncoded: false),
            under: source,
            associatedData: associatedData,
            files: DiskFileSystem()
        )
    }

    package init(
        at path: String,
        under source: any KeyEncryptionKeySource,
        associatedData: Data = Data(),
        files: any FileSystem
    ) {
        self.path = path
        self.source = source
        self.associatedData = associatedData
        self.files = files
    }

    /// Reads the keyset.
    ///
    /// - Returns: The keyset.
    /// - Throws: `keyNotFound` if there is no file, `keyStoreFailed` if it or the source cannot be
    ///   read, `decryptionFailed`, `invalidKey`, `unsupportedKey`, `cancelled`.
    public func load() async throws(SecurityError) -> Keyset {
        let cipher = try await KeysetCipher(source)
        guard let content = try content() else {
            throw SecurityError(.keyNotFound, "there is no keyset in \(name)")
        }
        return try opened(content, cipher)
    }

    /// Writes a first keyset.
    ///
    /// - Parameter keyset: The keyset.
    /// - Throws: `invalidArgument` if there is a file already, which stays as it is;
    ///   `keyStoreFailed`, `encryptionFailed`, `cancelled`.
    public func create(_ keyset: Keyset) async throws(SecurityError) {
        let cipher = try await KeysetCipher(source)
        try locked { () throws(SecurityError) in
            guard try content() == nil else {
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
        let cipher = try await KeysetCipher(source)
        return try locked { () throws(SecurityError) in
            guard let content = try content() else {
                throw SecurityError(.keyNotFound, "there is no keyset in \(name)")
            }
            var keyset = try opened(content, cipher)
            try body(&keyset)
            try write(keyset, cipher)
            return keyset
        }
    }

    /// Begins to use the keyset, with a ring that saves what it changes: counts and rotations.
    ///
    /// The ring refuses to save over what another program has written since, with
    /// `keyStoreFailed`: begin again then.
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
        let cipher = try await KeysetCipher(source)
        let (keyset, written) = try locked { () throws(SecurityError) -> (Keyset, [UInt8]) in
            if let content = try content() { return (try opened(content, cipher), content) }
            guard let algorithm else {
                throw SecurityError(.keyNotFound, "there is no keyset in \(name)")
            }
            let keyset = try Keyset.make(algorithm)
            return (keyset, try write(keyset, cipher))
        }
        let saver = KeysetSaver(file: self, cipher: cipher, content: written)
        var configuration = configuration
        configuration.save = { keyset in try saver.save(keyset) }
        return KeyRing(keyset, configuration: configuration)
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

    func content() throws(SecurityError) -> [UInt8]? {
        do throws(FileSystemError) {
            let file = try files.open(path, for: .reading)
            return try file.read(at: 0, count: try file.size())
        } catch {
            guard error.kind != .notFound else { return nil }
            throw Self.failure("the keyset could not be read", error)
        }
    }

    private func opened(
        _ content: [UInt8],
        _ cipher: KeysetCipher
    ) throws(SecurityError) -> Keyset {
        try Keyset(Data(content), cipher, associatedData)
    }

    @discardableResult
    private func write(
        _ keyset: Keyset,
        _ cipher: KeysetCipher
    ) throws(SecurityError) -> [UInt8] {
        let content = try content(of: keyset, cipher)
        try write(content)
        return content
    }

    func content(of keyset: Keyset, _ cipher: KeysetCipher) throws(SecurityError) -> [UInt8] {
        [UInt8](try keyset.encrypted(cipher, associatedData, .json))
    }

    func write(_ content: [UInt8]) throws(SecurityError) {
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
