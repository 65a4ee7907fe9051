internal import Foundation
internal import KeelHTTP
internal import RestaurantsDomain

extension User {
    /// Maps what the service wrote.
    init(_ dto: UserDTO) throws(MappingFailure) {
        func required(_ value: String?, _ field: String) throws(MappingFailure) -> String {
            guard let value else { throw MappingFailure(id: dto.id, field, .missing) }
            return value
        }
        let id = try required(dto.id, "id")
        let name = try required(dto.name, "name")
        let email = try required(dto.email, "email")
        do throws(DomainError) {
            self.init(id: try UserID(id), name: name, email: try EmailAddress(email))
        } catch {
            let reason = error.errorDescription ?? "\(error.kind)"
            throw MappingFailure(id: id, "the user", .unreadable(reason))
        }
    }

    /// Maps what is kept beside the tokens of a session.
    init(_ credentials: BearerCredentials) throws(MappingFailure) {
        let fields = credentials.fields
        try self.init(UserDTO(id: fields["user"], name: fields["name"], email: fields["email"]))
    }
}

extension BearerCredentials {
    /// Maps what the service gave to a request that was made at a time.
    init(_ grant: GrantDTO, asked: Date) throws(MappingFailure) {
        guard let token = grant.accessToken else {
            throw MappingFailure(id: nil, "accessToken", .missing)
        }
        guard let dto = grant.user else { throw MappingFailure(id: nil, "user", .missing) }
        let user = try User(dto)
        self.init(
            accessToken: token,
            refreshToken: grant.refreshToken,
            expiresAt: grant.expiresIn.map { asked.addingTimeInterval($0) },
            fields: ["user": user.id.name, "name": user.name, "email": user.email.text]
        )
    }
}
