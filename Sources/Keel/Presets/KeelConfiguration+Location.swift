public import KeelLocation

extension KeelConfiguration {
    /// Where the device's position comes from.
    public enum LocationSource: Sendable {
        /// What the platform offers: CoreLocation on Apple's systems, gpsd on this machine elsewhere.
        case platform
        /// A gpsd at another place.
        case gpsd(host: String, port: UInt16)
        /// A track that somebody has written; an empty one is a source that never has a position.
        case track(LocationTrack)
    }

    /// Opens the source of positions that the configuration describes.
    ///
    /// Nothing is monitored and nobody is asked before a call does so.
    ///
    /// - Parameter configuration: Limits and the clock.
    /// - Returns: The device's position.
    public func makeLocation(
        _ configuration: LocationService.Configuration = LocationService.Configuration()
    ) -> LocationService {
        switch location {
        case .platform:
            guard let adapter = LocationService.platformAdapter else {
                return .platformDefault(configuration)
            }
            return service(on: adapter, configuration)
        case .gpsd(let host, let port):
            #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
            let adapter = GPSDLocationAdapter(.init(host: host, port: port))
            return service(on: adapter, configuration)
            #else
            return LocationService(
                unavailable: LocationError(.unsupported, "There are no sockets for gpsd here.")
            )
            #endif
        case .track(let track):
            let adapter = ScriptedLocationAdapter(track, clock: configuration.clock)
            return service(on: adapter, configuration)
        }
    }

    private func service(
        on adapter: some LocationAdapter,
        _ configuration: LocationService.Configuration
    ) -> LocationService {
        guard let observer else {
            return LocationService(adapter, configuration: configuration)
        }
        return LocationService(
            adapter.observed(clock: configuration.clock) { observer(KeelObservation($0)) },
            configuration: configuration
        )
    }
}
