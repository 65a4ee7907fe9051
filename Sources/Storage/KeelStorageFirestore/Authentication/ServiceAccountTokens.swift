#if Crypto
internal import HTTPTypes
public import KeelCore
public import KeelHTTP
internal import KeelHTTPAuthentication
internal import Synchronization

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A source of access tokens for a service account, which exchanges a signed JSON Web Token for an access token.
///
/// The exchange follows RFC 7523 section 2.1 and Google's "Using OAuth 2.0 for server to server applications". A token
/// is cached until a minute before it expires, or until it is refused; concurrent callers share one exchange.
public final class ServiceAccountTokens: TokenSource {
    /// The default scope: reading and writing Firestore.
    public static let firestoreScope = "https://www.googleapis.com/auth/datastore"

    private struct Kept {
        let token: AccessToken
        let expiry: Date?
    }

    private let key: ServiceAccountKey
    private let scope: String
    private let server: OAuthIdentityServer
    private let now: @Sendable () -> Date
    private let kept = Mutex<Kept?>(nil)
    private let flight = SingleFlight<String, AccessToken>()

    /// Creates a source of tokens.
    public convenience init(
        _ key: ServiceAccountKey,
        scopes: [String] = [firestoreScope],
        transport: any HTTPTransport
    ) {
        self.init(key, scopes: scopes, transport: transport, now: { Date() })
    }

    package init(
        _ key: ServiceAccountKey,
        scopes: [String],
        transport: any HTTPTransport,
        now: @escaping @Sendable () -> Date
    ) {
        self.key = key
        self.now = now
        scope = scopes.joined(separator: " ")
        var origin = key.tokenAddress
        let path = EndpointPath(segments: origin.pathSegments)
        origin.removePath()
        var settings = NetworkClient.Configuration(baseURL: origin)
        settings.redirects = .never
        server = OAuthIdentityServer(
            NetworkClient(settings, transport: transport),
            path: path,
            now: now
        )
    }

    public var identity: String? { key.account }

    package var waiterCount: Int { flight.waiterCount }

    public func token() async throws -> AccessToken {
        if let kept = kept.withLock({ $0 }), isFresh(kept) { return kept.token }
        return try await flight.run(scope) { try await self.exchange() }
    }

    public func token(after refused: AccessToken) async throws -> AccessToken {
        kept.withLock { kept in
            if let token = kept?.token, token.isSameIssue(as: refused) { kept = nil }
        }
        return try await token()
    }

    private func isFresh(_ kept: Kept) -> Bool {
        guard let expiry = kept.expiry else { return true }
        return expiry.timeIntervalSince(now()) > 60
    }

    private func exchange() async throws(AuthenticationError) -> AccessToken {
        let form: HTTPQuery = [
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "assertion": try assertion(),
        ]
        do throws(NetworkError) {
            let credentials = try await server.grant(form)
            let token = AccessToken(credentials.accessToken)
            kept.withLock { $0 = Kept(token: token, expiry: credentials.expiresAt) }
            return token
        } catch {
            throw Self.failure(error)
        }
    }

    /// Returns a signed JSON Web Token (RFC 7519) that identifies the account, valid for an hour.
    private func assertion() throws(AuthenticationError) -> String {
        let issued = Int64(now().timeIntervalSince1970)
        let header = FirestoreJSON.members([
            "alg": "RS256", "typ": "JWT", "kid": key.keyID.map(FirestoreJSON.string),
        ])
        let claims: FirestoreJSON = [
            "iss": .string(key.account),
            "scope": .string(scope),
            "aud": .string(key.tokenAddress.absoluteString),
            "iat": .integer(issued),
            "exp": .integer(issued + 3600),
        ]
        let signed = [header, claims].map { Base64.encodeForURL($0.bytes) }.joined(separator: ".")
        do {
            return signed + "." + Base64.encodeForURL(try key.signature(for: signed))
        } catch {
            throw AuthenticationError(.denied, "The service account's key cannot sign.")
        }
    }

    private static func failure(_ error: NetworkError) -> AuthenticationError {
        if error.isCancellation { return AuthenticationError(.cancelled) }
        guard let status = error.response?.status.code, [400, 401, 403].contains(status) else {
            return AuthenticationError(.refreshFailed, cause: error)
        }
        return AuthenticationError(
            .denied,
            "Google rejected the service account's key; it may have been revoked, or the system clock "
                + "may be wrong.",
            cause: error
        )
    }
}

extension URL {
    fileprivate var pathSegments: [String] {
        path(percentEncoded: false).split(separator: "/").map(String.init)
    }

    fileprivate mutating func removePath() {
        var parts = URLComponents(url: self, resolvingAgainstBaseURL: false)
        parts?.path = ""
        parts?.query = nil
        if let origin = parts?.url { self = origin }
    }
}
#else
/// A source of access tokens for a service account; requires the package's `Crypto` trait.
@available(*, unavailable, message: "Enable the 'Crypto' trait of the keel package.")
public struct ServiceAccountTokens: Sendable {}
#endif
