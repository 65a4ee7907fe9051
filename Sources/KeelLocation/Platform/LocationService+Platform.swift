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
        #if canImport(CoreLocation) && !os(tvOS)
        LocationService(CoreLocationAdapter(), configuration: configuration)
        #elseif canImport(Glibc) || canImport(Musl)
        LocationService(GPSDLocationAdapter(), configuration: configuration)
        #else
        LocationService(
            unavailable: LocationError(.unsupported, "This platform has no source of positions.")
        )
        #endif
    }
}
