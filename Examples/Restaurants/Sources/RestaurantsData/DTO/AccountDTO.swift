/// The service's response to a sign-in and to each refresh.
struct GrantDTO: Decodable, Sendable {
    var accessToken: String?
    var refreshToken: String?
    /// The lifetime of the access token in seconds.
    var expiresIn: Double?
    var user: UserDTO?
}

/// A user in the service's format.
struct UserDTO: Decodable, Sendable {
    var id: String?
    var name: String?
    var email: String?
}
