internal import Foundation
internal import KeelHTTPAuthentication
internal import KeelRepositories
internal import RestaurantsDomain

extension UserDTO: DomainConvertible {
    /// Creates the user from the data stored with the tokens of a session.
    init(_ credentials: BearerCredentials) {
        let fields = credentials.additionalFields
        self.init(id: fields["user"], name: fields["name"], email: fields["email"])
    }

    func toDomain() throws(MappingError) -> User {
        let fields = FieldMapper(of: id)
        return User(
            id: try fields.userID(id, "id"),
            name: try fields.required(name, "name"),
            email: try fields.value(email, "email") { try EmailAddress($0) }
        )
    }
}

extension GrantDTO {
    /// Returns the credentials of a response whose request was sent at a time.
    func credentials(asked: Date) throws(MappingError) -> BearerCredentials {
        let fields = FieldMapper()
        let user = try fields.nested(user, "user")
        return BearerCredentials(
            accessToken: try fields.required(accessToken, "access_token"),
            refreshToken: refreshToken,
            expiresAt: expiresIn.map { asked.addingTimeInterval($0) },
            additionalFields: ["user": user.id.name, "name": user.name, "email": user.email.text]
        )
    }
}
