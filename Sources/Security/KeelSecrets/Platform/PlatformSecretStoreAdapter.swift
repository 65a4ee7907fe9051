/// An adapter that chooses a store of the platform on first use, and keeps it.
///
/// The adapter makes the choice of ``SecretStore/platformDefault(service:store:fallback:)``, where that cannot be
/// awaited. While no store is usable, calls throw `noStore`, and each call looks again.
public actor PlatformSecretStoreAdapter: SecretStoreAdapter {
    private let candidates: [any SecretStoreAdapter]
    private let noted: StoreSelectionRecord?
    private var chosen: (any SecretStoreAdapter)?

    #if Crypto
    /// Creates an adapter without looking for a store yet.
    ///
    /// - Parameter file: The encrypted file to use if the platform has no store.
    public init(fallback file: EncryptedFileSecretStoreAdapter? = nil) {
        candidates = SecretStore.platformStores + (file.map { [$0] } ?? [])
        noted = file?.choice
    }
    #else
    /// Creates an adapter without looking for a store yet.
    public init() {
        candidates = SecretStore.platformStores
        noted = nil
    }
    #endif

    package init(candidates: [any SecretStoreAdapter]) {
        self.init(candidates: candidates, noted: nil)
    }

    init(candidates: [any SecretStoreAdapter], noted: StoreSelectionRecord?) {
        self.candidates = candidates
        self.noted = noted
    }

    public func capabilities() async -> SecretStoreCapabilities {
        do throws(SecretError) {
            return await (try await adapter(for: nil)).capabilities()
        } catch {
            return SecretStoreCapabilities(kind: .none, features: [], problem: error.code)
        }
    }

    public func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? {
        try await adapter(for: name.service).read(name)
    }

    public func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool {
        try await adapter(for: name.service)
            .replace(name, with: bytes, expecting: expectation)
    }

    public func accounts(of service: String) async throws(SecretError) -> [String] {
        try await adapter(for: service).accounts(of: service)
    }

    /// Returns the store of a service; without a service, the choice is not made permanent.
    private func adapter(
        for service: String?
    ) async throws(SecretError) -> any SecretStoreAdapter {
        if let chosen { return chosen }
        let found = try await SecretStore.usable(of: candidates, noted, for: service)
        guard service != nil else { return found }
        // A concurrent call may have chosen a store meanwhile: all calls use the same one.
        let adapter = chosen ?? found
        chosen = adapter
        return adapter
    }
}

/// An adapter that fails every call with the same error, where a store is required but none is available.
public struct UnavailableSecretStoreAdapter: SecretStoreAdapter {
    private let error: SecretError

    /// Creates an adapter whose calls all throw the given error.
    public init(_ error: SecretError) { self.error = error }

    public func capabilities() async -> SecretStoreCapabilities {
        SecretStoreCapabilities(kind: .none, features: [], problem: error.code)
    }

    public func read(_ name: SecretName) async throws(SecretError) -> [UInt8]? { throw error }

    public func replace(
        _ name: SecretName,
        with bytes: [UInt8]?,
        expecting expectation: SecretExpectation
    ) async throws(SecretError) -> Bool {
        throw error
    }

    public func accounts(of service: String) async throws(SecretError) -> [String] { throw error }
}
