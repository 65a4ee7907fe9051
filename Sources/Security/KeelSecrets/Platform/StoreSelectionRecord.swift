internal import KeelCore

/// The recorded choice of a program's secret store, kept in the folder of its encrypted file.
///
/// Which stores are usable changes, for example while a session begins. Without a record, secrets would be split
/// between stores.
struct StoreSelectionRecord: Sendable {
    private static let fileName = "secrets.choice"
    private static let lockName = "secrets.lock"

    private let folder: String
    private let files: any FileSystem

    init(folder: String, files: any FileSystem) {
        self.folder = folder
        self.files = files
    }

    func kind() throws(SecretError) -> SecretStoreCapabilities.Kind? {
        do throws(FileSystemError) {
            guard let bytes = try files.contents(of: path, upTo: 255) else { return nil }
            let name = String(decoding: bytes, as: UTF8.self).prefix { !$0.isNewline }
            return name.isEmpty ? nil : SecretStoreCapabilities.Kind(name: String(name))
        } catch {
            throw SecretError(error, otherwise: .loadFailed)
        }
    }

    /// Records a choice and returns the one that applies: another process may have been faster.
    ///
    /// - Throws: ``SecretError`` with the code `diskFull` or `timeout` if the choice cannot be recorded at the moment.
    func settle(
        on kind: SecretStoreCapabilities.Kind
    ) throws(SecretError) -> SecretStoreCapabilities.Kind {
        do {
            return try noted(kind)
        } catch {
            // The next launch could choose another store.
            if let error = error as? FileSystemError, [.noSpace, .busy].contains(error.kind) {
                throw SecretError(error, otherwise: .saveFailed)
            }
            // If the folder is not writable, no secret can be split off into its file either.
            return kind
        }
    }

    private var path: String { folder + "/" + Self.fileName }

    private func noted(
        _ kind: SecretStoreCapabilities.Kind
    ) throws -> SecretStoreCapabilities.Kind {
        try files.makeFolder(folder)
        let lock = try files.lock(folder + "/" + Self.lockName, waitingUpTo: 10_000)
        defer { withExtendedLifetime(lock) {} }
        if let standing = try self.kind() { return standing }
        try files.replaceFile(path, by: path + ".new", with: Array((kind.name + "\n").utf8))
        try files.syncFolder(folder)
        return kind
    }
}
