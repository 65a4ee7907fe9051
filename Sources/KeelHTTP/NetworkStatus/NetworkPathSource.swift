/// A type that knows the network path of this device and learns of its changes.
///
/// Apps use ``NetworkStatus``; a source promises that
///
/// - `report` is called with the present path soon after ``observe(_:)``, and again after each
///   change, in order, never twice at once;
/// - once the returned function was called, reports end soon and everything that the observation
///   held is given back; calling it again does nothing.
public protocol NetworkPathSource: Sendable {
    /// Begins to watch; call the returned function to end it.
    func observe(
        _ report: @escaping @Sendable (NetworkPath) -> Void
    ) -> @Sendable () -> Void
}

/// A source for systems that do not tell: the path is unknown.
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
