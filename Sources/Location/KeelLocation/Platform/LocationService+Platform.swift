extension LocationService {
    /// Returns a service over Core Location on Apple platforms, and over the local gpsd elsewhere.
    ///
    /// Nothing is monitored and the user is not asked before the first call. On tvOS, which has no
    /// continuous positions, each call fails with `unsupported`.
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
