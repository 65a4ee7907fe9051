internal import Foundation
internal import Synchronization

/// The accounts and sessions of the service; sessions are lost when it ends.
///
/// | request | body | response |
/// |---|---|---|
/// | `POST /auth/login` | `{"email": …, "password": …}` | tokens and the user |
/// | `POST /auth/refresh` | `{"refresh_token": …}` | new tokens; the old one becomes invalid |
/// | `POST /auth/logout` | `{"refresh_token": …}` | nothing |
/// | `GET /me` with a bearer token | | the user |
final class AccountBook: Sendable {
    /// A user who can sign in.
    struct Account: Sendable {
        let id: String
        let name: String
        let email: String
        // A service with real users would store a salted hash.
        let password: String
    }

    /// The fictitious users of the service.
    static let accounts = [
        Account(id: "ada", name: "Ada Lovelace", email: "ada@example.com", password: "engine"),
        Account(id: "bob", name: "Bob Harbour", email: "bob@example.com", password: "lantern"),
    ]

    /// The lifetime of an access token in seconds.
    static let tokenLife = 900

    private struct State {
        var access: [String: Access] = [:]
        var refresh: [String: Account] = [:]
    }

    private struct Access {
        let account: Account
        let end: Date
    }

    private let now: @Sendable () -> Date
    private let state = Mutex(State())

    init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

    // MARK: Requests

    func logIn(_ request: APIRequest) -> APIResponse {
        guard let form = request.decoded(as: LoginForm.self) else {
            return .failure(400, "the body must hold an email and a password")
        }
        let account = Self.accounts.first {
            $0.email == form.email.lowercased() && $0.password == form.password
        }
        // The response does not reveal which of the two is wrong.
        guard let account else { return .failure(401, "the email or the password is wrong") }
        return grant(to: account)
    }

    func refresh(_ request: APIRequest) -> APIResponse {
        guard let form = request.decoded(as: RefreshForm.self) else {
            return .failure(400, "the body must hold a refresh_token")
        }
        guard let account = take(form.refreshToken) else {
            return .failure(401, "the refresh token is not good")
        }
        return grant(to: account)
    }

    func logOut(_ request: APIRequest) -> APIResponse {
        guard let form = request.decoded(as: RefreshForm.self) else {
            return .failure(400, "the body must hold a refresh_token")
        }
        _ = take(form.refreshToken)
        return APIResponse(status: 204, body: [])
    }

    func currentUser(_ request: APIRequest) -> APIResponse {
        guard let account = account(of: request) else { return Self.badToken }
        return .value(UserJSON(account))
    }

    static let badToken = APIResponse.failure(401, "the access token is not good")

    /// Returns the user of a request's token.
    func account(of request: APIRequest) -> Account? {
        let now = now()
        return state.withLock { state in
            guard let access = request.bearerToken.flatMap({ state.access[$0] }),
                access.end > now
            else { return nil }
            return access.account
        }
    }

    // MARK: Tokens

    private func grant(to account: Account) -> APIResponse {
        let (access, refresh) = (Self.token(), Self.token())
        let end = now().addingTimeInterval(Double(Self.tokenLife))
        state.withLock { state in
            state.access[access] = Access(account: account, end: end)
            state.refresh[refresh] = account
        }
        return .value(
            GrantJSON(
                accessToken: access,
                refreshToken: refresh,
                expiresIn: Self.tokenLife,
                user: UserJSON(account)
            )
        )
    }

    /// Invalidates a refresh token, and all access tokens of its user with it.
    private func take(_ refreshToken: String) -> Account? {
        state.withLock { state -> Account? in
            guard let account = state.refresh.removeValue(forKey: refreshToken) else { return nil }
            state.access = state.access.filter { $0.value.account.id != account.id }
            return account
        }
    }

    private static func token() -> String {
        (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    }
}

private struct LoginForm: Decodable {
    let email: String
    let password: String
}

private struct RefreshForm: Decodable {
    let refreshToken: String
}

private struct GrantJSON: Encodable {
    let accessToken: String
    let refreshToken: String
    let expiresIn: Int
    let user: UserJSON
}

private struct UserJSON: Encodable {
    let id: String
    let name: String
    let email: String

    init(_ account: AccountBook.Account) {
        id = account.id
        name = account.name
        email = account.email
    }
}
