extension LocationService {
    /// The position as the platform offers it: CoreLocation on Apple's systems, gpsd on this machine
    /// elsewhere.
    ///
    /// Nothing is monitored and nobody is asked before a call does so. On tvOS, which has no
    /// continuous positions, each call fails with `unsupported`.
    ///
    /// - Parameter configuration: Limits and the clock.
    /// - Returns: The service.
    public static func platformDefault(
        _ configuration: Configuration = Configuration()
    ) -> LocationService {
        guard let adapter = platformAdapter else {
            return LocationService(
                unavailable: LocationError(
                    .unsupported,
                    "This platform has no source of positions."
                )
            )
        }
        return LocationService(adapter, configuration: configuration)
    }

    /// The platform's source of positions; nil where it has none.
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
