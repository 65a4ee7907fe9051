internal import RestaurantsDomain

/// The signed-in user.
enum AccountView {
    static func signedIn(_ user: User) -> String { "Signed in as \(user.name) (\(user.id))." }

    static func signedOut(_ user: User?) -> String {
        user.map { "Signed out \($0.name) (\($0.id))." } ?? "Nobody was signed in."
    }

    static func render(_ user: User) -> String { "\(user.name) (\(user.id)), \(user.email)" }
}
