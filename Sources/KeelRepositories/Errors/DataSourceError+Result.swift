public import KeelHTTP

extension Result where Success == NetworkResponse, Failure == TransportError {
    /// Reads what a service answered: its status, then its body.
    ///
    /// It is the first step of a data source in the style of results, and the place where a status gets
    /// a meaning:
    ///
    /// ```swift
    /// func user(id: String) async -> Result<User, DataSourceError> {
    ///     await users.response(to: .user(id: id)).value(as: UserDTO.self).toDomain()
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type that the body of a response with a status from 200 to 299 is decoded as;
    ///     `EmptyResponse` where nobody reads it.
    ///   - coding: How the service writes JSON.
    ///   - failures: Which types the body of a refusing response is read as.
    /// - Returns: The value, or what its lack means.
    public func value<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self,
        coding: JSONCoding = .standard,
        failures: [FailureBody] = []
    ) -> Result<Value, DataSourceError> {
        switch self {
        case .failure(let error):
            return .failure(DataSourceError(error))
        case .success(let response):
            do throws(NetworkError) {
                return .success(try response.value(as: type, coding: coding, failures: failures))
            } catch {
                return .failure(DataSourceError(error))
            }
        }
    }
}

extension Result where Success: DomainConvertible, Failure == DataSourceError {
    /// Makes the thing of the domain of a DTO; one that does not fit is
    /// ``DataSourceError/Code/unmappable``.
    public func toDomain() -> Result<Success.Domain, DataSourceError> {
        mapped { dto throws(MappingError) in try dto.toDomain() }
    }
}

extension Result
where Success: Sequence, Success.Element: DomainConvertible, Failure == DataSourceError {
    /// Makes things of the domain of all DTOs; one that does not fit makes the whole
    /// ``DataSourceError/Code/unmappable``.
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
