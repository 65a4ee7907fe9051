import HTTPTypes
import KeelCore
public import KeelHTTP
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A transport that answers as Firebase Authentication does, with users in memory.
///
/// ```swift
/// let firebase = FirebaseAuthenticationDouble()
/// let server = FirebaseIdentityServer(apiKey: "any", transport: firebase)
/// let credentials = try await server.signUp(email: "ada@example.org", password: "analytical")
/// ```
///
/// It supports signing up, signing in with a password or a custom token, linking, the e-mail for a password reset, and
/// the renewal of tokens, with the errors of the service. E-mail addresses that differ only in case are the same. As in
/// a new project, a reset and a failed sign-in do not tell whether an address is known. A custom token is `custom:` and
/// the id of the user. ID tokens are JSON Web Tokens without a signature, as those of Firebase's emulator.
///
/// Source: https://firebase.google.com/docs/reference/rest/auth
public final class FirebaseAuthenticationDouble: HTTPTransport {
    private struct User {
        var email: String?
        var password: String?
        var isDisabled = false
        /// The number of times that the user's refresh tokens were revoked.
        var generation = 0
    }

    private struct State {
        var users: [String: User] = [:]
        /// The number of users so far, also of removed ones.
        var signUps = 0
        var resets: [String] = []
        var failure: TransportError?
        var count = 0
    }

    private struct Refusal: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    private let lifetime: TimeInterval
    private let now: @Sendable () -> Date
    private let state = Mutex(State())

    public var features: HTTPTransportFeatures { [] }

    /// Creates a service without users.
    ///
    /// - Parameters:
    ///   - tokenLifetime: The number of seconds for which an ID token is valid.
    ///   - now: Returns the current time.
    public init(
        tokenLifetime: TimeInterval = 3_600,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        lifetime = tokenLifetime
        self.now = now
    }

    // MARK: Control

    /// The addresses to which an e-mail for a password reset was sent, in lowercase and in order.
    public var passwordResets: [String] { state.withLock { $0.resets } }

    /// The number of requests.
    public var requestCount: Int { state.withLock { $0.count } }

    /// Disables a user, or enables one; an unknown user is ignored.
    public func setDisabled(_ isDisabled: Bool, user: String) {
        state.withLock { $0.users[user]?.isDisabled = isDisabled }
    }

    /// Revokes the refresh tokens of a user, as a change of the password does.
    public func revokeTokens(of user: String) {
        state.withLock { $0.users[user]?.generation += 1 }
    }

    /// Removes a user.
    public func remove(user: String) { state.withLock { _ = $0.users.removeValue(forKey: user) } }

    /// Fails each request with an error, until this is called with nil.
    public func fail(with error: TransportError?) { state.withLock { $0.failure = error } }

