/// An adapter that fails every call with one error.
///
/// It stands where a source is expected and there is none, so that the calls say why.
public struct UnavailableLocationAdapter: LocationAdapter {
    private let error: LocationError

    /// Creates an adapter.
    ///
    /// - Parameter error: What every call throws, and what is reported where it is monitored.
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
