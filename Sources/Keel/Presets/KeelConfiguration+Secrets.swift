internal import Foundation
public import KeelSecrets

extension KeelConfiguration {
    /// Opens the store of secrets that the configuration describes.
    ///
    /// The platform's store is looked for at the first use: on Linux that is an unlocked Secret
    /// Service. Where there may be none, as on a server, describe a file, or let
    /// `SecretStore.platformDefault` choose between both.
    ///
    /// - Returns: The app's secrets.
    /// - Throws: `SecretError` with the code `invalidArgument` for a service that is no name, and
    ///   `unavailable` for a file without the `Crypto` trait.
    public func makeSecrets() throws(SecretError) -> SecretStore {
        switch secrets {
        case .memory:
            return SecretStore(InMemorySecretStoreAdapter(), of: "memory")
        case .platform(let service):
            return try SecretStore(PlatformSecretStoreAdapter(), service: service)
        #if Crypto
        case .file(let folder, let key, let service):
            let path = folder.path(percentEncoded: false)
            return try SecretStore(
                EncryptedFileSecretStoreAdapter(folder: path, key: key),
                service: service
            )
        #else
        case .file:
            throw SecretError(
                .unavailable,
                "An encrypted file needs the 'Crypto' trait of the keel package."
            )
        #endif
        }
    }
}
