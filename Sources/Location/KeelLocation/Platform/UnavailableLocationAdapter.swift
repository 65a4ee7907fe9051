/// An adapter that fails every call with the same error.
///
/// A placeholder where a source is required but unavailable.
public struct UnavailableLocationAdapter: LocationAdapter {
    private let error: LocationError

    /// Creates an adapter.
    ///
    /// - Parameter error: The error thrown by every call, and reported when monitored.
    public init(_ error: LocationError) { self.error = error }

    public func capabilities() async -> LocationCapabilities {
        LocationCapabilities(kind: .none, problem: error.code)
    }

    public func permission() async -> LocationPermission { .notRequired }

    public func requestPermission(
        _ scope: LocationPermission.Scope
    ) async throws(LocationError) -> LocationPermission {
        throw error
    }

    public func monitor(
        _ request: LocationRequest,
        report: @escaping @Sendable (LocationEvent) -> Void
    ) -> @Sendable () -> Void {
        report(.failure(error))
        return {}
    }
}
