#if Crypto
public import KeelStorageAdapting
internal import _CryptoExtras

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The private key of a Google service account, from its JSON key file.
///
/// The key is a secret: descriptions, dumps and mirrors omit it.
public struct ServiceAccountKey: Sendable {
    /// The account's email address.
    public let account: String
    /// The account's project, if the file names it.
    public let project: String?
    /// The id of the key within the account, if the file names it.
    public let keyID: String?
    let tokenAddress: URL

    private let privateKey: _RSA.Signing.PrivateKey

    /// Creates a key from the contents of its file.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if the contents are not the key of a service account.
    public init(json: some Collection<UInt8>) throws(StorageError) {
        guard let json = try? FirestoreJSON(parsing: json) else {
            throw Self.flaw("is not JSON")
        }
        guard let account = json["client_email"]?.text, let pem = json["private_key"]?.text else {
            throw Self.flaw("lacks “client_email” or “private_key”")
        }
        guard let address = json["token_uri"]?.text.flatMap({ URL(string: $0) }),
            address.scheme == "https" || address.scheme == "http"
        else { throw Self.flaw("has no address in “token_uri”") }
        guard let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem) else {
            throw Self.flaw("has no RSA key of at least 2048 bits in “private_key”")
        }
        self.account = account
        project = json["project_id"]?.text
        keyID = json["private_key_id"]?.text
        tokenAddress = address
        privateKey = key
    }

    /// Returns the RS256 signature of a text: RSASSA-PKCS1-v1_5 with SHA-256.
    func signature(for text: String) throws -> [UInt8] {
        let data = Data(text.utf8)
        return Array(
            try privateKey.signature(for: data, padding: .insecurePKCS1v1_5).rawRepresentation
        )
    }

    private static func flaw(_ what: String) -> StorageError {
        StorageError(.invalidArgument, "the key file of the service account \(what)")
    }
}

extension ServiceAccountKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "ServiceAccountKey(\(account))" }
    public var customMirror: Mirror { Mirror(self, children: ["account": account]) }
}
#else
/// The private key of a service account; requires the package's `Crypto` trait.
@available(*, unavailable, message: "Enable the 'Crypto' trait of the keel package.")
public struct ServiceAccountKey: Sendable {}
#endif
