internal import Foundation
package import KeelSecrets
internal import KeelToolSupport

/// The store of a command's secrets.
package enum SecretPlace: Sendable, Hashable {
    case platform
    /// An encrypted file in a dedicated folder.
    case file(folder: String)
    /// Environment variables of the command, which cannot be written.
    case environment(prefix: String)

    package static let keyOptions =
        "--key-file, --key-variable, --key-credential or --passphrase"

    /// Parses `platform`, `file:FOLDER` or `env:PREFIX`.
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
    /// With `isWritten`, the first use creates a missing key file, and the passphrase of a new encrypted file is asked
    /// for twice.
    ///
    /// - Throws: `SecretError`, or `ToolError` if no key is named, with the names of the options, or there is no
    ///   passphrase.
    package func open(
        service: String,
        _ choice: SecretKeyChoice,
        isWritten: Bool = false,
        options: String = Self.keyOptions
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
            return try SecretStore(
                try await Self.file(folder, choice, isWritten: isWritten, options: options),
                service: service
            )
        }
    }

    /// Returns the services that have secrets in an encrypted file, sorted.
    ///
    /// - Throws: `SecretError`, or `ToolError` for another store, if no key is named, or there is no passphrase.
    package func services(_ choice: SecretKeyChoice) async throws -> [String] {
        guard case .file(let folder) = self else {
            throw ToolError(
                "only an encrypted file lists its services",
                advice: "Add --store file:FOLDER.",
                exit: .usage
            )
        }
        return try await Self.file(folder, choice).services()
    }

    private static func file(
        _ folder: String,
        _ choice: SecretKeyChoice,
        isWritten: Bool = false,
        options: String = Self.keyOptions
    ) async throws -> EncryptedFileSecretStoreAdapter {
        let file = URL(filePath: folder)
            .appending(path: EncryptedFileSecretStoreAdapter.fileName).path
        let isNew = isWritten && !FileManager.default.fileExists(atPath: file)
        guard let key = try await choice.key(isNew: isNew, createsIfMissing: isWritten) else {
            throw ToolError(
                "no key is given for the encrypted file",
                advice: "Add \(options).",
                exit: .usage
            )
        }
        return EncryptedFileSecretStoreAdapter(folder: folder, key: key)
    }
}

extension String {
    fileprivate func dropping(prefix: String) -> String? {
        guard hasPrefix(prefix), utf8.count > prefix.utf8.count else { return nil }
        return String(dropFirst(prefix.count))
    }
}

/// The source of the key of an encrypted file of secrets.
package struct SecretKeyChoice: Sendable {
    package var source: KeySourceChoice
    /// The source of a passphrase, which takes precedence.
    package var passphrase: PassphraseSource?

    package init(
        source: KeySourceChoice = KeySourceChoice(),
        passphrase: PassphraseSource? = nil
    ) {
        self.source = source
        self.passphrase = passphrase
    }

    package var count: Int { source.count + (passphrase == nil ? 0 : 1) }

    /// Returns the key; nil if there is no passphrase and not exactly one other source.
    ///
    /// With `isNew`, the terminal asks for a passphrase twice; with `createsIfMissing`, the first use creates a missing
    /// key file.
    ///
    /// - Throws: The error of the passphrase or of the platform's store.
    package func key(
        isNew: Bool = false,
        createsIfMissing: Bool = false
    ) async throws -> SecretFileKey? {
        if let passphrase { return .passphrase(try passphrase.passphrase(isNew: isNew)) }
        guard source.count == 1 else { return nil }
        return .source(try await source.source(createsIfMissing: createsIfMissing))
    }
}
