extension LocationService {
    /// Returns a service over Core Location on Apple platforms, and over the local gpsd elsewhere.
    ///
    /// On tvOS, which has no continuous positions, requests for permission and positions fail with `unsupported`.
    ///
    /// - Parameter configuration: Limits and clocks.
    /// - Returns: The service.
    public static func platformDefault(
        _ configuration: Configuration = Configuration()
    ) -> LocationService {
        guard let adapter = platformAdapter else {
            return LocationService(
                unavailable: LocationError(
                    .unsupported,
                    "This platform has no location source."
                )
            )
        }
        return LocationService(adapter, configuration: configuration)
    }

    /// The platform's source of positions; nil if it has none.
    package static var platformAdapter: (any LocationAdapter)? {
        #if canImport(CoreLocation) && !os(tvOS)
        CoreLocationAdapter()
        #elseif canImport(Glibc) || canImport(Musl)
        GPSDLocationAdapter()
        #else
        nil
        #endif
    }
}

/// An adapter that fails with the same error, where a source is required but none is available.
public struct UnavailableLocationAdapter: LocationAdapter {
    private let error: LocationError

    /// Creates an adapter.
    ///
    /// - Parameter error: The error that permission requests throw and monitorings report.
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
