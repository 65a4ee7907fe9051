/// A repository of the user's position.
public protocol WhereaboutsRepository: Sendable {
    /// Returns the device's position; asks the user for permission if needed.
    ///
    /// - Throws: ``DomainError`` of the kind `locationRefused` or `locationUnknown`.
    func currentPlace() async throws(DomainError) -> Coordinate
}
