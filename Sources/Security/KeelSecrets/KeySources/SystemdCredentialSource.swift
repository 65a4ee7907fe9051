#if Crypto
public import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A key that systemd passes to a service with `LoadCredential=` or `LoadCredentialEncrypted=`.
///
/// The credential is a file in `$CREDENTIALS_DIRECTORY` that holds 32 bytes, 64 hexadecimal digits, or their base64.
public struct SystemdCredentialSource: KeyEncryptionKeySource {
    private let name: String
    private let folder: String?

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - name: The name of the credential in the unit file.
    ///   - folder: The folder of the credentials; nil uses `$CREDENTIALS_DIRECTORY`.
    public init(name: String, folder: String? = nil) {
        self.name = name
        self.folder = folder ?? ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"]
    }

    public func keyEncryptionKey() async throws -> KeyEncryptionKey {
        guard !name.isEmpty, !name.contains("/"), name != ".." else {
            throw SecretError(.invalidArgument, "A credential's name must be a file name.")
        }
        guard let folder, !folder.isEmpty else {
            throw SecretError(.missingKey, "$CREDENTIALS_DIRECTORY is not set.")
        }
        let bytes: [UInt8]
        do throws(FileSystemError) {
            let file = try DiskFileSystem().open(folder + "/" + name, for: .reading)
            bytes = try file.read(at: 0, count: min(try file.size(), 1_024))
        } catch {
            throw SecretError(error, otherwise: .missingKey)
        }
        return try KeyText.key(bytes, from: "The credential \(name)")
    }
}
#endif
