#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The secrets of one service: tokens, passwords and keys, in the store that the platform offers.
///
/// ```swift
/// let secrets = try await SecretStore.platformDefault(service: "com.example.notes", orElse: file)
/// try await secrets.save("s3cret", forKey: "api-token")
/// let token = try await secrets.loadString(forKey: "api-token")
/// ```
///
/// Saving replaces what was there, deleting what is not there succeeds, and loading it throws
/// `keyNotFound`. Two services never see each other's keys. Keys are told apart by their bytes.
public struct SecretStore: Sendable {
    /// The longest secret in bytes; what is longer belongs into a file.
    public static let maximumByteCount = 64 << 10
    /// The longest service or key in bytes of UTF-8.
    public static let maximumNameByteCount = 255

    /// The service that the keys belong to.
    public let service: String

    let adapter: any SecretStoreAdapter

    /// Creates a view of a service's secrets.
    ///
    /// - Parameters:
    ///   - adapter: What keeps them.
    ///   - service: The service, usually the app's identifier.
    /// - Throws: ``SecretError`` with the code `invalidArgument` when the service is no name.
    public init(_ adapter: any SecretStoreAdapter, service: String) throws(SecretError) {
        try Self.check(service, "service")
        self.adapter = adapter
        self.service = service
    }

    /// Creates a store each of whose calls fails, for a place that expects one and has none.
    ///
    /// - Parameter error: What each call throws.
    public init(unavailable error: SecretError) {
        self.init(UnavailableSecretStoreAdapter(error), of: "unavailable")
    }

    /// Creates a view of secrets whose service is known to be a name.
    package init(_ adapter: any SecretStoreAdapter, of service: StaticString) {
        self.adapter = adapter
        self.service = "\(service)"
    }

    /// Which store it is, and what it can do at this moment.
    ///
    /// - Returns: What the adapter says of itself.
    public func capabilities() async -> SecretStoreCapabilities { await adapter.capabilities() }

    // MARK: Data

    /// Keeps data under a key, in place of what was there.
    ///
    /// - Parameters:
    ///   - data: The secret, at most ``maximumByteCount`` long.
    ///   - key: The key.
    /// - Throws: ``SecretError``.
    public func save(_ data: Data, forKey key: String) async throws(SecretError) {
        _ = try await replace(key, with: Array(data), expecting: .anything)
    }

    /// Returns the data under a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: The secret.
    /// - Throws: ``SecretError``, with the code `keyNotFound` where there is none.
    public func load(forKey key: String) async throws(SecretError) -> Data {
        guard let data = try await findData(forKey: key) else {
            throw SecretError(.keyNotFound, "There is no secret \(key) of \(service).")
        }
        return data
    }

    /// Returns the data under a key, nil where there is none.
    ///
    /// - Parameter key: The key.
    /// - Returns: The secret, or nil.
    /// - Throws: ``SecretError``.
    public func findData(forKey key: String) async throws(SecretError) -> Data? {
        let name = try name(key)
        try Self.checkCancellation()
        return try await adapter.read(name).map { Data($0) }
    }

    /// Removes the secret under a key; where there is none, nothing happens.
    ///
    /// - Parameter key: The key.
    /// - Throws: ``SecretError``.
    public func delete(forKey key: String) async throws(SecretError) {
        _ = try await replace(key, with: nil, expecting: .anything)
    }

    /// Whether there is a secret under a key.
    ///
    /// - Parameter key: The key.
    /// - Returns: Whether there is one.
    /// - Throws: ``SecretError``.
    public func exists(forKey key: String) async throws(SecretError) -> Bool {
        try await findData(forKey: key) != nil
    }

    /// The keys of this service, in the order of their bytes.
    ///
    /// - Returns: Each key once.
    /// - Throws: ``SecretError``.
    public func list() async throws(SecretError) -> [String] {
        try Self.checkCancellation()
        let accounts = try await adapter.accounts(of: service)
        return Set(accounts.map { SecretName(service: service, account: $0) }).sorted()
            .map(\.account)
    }

    /// Replaces or removes a secret when it is the expected one, in one step.
    ///
    /// Other tasks of the process never come between; other processes neither, where the
    /// capabilities contain `comparesAcrossProcesses`.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - expected: What has to be there; nil expects nothing.
    ///   - new: What is there afterwards; nil removes it.
    /// - Returns: Whether the expected was there; nothing was changed where it was not.
    /// - Throws: ``SecretError``.
    public func compareAndSet(
        forKey key: String,
        expected: Data?,
        new: Data?
    ) async throws(SecretError) -> Bool {
        let expectation = expected.map { SecretExpectation.bytes(Array($0)) } ?? .absent
        return try await replace(key, with: new.map { Array($0) }, expecting: expectation)
    }

    // MARK: Calling the adapter

    private func replace(
        _ key: String,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool {
        let name = try name(key)
        if let count = bytes?.count, count > Self.maximumByteCount {
            throw SecretError(
                .tooLarge,
                "A secret of \(count) bytes is longer than \(Self.maximumByteCount) bytes."
            )
        }
        try Self.checkCancellation()
        return try await adapter.replace(name, with: bytes, expecting: expectation)
    }

    private func name(_ key: String) throws(SecretError) -> SecretName {
        try Self.check(key, "key")
        return SecretName(service: service, account: key)
    }

    private static func check(_ text: String, _ what: String) throws(SecretError) {
        let count = text.utf8.count
        guard count > 0, count <= maximumNameByteCount, !text.utf8.contains(0) else {
            throw SecretError(
                .invalidArgument,
                "A \(what) has 1 to \(maximumNameByteCount) bytes of UTF-8 and no zero byte."
            )
        }
    }

    /// Before the adapter is called, so that a cancelled call has changed nothing.
    private static func checkCancellation() throws(SecretError) {
        guard Task.isCancelled else { return }
        throw SecretError(.cancelled, "The call was cancelled.", cause: CancellationError())
    }
}

extension SecretStore: CustomStringConvertible, CustomReflectable {
    /// The service alone.
    public var description: String { "secrets of \(service)" }

    public var customMirror: Mirror { Mirror(self, children: ["service": service]) }
}
