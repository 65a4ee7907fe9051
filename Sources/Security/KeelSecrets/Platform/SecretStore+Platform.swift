extension SecretStore {
    #if Crypto
    /// Returns the secrets of a service in the default store of the platform.
    ///
    /// If `choice` is nil, the candidates are Apple's Keychain or, on Linux, the Secret Service, and then the encrypted
    /// file. The store is the first usable candidate that has secrets of the service, or otherwise the first usable
    /// one. A locked or unresponsive candidate is an error, because it may hold the secrets. Secrets are never kept
    /// only in memory.
    ///
    /// With an encrypted file, the choice is made once and recorded in `secrets.choice` in its folder; from then on it
    /// is also an error if the chosen store is unusable. To choose again, move the secrets with ``migrate(to:)`` and
    /// delete that file.
    ///
    /// - Parameters:
    ///   - service: The service, usually the app's identifier.
    ///   - choice: The store to use; nil chooses one.
    ///   - file: The encrypted file to use if the platform's store is missing.
    /// - Returns: The service's secrets in that store.
    /// - Throws: ``SecretError`` with the code `noStore`, whose message explains why no store is usable; `diskFull` or
    ///   `timeout` if the choice cannot be recorded; `invalidArgument` for an invalid service; `cancelled`, or an error
    ///   of the stores.
    public static func platformDefault(
        service: String,
        store choice: (any SecretStoreAdapter)? = nil,
        fallback file: EncryptedFileSecretStoreAdapter? = nil
    ) async throws(SecretError) -> SecretStore {
        try await choose(
            service: service,
            choice,
            from: platformStores + (file.map { [$0] } ?? []),
            noted: file?.choice
        )
    }
    #else
    /// Returns the secrets of a service in the default store of the platform.
    ///
    /// If `choice` is nil, the store is Apple's Keychain or, on Linux, the Secret Service, which must be running and
    /// unlocked. With the trait `Crypto`, the store can also be an encrypted file.
    ///
    /// - Returns: The service's secrets in that store.
    /// - Throws: ``SecretError`` with the code `noStore`, whose message explains why no store is usable;
    ///   `invalidArgument` for an invalid service; or `cancelled`.
    public static func platformDefault(
        service: String,
        store choice: (any SecretStoreAdapter)? = nil
    ) async throws(SecretError) -> SecretStore {
        try await choose(service: service, choice, from: platformStores)
    }
    #endif

    static var platformStores: [any SecretStoreAdapter] {
        #if canImport(Security)
        // The default settings are valid, so this does not fail.
        (try? KeychainSecretStoreAdapter()).map { [$0] } ?? []
        #elseif os(Linux)
        [SecretServiceSecretStoreAdapter()]
        #else
        []
        #endif
    }

    static func choose(
        service: String,
        _ choice: (any SecretStoreAdapter)?,
        from stores: [any SecretStoreAdapter],
        noted: StoreSelectionRecord? = nil
    ) async throws(SecretError) -> SecretStore {
        if let choice { return try SecretStore(choice, service: service) }
        let store = try await usable(of: stores, noted, for: service)
        return try SecretStore(store, service: service)
    }

    /// Returns the recorded choice, or a newly chosen store; without a service, the choice is not recorded.
    static func usable(
        of stores: [any SecretStoreAdapter],
        _ noted: StoreSelectionRecord?,
        for service: String?
    ) async throws(SecretError) -> any SecretStoreAdapter {
        if let kind = try noted?.kind() { return try await chosen(kind, of: stores) }
        var found: [(adapter: any SecretStoreAdapter, kind: SecretStoreCapabilities.Kind)] = []
        var problems: [String] = []
        for adapter in stores {
            let capabilities = await adapter.capabilities()
            guard let problem = capabilities.problem else {
                found.append((adapter, capabilities.kind))
                continue
            }
            // The probe was incomplete: the next store might not be the one that holds the secrets.
            guard problem != .cancelled else {
                throw SecretError(.cancelled, "The call was canceled.", cause: CancellationError())
            }
            problems.append("\(capabilities.kind): \(problem)")
            // The store exists, and may be the one that holds the secrets.
            if problem == .locked || problem == .timeout { break }
        }
        guard var best = found.first else {
            let reasons = problems.isEmpty ? "none was provided" : problems.joined(separator: ", ")
            throw SecretError(.noStore, "No secret store is usable (\(reasons)).")
        }
        guard let noted, let service else { return best.adapter }
        for store in found where try await !store.adapter.accounts(of: service).isEmpty {
            best = store
            break
        }
        let standing = try noted.settle(on: best.kind)
        return standing == best.kind ? best.adapter : try await chosen(standing, of: stores)
    }

    /// Returns the store of a kind that holds the secrets, without falling back to another.
    private static func chosen(
        _ kind: SecretStoreCapabilities.Kind,
        of stores: [any SecretStoreAdapter]
    ) async throws(SecretError) -> any SecretStoreAdapter {
        for adapter in stores {
            let capabilities = await adapter.capabilities()
            guard capabilities.kind == kind else { continue }
            guard let problem = capabilities.problem else { return adapter }
            guard problem != .cancelled else {
                throw SecretError(.cancelled, "The call was canceled.", cause: CancellationError())
            }
            throw SecretError(
                .noStore,
                "The store that has the secrets is not usable now (\(kind): \(problem))."
            )
        }
        throw SecretError(.noStore, "The store that has the secrets is missing (\(kind)).")
    }
}
