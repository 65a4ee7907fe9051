extension SecretStore {
    #if Crypto
    /// Chooses where the secrets of a service are kept.
    ///
    /// An explicit choice is used as it is. Otherwise the store is the first that has secrets of
    /// the service, or else the first that can be used: the Secret Service, where it runs and is
    /// unlocked, then the encrypted file, where one is given and its key is there. It is never
    /// memory. A store that is locked or does not answer may have the secrets: it is an error, and
    /// no reason to take another.
    ///
    /// With an encrypted file the choice is made once, and noted in `secrets.choice` in its folder:
    /// a store that was chosen and cannot be used just now is an error too. To choose anew, move the
    /// secrets with ``migrate(to:)`` and delete that file.
    ///
    /// - Parameters:
    ///   - service: The service, usually the app's identifier.
    ///   - choice: The store to take; nil leaves the choice to this function.
    ///   - file: The encrypted file to take where there is no Secret Service.
    /// - Returns: The service's secrets in that store.
    /// - Throws: ``SecretError`` with the code `noStore`, whose message says why none can be used.
    public static func platformDefault(
        service: String,
        choosing choice: (any SecretStoreAdapter)? = nil,
        orElse file: EncryptedFileSecretStoreAdapter? = nil
    ) async throws(SecretError) -> SecretStore {
        try await choose(
            service: service,
            choice,
            from: platformStores + (file.map { [$0] } ?? []),
            noted: file?.choice
        )
    }
    #else
    /// Chooses where the secrets of a service are kept.
    ///
    /// What is chosen explicitly is taken as it is; otherwise it is the Secret Service, where it
    /// runs and is unlocked. It is never memory. With the trait `Crypto` it can be a file too.
    ///
    /// - Parameters:
    ///   - service: The service, usually the app's identifier.
    ///   - choice: The store to take; nil leaves the choice to this function.
    /// - Returns: The service's secrets in that store.
    /// - Throws: ``SecretError`` with the code `noStore`, whose message says why.
    public static func platformDefault(
        service: String,
        choosing choice: (any SecretStoreAdapter)? = nil
    ) async throws(SecretError) -> SecretStore {
        try await choose(service: service, choice, from: platformStores)
    }
    #endif

    /// The stores that the platform itself brings.
    static var platformStores: [any SecretStoreAdapter] {
        #if canImport(Security)
        // Its settings are those that cannot contradict each other.
        (try? KeychainSecretStoreAdapter()).map { [$0] } ?? []
        #elseif os(Linux)
        [SecretServiceSecretStoreAdapter()]
        #else
        []
        #endif
    }

    /// Takes the choice, or the store that was chosen before, or chooses one.
    static func choose(
        service: String,
        _ choice: (any SecretStoreAdapter)?,
        from stores: [any SecretStoreAdapter],
        noted: StoreChoice? = nil
    ) async throws(SecretError) -> SecretStore {
        if let choice { return try SecretStore(choice, service: service) }
        let store = try await usable(of: stores, noted, for: service)
        return try SecretStore(store, service: service)
    }

    /// The store of a service.
    ///
    /// - Parameters:
    ///   - stores: The stores, the preferred one first.
    ///   - noted: Where the choice is kept; nil where there is nothing to choose.
    ///   - service: The service; nil takes a look, and decides nothing.
    /// - Returns: The store that was chosen before, or is chosen now.
    /// - Throws: `noStore`, `cancelled`, and what the stores throw.
    static func usable(
        of stores: [any SecretStoreAdapter],
        _ noted: StoreChoice?,
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
            // Nobody has looked: the next store might not be the one that holds the secrets.
            guard problem != .cancelled else {
                throw SecretError(.cancelled, "The call was cancelled.", cause: CancellationError())
            }
            problems.append("\(capabilities.kind): \(problem)")
            // It is there, and may be the one that holds the secrets.
            if problem == .locked || problem == .timeout { break }
        }
        guard var best = found.first else {
            let reasons = problems.isEmpty ? "none was given" : problems.joined(separator: ", ")
            throw SecretError(.noStore, "No store of secrets can be used (\(reasons)).")
        }
        guard let noted, let service else { return best.adapter }
        for store in found where try await !store.adapter.accounts(of: service).isEmpty {
            best = store
            break
        }
        let standing = noted.settle(on: best.kind)
        return standing == best.kind ? best.adapter : try await chosen(standing, of: stores)
    }

    /// The store of a kind, which has the secrets; no other one will do.
    private static func chosen(
        _ kind: SecretStoreCapabilities.Kind,
        of stores: [any SecretStoreAdapter]
    ) async throws(SecretError) -> any SecretStoreAdapter {
        for adapter in stores {
            let capabilities = await adapter.capabilities()
            guard capabilities.kind == kind else { continue }
            guard let problem = capabilities.problem else { return adapter }
            guard problem != .cancelled else {
                throw SecretError(.cancelled, "The call was cancelled.", cause: CancellationError())
            }
            throw SecretError(
                .noStore,
                "The store that has the secrets cannot be used just now (\(kind): \(problem))."
            )
        }
        throw SecretError(.noStore, "The store that has the secrets is missing (\(kind)).")
    }
}