    // MARK: Transport

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let failure = state.withLock { state in
            state.count += 1
            return state.failure
        }
        if let failure { throw failure }
        let body = try await call.body?.open().collect(upTo: 1 << 20) ?? []
        let path = (call.head.path ?? "").prefix { $0 != "?" }
        do {
            let members = try answer(String(path.split(separator: "/").last ?? ""), body)
            return Self.reply(.ok, members)
        } catch {
            let reason = (error as? Refusal)?.reason ?? "INVALID_ARGUMENT"
            let failure: [String: JSON] = ["code": .number(400), "message": .text(reason)]
            return Self.reply(.badRequest, ["error": .object(failure)])
        }
    }

    public func shutdown() async {}

    private func answer(_ method: String, _ body: [UInt8]) throws -> [String: JSON] {
        if method == "token" { return try renew(body) }
        let request = try JSONDecoder().decode(Request.self, from: Data(body))
        return try state.withLock { state in
            switch method {
            case "accounts:signUp" where request.idToken != nil: try link(request, &state)
            case "accounts:signUp": try signUp(request, &state)
            case "accounts:signInWithPassword": try signIn(request, &state)
            case "accounts:signInWithCustomToken": try signIn(customToken: request, &state)
            // A new project is protected against email enumeration.
            case "accounts:update": throw Refusal("OPERATION_NOT_ALLOWED")
            case "accounts:sendOobCode": try reset(request, &state)
            default: throw Refusal("NOT_FOUND")
            }
        }
    }

    private struct Request: Decodable {
        var email: String?
        var password: String?
        var token: String?
        var idToken: String?

        var address: String? { email?.lowercased() }
    }

    private func signUp(_ request: Request, _ state: inout State) throws -> [String: JSON] {
        var user = User()
        if request.email != nil || request.password != nil {
            try Self.setPassword(of: &user, request, state)
        }
        state.signUps += 1
        let id = "user-\(state.signUps)"
        state.users[id] = user
        return tokens(id, user)
    }

    private static func setPassword(
        of user: inout User,
        _ request: Request,
        _ state: State
    ) throws {
        guard let email = request.address, email.contains("@") else {
            throw Refusal("INVALID_EMAIL")
        }
        guard let password = request.password else { throw Refusal("MISSING_PASSWORD") }
        guard password.count >= 6 else {
            throw Refusal("WEAK_PASSWORD : Password should be at least 6 characters")
        }
        guard !state.users.values.contains(where: { $0.email == email }) else {
            throw Refusal("EMAIL_EXISTS")
        }
        (user.email, user.password) = (email, password)
    }

    private func signIn(_ request: Request, _ state: inout State) throws -> [String: JSON] {
        let found = state.users.first { $0.value.email != nil && $0.value.email == request.address }
        guard let (id, user) = found, user.password == request.password else {
            throw Refusal("INVALID_LOGIN_CREDENTIALS")
        }
        guard !user.isDisabled else { throw Refusal("USER_DISABLED") }
        return tokens(id, user)
    }

    private func signIn(
        customToken request: Request,
        _ state: inout State
    ) throws -> [String: JSON] {
        guard let token = request.token, token.hasPrefix("custom:") else {
            throw Refusal("INVALID_CUSTOM_TOKEN")
        }
        let id = String(token.dropFirst("custom:".count))
        let user = state.users[id] ?? User()
        guard !user.isDisabled else { throw Refusal("USER_DISABLED") }
        state.users[id] = user
        var answer = tokens(id, user)
        // The service names the user only in the token.
        answer["localId"] = nil
        return answer
    }

    private func link(_ request: Request, _ state: inout State) throws -> [String: JSON] {
        guard let token = request.idToken, let claims = Self.claims(of: token) else {
            throw Refusal("INVALID_ID_TOKEN")
        }
        guard claims.exp > now().timeIntervalSince1970 else { throw Refusal("TOKEN_EXPIRED") }
        guard var user = state.users[claims.sub] else { throw Refusal("USER_NOT_FOUND") }
        guard !user.isDisabled else { throw Refusal("USER_DISABLED") }
        try Self.setPassword(of: &user, request, state)
        state.users[claims.sub] = user
        return tokens(claims.sub, user)
    }

    private func reset(_ request: Request, _ state: inout State) throws -> [String: JSON] {
        guard let email = request.address else { throw Refusal("MISSING_EMAIL") }
        let isKnown = state.users.values.contains { $0.email == email }
        if isKnown { state.resets.append(email) }
        return ["email": .text(email)]
    }

    /// Renews tokens; a refresh token names its user and the generation.
    private func renew(_ body: [UInt8]) throws -> [String: JSON] {
        let form = String(decoding: body, as: UTF8.self).split(separator: "&")
        guard form.contains("grant_type=refresh_token"),
            let field = form.first(where: { $0.hasPrefix("refresh_token=") })
        else { throw Refusal("MISSING_REFRESH_TOKEN") }
        let parts = field.dropFirst("refresh_token=".count).split(separator: ".")
        guard parts.count == 3, parts[0] == "refresh", let generation = Int(parts[2]) else {
            throw Refusal("INVALID_REFRESH_TOKEN")
        }
        let id = Base64.decode(String(parts[1])).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return try state.withLock { state in
            guard let user = state.users[id] else { throw Refusal("USER_NOT_FOUND") }
            guard !user.isDisabled else { throw Refusal("USER_DISABLED") }
            guard user.generation == generation else { throw Refusal("TOKEN_EXPIRED") }
            let answer = tokens(id, user)
            return [
                "id_token": answer["idToken"], "refresh_token": answer["refreshToken"],
                "expires_in": answer["expiresIn"], "user_id": .text(id),
                "token_type": .text("Bearer"),
            ].compactMapValues { $0 }
        }
    }

    // MARK: Tokens

    private struct Claims: Codable {
        var sub: String
        var iat: TimeInterval
        var exp: TimeInterval
    }

    private func tokens(_ id: String, _ user: User) -> [String: JSON] {
        let issued = now().timeIntervalSince1970.rounded(.down)
        let claims = Claims(sub: id, iat: issued, exp: issued + lifetime)
        let parts: [[UInt8]] = [
            Array(#"{"alg":"none","typ":"JWT"}"#.utf8),
            (try? JSONEncoder().encode(claims)).map { Array($0) } ?? [],
        ]
        return [
            "idToken": .text(parts.map(Base64.encodeForURL).joined(separator: ".") + "."),
            "refreshToken": .text(
                "refresh.\(Base64.encodeForURL(Array(id.utf8))).\(user.generation)"
            ),
            "expiresIn": .text("\(Int(lifetime))"),
            "localId": .text(id),
        ]
    }

    private static func claims(of token: String) -> Claims? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        return Base64.decode(String(parts[1]))
            .flatMap { try? JSONDecoder().decode(Claims.self, from: Data($0)) }
    }

    // MARK: Answers

    private enum JSON: Encodable {
        case text(String)
        case number(Int)
        case object([String: JSON])

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            case .object(let members): try container.encode(members)
            }
        }
    }

    private static func reply(
        _ status: HTTPResponse.Status,
        _ members: [String: JSON]
    ) -> HTTPReply {
        let bytes = (try? JSONEncoder().encode(members)).map(Array.init) ?? []
        let head = HTTPResponse(status: status, headerFields: [.contentType: "application/json"])
        return HTTPReply(head: head, body: .chunks([bytes]))
    }
}
