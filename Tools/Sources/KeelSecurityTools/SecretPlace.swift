internal import Foundation
package import KeelSecrets
internal import KeelToolSupport

/// Where a command finds secrets, as it stands on the command line.
package enum SecretPlace: Sendable, Hashable {
    /// The store that the platform brings.
    case platform
    /// An encrypted file in a folder of its own.
    case file(folder: String)
    /// Variables of the command's own environment, which cannot be written.
    case environment(prefix: String)

    /// Reads `platform`, `file:FOLDER` or `env:PREFIX`.
    package init?(_ text: String) {
        if text == "platform" {
            self = .platform
        } else if let folder = text.dropping(prefix: "file:") {
            self = .file(folder: folder)
        } else if let prefix = text.dropping(prefix: "env:") {
            self = .environment(prefix: prefix)
        } else {
            return nil
        }
    }

    /// Opens the store for a service.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - choice: Where the key of an encrypted file comes from.
    ///   - isWritten: Whether the store is to be made where there is none, with its key.
    ///   - options: How the options are called that name the key.
    /// - Returns: The secrets.
    /// - Throws: `SecretError`, or what to give where the key is missing.
    package func open(
        service: String,
        _ choice: SecretKeyChoice,
        isWritten: Bool = false,
        options: String = "--key-file, --key-variable, --key-credential or --passphrase"
    ) async throws -> SecretStore {
        switch self {
        case .platform:
            return try await SecretStore.platformDefault(service: service)
        case .environment(let prefix):
            return try SecretStore(
                EnvironmentSecretStoreAdapter(service: service, prefix: prefix),
                service: service
            )
        case .file(let folder):
            let file = URL(filePath: folder)
                .appending(path: EncryptedFileSecretStoreAdapter.fileName).path
            let isNew = isWritten && !FileManager.default.fileExists(atPath: file)
            guard let key = try await choice.key(isNew: isNew, isMadeOnDemand: isWritten) else {
                throw ToolError(
                    "the key of the encrypted file is not named",
                    advice: "Give \(options)."
                )
            }
            return try SecretStore(
                EncryptedFileSecretStoreAdapter(folder: folder, key: key),
                service: service
            )
        }
    }
}

extension String {
    fileprivate func dropping(prefix: String) -> String? {
        guard hasPrefix(prefix), utf8.count > prefix.utf8.count else { return nil }
        return String(dropFirst(prefix.count))
    }
}
