/// A type that reports the network path of this device and its changes.
///
/// Apps use ``NetworkStatus``; a source promises that
///
/// - it calls `report` with the current path soon after ``observe(_:)`` and after each change, in order and never
///   concurrently;
/// - soon after a call of the returned function it makes no more reports and releases all resources of the observation;
///   calling the function again has no effect.
public protocol NetworkPathSource: Sendable {
    /// Starts an observation; call the returned function to end it.
    func observe(
        _ report: @escaping @Sendable (NetworkPath) -> Void
    ) -> @Sendable () -> Void
}

/// A source for systems without path information: the path is unknown.
public struct UnknownNetworkPathSource: NetworkPathSource {
    /// Creates the source.
    public init() {}

    public func observe(
        _ report: @escaping @Sendable (NetworkPath) -> Void
    ) -> @Sendable () -> Void {
        report(NetworkPath(.unknown))
        return {}
    }
}
