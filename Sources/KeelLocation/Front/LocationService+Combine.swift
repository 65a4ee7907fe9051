#if canImport(Combine)
public import Combine

extension LocationService {
    /// The states of ``states``, for code on Combine.
    ///
    /// The source is monitored while somebody is subscribed. A subscriber that asks for less than
    /// there is gets the newest state and misses what lay in between.
    public var statePublisher: AnyPublisher<LocationState, Never> {
        SequencePublisher { self.states }.eraseToAnyPublisher()
    }

    /// The fixes of ``fixes(minimumDistance:)``, for code on Combine.
    ///
    /// ```swift
    /// location.fixPublisher(minimumDistance: 10).map(CLLocation.init)
    /// ```
    ///
    /// The source is monitored while somebody is subscribed. It ends with a failure that does not pass,
    /// such as a permission that was taken away, and never without one. A subscriber that asks for
    /// less than there is gets the newest 64 fixes when it asks again.
    ///
    /// - Parameter minimumDistance: How many metres a fix must be away from the last one that passed.
    /// - Returns: The publisher; each subscription begins anew.
    public func fixPublisher(
        minimumDistance: Double = 0
    ) -> AnyPublisher<LocationFix, LocationError> {
        SequencePublisher { self.fixes(minimumDistance: minimumDistance) }.eraseToAnyPublisher()
    }
}
#endif
