public import KeelHTTP

extension Result where Success == NetworkResponse, Failure == TransportError {
    /// Decodes a service's response, or the body of a status outside 200 to 299 as one of `errorBodies`.
    ///
    /// `EmptyResponse` ignores the body.
    ///
    /// ```swift
    /// func user(id: String) async -> Result<User, DataSourceError> {
    ///     await users.response(to: .user(id: id)).value(as: UserDTO.self).toDomain()
    /// }
    /// ```
    public func value<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self,
        coding: JSONCoding = .standard,
        errorBodies: [ErrorBody] = []
    ) -> Result<Value, DataSourceError> {
        switch self {
        case .failure(let error):
            return .failure(DataSourceError(error))
        case .success(let response):
            do throws(NetworkError) {
                let value = try response.value(as: type, coding: coding, errorBodies: errorBodies)
                return .success(value)
            } catch {
                return .failure(DataSourceError(error))
            }
        }
    }
}

extension Result where Success: DomainConvertible, Failure == DataSourceError {
    /// Maps a DTO to its domain value; one that does not fit is ``DataSourceError/Code/unmappable``.
    public func toDomain() -> Result<Success.Domain, DataSourceError> {
        mapped { dto throws(MappingError) in try dto.toDomain() }
    }
}

extension Result
where Success: Sequence, Success.Element: DomainConvertible, Failure == DataSourceError {
    /// Maps DTOs to their domain values; if any does not fit, the result is ``DataSourceError/Code/unmappable``.
    public func toDomain() -> Result<[Success.Element.Domain], DataSourceError> {
        mapped { list throws(MappingError) in try list.toDomain() }
    }
}

extension Result where Failure == DataSourceError {
    private func mapped<Domain>(
        _ map: (Success) throws(MappingError) -> Domain
    ) -> Result<Domain, DataSourceError> {
        flatMap { value in
            do throws(MappingError) {
                return .success(try map(value))
            } catch {
                return .failure(DataSourceError(error))
            }
        }
    }
}
