/// An adapter that looks for a store of the platform when it is first used, and stays with it.
///
/// For places that cannot wait for ``SecretStore/platformDefault(service:choosing:orElse:)``, as
/// where dependencies are registered. It finds what that finds. Where nothing can be used, the call
/// throws `noStore`, and the next one looks again.
public actor PlatformSecretStoreAdapter: SecretStoreAdapter {
    private let candidates: [any SecretStoreAdapter]
    private let noted: StoreChoice?
    private var chosen: (any SecretStoreAdapter)?

    #if Crypto
    /// Creates an adapter; nothing is looked at yet.
    ///
    /// - Parameter file: The encrypted file to take where the platform has no store.
    public init(orElse file: EncryptedFileSecretStoreAdapter? = nil) {
        candidates = SecretStore.platformStores + (file.map { [$0] } ?? [])
        noted = file?.choice
    }
    #else
    /// Creates an adapter; nothing is looked at yet.
    public init() {
        candidates = SecretStore.platformStores
        noted = nil
    }
    #endif

    package init(candidates: [any SecretStoreAdapter]) {
        self.init(candidates: candidates, noted: nil)
    }

    init(candidates: [any SecretStoreAdapter], noted: StoreChoice?) {
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

    /// The store of a service; without one only a look at which it would be.
    private func adapter(
        for service: String?
    ) async throws(SecretError) -> any SecretStoreAdapter {
        if let chosen { return chosen }
        let found = try await SecretStore.usable(of: candidates, noted, for: service)
        guard service != nil else { return found }
        // Another call may have found one meanwhile: all stay with the same.
        let adapter = chosen ?? found
        chosen = adapter
        return adapter
    }
}
