/// What the service gives to a user who signs in, and at each renewal.
struct GrantDTO: Decodable, Sendable {
    var accessToken: String?
    var refreshToken: String?
    /// For how many seconds the access token is good.
    var expiresIn: Double?
    var user: UserDTO?
}

/// A user as the service writes one.
struct UserDTO: Decodable, Sendable {
    var id: String?
    var name: String?
    var email: String?
}
