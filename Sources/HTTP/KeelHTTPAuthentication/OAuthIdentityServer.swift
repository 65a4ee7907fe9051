public import HTTPTypes
public import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An identity server that renews tokens as specified by OAuth 2 (RFC 6749 section 6).
///
/// ```swift
/// let server = OAuthIdentityServer(client, path: "/oauth/token", fields: ["client_id": "app"])
/// let session = AuthSession(server: server, store: store)
/// ```
public struct OAuthIdentityServer: IdentityServer {
    private let client: NetworkClient
    private let path: EndpointPath
    private let fields: HTTPQuery
    private let headers: HTTPFields
    private let now: @Sendable () -> Date

    /// Creates a server.
    ///
    /// `fields`, such as `client_id` and `scope`, are added to the form of each request, and `headers`, such as
    /// `Authorization` with ``BasicCredentials/authorization``, to its header. Lifetimes are counted from `now`.
    public init(
        _ client: NetworkClient,
        path: EndpointPath,
        fields: HTTPQuery = HTTPQuery(),
        headers: HTTPFields = [:],
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.client = client
        self.path = path
        self.fields = fields
        self.headers = headers
        self.now = now
    }

    public func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
        guard let refreshToken = credentials.refreshToken else {
            throw AuthenticationError(.expired)
        }
        var form: HTTPQuery = ["grant_type": "refresh_token", "refresh_token": refreshToken]
        form.items += fields.items
        let asked = now()
        var renewed = try await grant(form, asked)
        // A server that does not rotate refresh tokens omits the field; the old token stays valid.
        renewed.refreshToken = renewed.refreshToken ?? refreshToken
        renewed.additionalFields = credentials.additionalFields
        return renewed
    }

    /// Requests tokens with another grant, such as `authorization_code`.
    ///
    /// - Throws: `NetworkError`, including for an error response of the server (RFC 6749 section 5.2).
    public func grant(_ form: HTTPQuery) async throws(NetworkError) -> BearerCredentials {
        var everything = form
        everything.items += fields.items
        return try await grant(everything, now())
    }

    private func grant(
        _ form: HTTPQuery,
        _ asked: Date
    ) async throws(NetworkError) -> BearerCredentials {
        let answer = try await client.request(
            TokenRequest(path: path, form: form, headers: headers)
        )
        return BearerCredentials(
            accessToken: answer.token,
            refreshToken: answer.refreshToken,
            // Counted from before the request, so that the round trip errs on the safe side.
            expiresAt: answer.lifetime.map { asked.addingTimeInterval($0) }
        )
    }
}

extension HTTPCallOptions {
    static var unauthenticated: HTTPCallOptions {
        var options = HTTPCallOptions()
        options.authentication = .none
        return options
    }
}

private struct TokenRequest: Endpoint {
    let path: EndpointPath
    let form: HTTPQuery
    let headers: HTTPFields

    var method: HTTPRequest.Method { .post }
    var body: RequestBody? { .form(form) }
    var options: HTTPCallOptions { .unauthenticated }

    // Decodes the fields by hand because the client's own naming strategy must not matter: "access_token" and
    // "accessToken" both arrive.
    struct Response: Decodable, Sendable {
        let token: String
        let refreshToken: String?
        let lifetime: TimeInterval?

        struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            func key(_ snake: String, _ camel: String) -> Key {
                let written = Key(stringValue: snake)
                return container.contains(written) ? written : Key(stringValue: camel)
            }
            token = try container.decode(String.self, forKey: key("access_token", "accessToken"))
            refreshToken = try container.decodeIfPresent(
                String.self,
                forKey: key("refresh_token", "refreshToken")
            )
            let expiry = key("expires_in", "expiresIn")
            // Some servers write the number as text.
            lifetime =
                (try? container.decodeIfPresent(TimeInterval.self, forKey: expiry))
                ?? (try? container.decodeIfPresent(String.self, forKey: expiry)).flatMap {
                    TimeInterval($0)
                }
        }
    }
}
