#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A store for the secrets of one service, such as tokens, passwords and keys.
///
/// ```swift
/// let secrets = try await SecretStore.platformDefault(service: "com.example.notes", fallback: file)
/// try await secrets.save("s3cret", forKey: "api-token")
/// let token = try await secrets.loadString(forKey: "api-token")
/// ```
///
/// Saving replaces an existing secret. Loading a missing secret throws `keyNotFound`; deleting it succeeds. Services do
/// not see each other's keys. Keys are compared by their bytes.
///
/// Calls throw ``SecretError``: `invalidArgument` for a key that is empty, longer than ``maximumNameByteCount`` or
/// contains a zero byte; `tooLarge` for a secret of more than ``maximumByteCount`` bytes; and the failures of the
/// store, such as `locked`, `readOnly`, `wrongKey` and `timeout`.
public struct SecretStore: Sendable {
    /// The maximum size of a secret in bytes; store larger data in a file.
    public static let maximumByteCount = 64 << 10
    /// The maximum size of a service or key in bytes of UTF-8.
    public static let maximumNameByteCount = 255

    /// The service that the keys belong to.
    public let service: String

    let adapter: any SecretStoreAdapter

    /// Creates a store for a service's secrets.
    ///
    /// - Parameters:
    ///   - adapter: The adapter that stores the secrets.
    ///   - service: The service, usually the app's identifier.
    /// - Throws: ``SecretError`` with the code `invalidArgument` for a service that would be invalid as a key.
    public init(_ adapter: any SecretStoreAdapter, service: String) throws(SecretError) {
        try Self.check(service, "service")
        self.adapter = adapter
        self.service = service
    }

    /// Creates a store whose calls all throw the given error.
    public init(unavailable error: SecretError) {
        self.init(UnavailableSecretStoreAdapter(error), of: "unavailable")
    }

    /// Creates a store for a service that is known to be valid.
    package init(_ adapter: any SecretStoreAdapter, of service: StaticString) {
        self.adapter = adapter
        self.service = "\(service)"
    }

    /// Returns the kind of the store and its current capabilities.
    public func capabilities() async -> SecretStoreCapabilities { await adapter.capabilities() }

    // MARK: Data

    /// Saves data under a key.
    public func save(_ data: Data, forKey key: String) async throws(SecretError) {
        _ = try await replace(key, with: Array(data), expecting: .anything)
    }

    /// Returns the data under a key, or throws `keyNotFound` if there is none.
    public func load(forKey key: String) async throws(SecretError) -> Data {
        guard let data = try await loadIfPresent(forKey: key) else {
            throw SecretError(.keyNotFound, "There is no secret \(key) of \(service).")
        }
        return data
    }

    /// Returns the data under a key, or nil if there is none.
    public func loadIfPresent(forKey key: String) async throws(SecretError) -> Data? {
        let name = try name(key)
        try Self.checkCancellation()
        return try await adapter.read(name).map { Data($0) }
    }

    /// Removes the secret under a key, if there is one.
    public func delete(forKey key: String) async throws(SecretError) {
        _ = try await replace(key, with: nil, expecting: .anything)
    }

    /// Returns whether a key has a secret.
    public func exists(forKey key: String) async throws(SecretError) -> Bool {
        try await loadIfPresent(forKey: key) != nil
    }

    /// Returns the keys of this service, each once, in byte order.
    public func list() async throws(SecretError) -> [String] {
        try Self.checkCancellation()
        let accounts = try await adapter.accounts(of: service)
        return Set(accounts.map { SecretName(service: service, account: $0) }).sorted()
            .map(\.account)
    }

    /// Replaces or removes a secret if it has the expected value.
    ///
    /// Nil expects no secret, or removes it. The operation is atomic for all users of the adapter, and across processes
    /// if the capabilities contain `comparesAcrossProcesses`.
    ///
    /// - Returns: Whether the current secret had the expected value; if not, nothing has changed.
    /// - Throws: ``SecretError``.
    public func compareAndSet(
        forKey key: String,
        expected: Data?,
        new: Data?
    ) async throws(SecretError) -> Bool {
        let expectation = expected.map { SecretExpectation.bytes(Array($0)) } ?? .absent
        return try await replace(key, with: new.map { Array($0) }, expecting: expectation)
    }

    // MARK: Adapter calls

    private func replace(
        _ key: String,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool {
        let name = try name(key)
        if let count = bytes?.count, count > Self.maximumByteCount {
            throw SecretError(
                .tooLarge,
                "A secret of \(count) bytes exceeds the limit of \(Self.maximumByteCount) bytes."
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
                "A \(what) must have 1 to \(maximumNameByteCount) bytes of UTF-8 and no zero byte."
            )
        }
    }

    /// Called before the adapter, so that a canceled call has changed nothing.
    private static func checkCancellation() throws(SecretError) {
        guard Task.isCancelled else { return }
        throw SecretError(.cancelled, "The call was canceled.", cause: CancellationError())
    }
}

extension SecretStore: CustomStringConvertible, CustomReflectable {
    /// The service.
    public var description: String { "secrets of \(service)" }

    public var customMirror: Mirror { Mirror(self, children: ["service": service]) }
}

extension SecretStore {
    /// Saves a string under a key, as UTF-8.
    public func save(_ text: String, forKey key: String) async throws(SecretError) {
        try await save(Data(text.utf8), forKey: key)
    }

    /// Returns the string under a key.
    ///
    /// - Throws: ``SecretError``, with the code `keyNotFound`, or `invalidData` if the secret is not UTF-8.
    public func loadString(forKey key: String) async throws(SecretError) -> String {
        let data = try await load(forKey: key)
        guard let text = String(validating: data, as: UTF8.self) else {
            throw SecretError(.invalidData, "The secret \(key) of \(service) is not text.")
        }
        return text
    }

    /// Saves a value under a key, as JSON.
    ///
    /// - Throws: ``SecretError``, with the code `encodingFailed` if the value cannot be encoded as JSON.
    @concurrent
    public func save(
        encoding value: some Encodable & Sendable,
        forKey key: String
    ) async throws(SecretError) {
        let data: Data
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            data = try encoder.encode(value)
        } catch {
            // The encoder's error may quote the value.
            throw SecretError(.encodingFailed, "The value for \(key) could not be encoded.")
        }
        try await save(data, forKey: key)
    }

    /// Returns the value under a key.
    ///
    /// - Throws: ``SecretError``, with the code `keyNotFound`, or `invalidData` if the secret cannot be decoded as the
    ///   type.
    @concurrent
    public func loadValue<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        forKey key: String
    ) async throws(SecretError) -> Value {
        let data = try await load(forKey: key)
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            // The decoder's error may quote the secret.
            throw SecretError(
                .invalidData,
                "The secret \(key) of \(service) does not have the requested type."
            )
        }
    }
}
