internal import Foundation
public import KeelSecrets

extension KeelConfiguration {
    /// Opens the configured secret store.
    ///
    /// The platform's store is opened on first use; on Linux, it is the Secret Service, which must be unlocked. Where
    /// there is none, as on a server, configure a file or use `SecretStore.platformDefault`.
    ///
    /// - Returns: The app's secrets.
    /// - Throws: `SecretError` with the code `invalidArgument` for an invalid service name, and
    ///   `unavailable` for a file without the `Crypto` trait.
    public func makeSecrets() throws(SecretError) -> SecretStore {
        switch secrets {
        case .memory:
            let adapter = InMemorySecretStoreAdapter()
            guard let observer else { return SecretStore(adapter, of: "memory") }
            return SecretStore(adapter.observed { observer(KeelObservation($0)) }, of: "memory")
        case .platform(let service):
            return try store(on: PlatformSecretStoreAdapter(), service)
        #if Crypto
        case .file(let folder, let key, let service):
            let path = folder.path(percentEncoded: false)
            return try store(on: EncryptedFileSecretStoreAdapter(folder: path, key: key), service)
        #else
        case .file:
            throw SecretError(
                .unavailable,
                "An encrypted file needs the 'Crypto' trait of the keel package."
            )
        #endif
        }
    }

    func store(
        on adapter: some SecretStoreAdapter,
        _ service: String
    ) throws(SecretError) -> SecretStore {
        guard let observer else { return try SecretStore(adapter, service: service) }
        return try SecretStore(
            adapter.observed { observer(KeelObservation($0)) },
            service: service
        )
    }
}
