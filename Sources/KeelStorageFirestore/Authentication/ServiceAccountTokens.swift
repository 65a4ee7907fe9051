#if Crypto
internal import HTTPTypes
public import KeelCore
public import KeelHTTP
internal import Synchronization

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Access tokens for a service account: a signed statement of its key, exchanged for a token.
///
/// The exchange is that of RFC 7523 section 2.1, as Google describes it in "Using OAuth 2.0 for
/// server to server applications". A token is kept until a minute before it expires; many callers
/// at once cause one exchange.
public final class ServiceAccountTokens: TokenSource {
    /// What the tokens are for, unless something else is said: to read and write Firestore.
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

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - key: The account's key.
    ///   - scopes: What the tokens are for.
    ///   - transport: What carries the requests for tokens.
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

    /// How many callers wait for an exchange that is under way.
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

    /// The statement "I am this account": a signed JSON Web Token (RFC 7519), good for an hour.
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
            "Google does not accept the service account's key; it may have been withdrawn, or this "
                + "system's clock be wrong.",
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
/// Access tokens for a service account, which need the package's `Crypto` trait.
@available(*, unavailable, message: "Enable the 'Crypto' trait of the keel package.")
public struct ServiceAccountTokens: Sendable {}
#endif
