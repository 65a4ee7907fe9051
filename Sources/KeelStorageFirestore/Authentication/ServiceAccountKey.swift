#if Crypto
public import KeelStorageAdapting
internal import _CryptoExtras

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The private key of a service account, as Google hands it out in a file of JSON.
///
/// Its text is a secret: descriptions, dumps and mirrors leave it out.
public struct ServiceAccountKey: Sendable {
    /// The account's name, an address of email.
    public let account: String
    /// The project that the account belongs to, where the file says so.
    public let project: String?
    /// The name of the key among those of the account, where the file says so.
    public let keyID: String?
    /// The address that hands out access tokens.
    let tokenAddress: URL

    private let privateKey: _RSA.Signing.PrivateKey

    /// Reads a key from the content of its file.
    ///
    /// - Parameter json: The content.
    /// - Throws: `StorageError/Code/invalidArgument` if it is not a service account's key.
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

    /// The signature of a text by RSASSA-PKCS1-v1_5 with SHA-256, which RS256 is.
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
/// The private key of a service account, which needs the package's `Crypto` trait.
@available(*, unavailable, message: "Enable the 'Crypto' trait of the keel package.")
public struct ServiceAccountKey: Sendable {}
#endif
