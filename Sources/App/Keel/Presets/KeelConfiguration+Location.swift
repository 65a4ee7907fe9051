public import KeelLocation

extension KeelConfiguration {
    /// The source of the device's position.
    public enum LocationSource: Sendable {
        /// The platform's source: Core Location on Apple platforms, the local gpsd elsewhere.
        case platform
        /// A gpsd on another host; requires ``KeelConfiguration/allowsNetwork``.
        case gpsd(host: String, port: UInt16)
        /// A scripted track; an empty track never has a position.
        case track(LocationTrack)
    }

    /// Returns a service over the configured source of positions.
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
            guard allowsNetwork else {
                return LocationService(
                    unavailable: LocationError(
                        .unsupported,
                        "The \(environment) preset does not allow network access."
                    )
                )
            }
            #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
            let adapter = GPSDLocationAdapter(.init(host: host, port: port))
            return service(on: adapter, configuration)
            #else
            return LocationService(
                unavailable: LocationError(
                    .unsupported,
                    "gpsd is unsupported here: there are no sockets."
                )
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
