/// Where the user is.
public protocol WhereaboutsRepository: Sendable {
    /// Returns the place that the device is at; asks the user for permission where that is needed.
    ///
    /// - Throws: ``DomainError`` of the kind `locationRefused` or `locationUnknown`.
    func currentPlace() async throws(DomainError) -> Coordinate
}
