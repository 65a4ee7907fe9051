extension SecretStore {
    #if Crypto
    /// Chooses where the secrets of a service are kept.
    ///
    /// What is chosen explicitly is taken as it is. Otherwise it is the first that can be used at
    /// this moment: the Secret Service, where it runs and is unlocked, then the encrypted file,
    /// where one is given and its key is there. It is never memory. Secrets stay where they were
    /// saved: a program that has to find them with and without a desktop chooses.
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
        try await choose(service: service, choice, from: platformStores + (file.map { [$0] } ?? []))
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
        #if os(Linux)
        [SecretServiceSecretStoreAdapter()]
        #elseif canImport(Security)
        // Its settings are those that cannot contradict each other.
        (try? KeychainSecretStoreAdapter()).map { [$0] } ?? []
        #else
        []
        #endif
    }

    /// Takes the choice, or the first store that has no problem.
    package static func choose(
        service: String,
        _ choice: (any SecretStoreAdapter)?,
        from stores: [any SecretStoreAdapter]
    ) async throws(SecretError) -> SecretStore {
        if let choice { return try SecretStore(choice, service: service) }
        return try SecretStore(try await firstUsable(of: stores), service: service)
    }

    /// The first store that has no problem.
    static func firstUsable(
        of stores: [any SecretStoreAdapter]
    ) async throws(SecretError) -> any SecretStoreAdapter {
        var problems: [String] = []
        for adapter in stores {
            let capabilities = await adapter.capabilities()
            guard let problem = capabilities.problem else { return adapter }
            // Nobody has looked: the next store might not be the one that holds the secrets.
            guard problem != .cancelled else {
                throw SecretError(.cancelled, "The call was cancelled.", cause: CancellationError())
            }
            problems.append("\(capabilities.kind): \(problem)")
        }
        let reasons = problems.isEmpty ? "none was given" : problems.joined(separator: ", ")
        throw SecretError(.noStore, "No store of secrets can be used (\(reasons)).")
    }
}
