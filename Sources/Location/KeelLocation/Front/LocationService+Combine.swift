#if canImport(Combine)
public import Combine

extension LocationService {
    /// A publisher of ``states``.
    ///
    /// The source is monitored while there are subscribers. A slow subscriber skips to the newest state.
    public var statePublisher: AnyPublisher<LocationState, Never> {
        SequencePublisher { self.states }.eraseToAnyPublisher()
    }

    /// Returns a publisher of ``fixes(minimumDistance:)``.
    ///
    /// ```swift
    /// location.fixPublisher(minimumDistance: 10).map(CLLocation.init)
    /// ```
    ///
    /// The source is monitored while there are subscribers. The publisher ends only with a non-transient failure, such
    /// as a revoked permission. The newest 64 fixes are buffered.
    ///
    /// - Parameter minimumDistance: The minimum distance in meters from the previously published fix.
    /// - Returns: The publisher; each subscription is independent.
    public func fixPublisher(
        minimumDistance: Double = 0
    ) -> AnyPublisher<LocationFix, LocationError> {
        SequencePublisher { self.fixes(minimumDistance: minimumDistance) }.eraseToAnyPublisher()
    }
}
#endif
