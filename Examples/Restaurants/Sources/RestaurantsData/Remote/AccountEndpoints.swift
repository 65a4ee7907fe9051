internal import HTTPTypes
internal import KeelHTTP

/// `POST /auth/login`: tokens for an e-mail address and a password.
struct PostLogin: Endpoint {
    typealias Response = GrantDTO

    let email: String
    let password: String

    var method: HTTPRequest.Method { .post }
    var path: EndpointPath { "/auth/login" }
    var body: RequestBody? { .json(["email": email, "password": password]) }
}

/// `POST /auth/refresh`: new tokens for a refresh token, which can be used once.
struct PostRefresh: Endpoint {
    typealias Response = GrantDTO

    let refreshToken: String

    var method: HTTPRequest.Method { .post }
    var path: EndpointPath { "/auth/refresh" }
    var body: RequestBody? { .json(["refresh_token": refreshToken]) }
}

/// `POST /auth/logout`: revokes a session's tokens.
struct PostLogout: Endpoint {
    typealias Response = EmptyResponse

    let refreshToken: String

    var method: HTTPRequest.Method { .post }
    var path: EndpointPath { "/auth/logout" }
    var body: RequestBody? { .json(["refresh_token": refreshToken]) }
}

/// `GET /me`: the user of the request's token.
struct GetCurrentUser: Endpoint {
    typealias Response = UserDTO

    var path: EndpointPath { "/me" }
    var options: HTTPCallOptions {
        var options = HTTPCallOptions()
        options.authentication = .required
        return options
    }
}
