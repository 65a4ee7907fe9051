/// An event of a monitored source.
public enum LocationEvent: Sendable {
    /// The source works but has no position: at the start, after connecting, or because the
    /// receiver has lost its satellites.
    case searching
    /// A position with its age; live fixes have age zero.
    case fix(LocationFix, age: Duration)
    /// A failure.
    ///
    /// After a transient error the source keeps trying.
    case failure(LocationError)

    /// Returns an event for a current position.
    ///
    /// - Parameter fix: The position.
    /// - Returns: The event, with age zero.
    public static func fix(_ fix: LocationFix) -> LocationEvent { .fix(fix, age: .zero) }
}

/// How a source is monitored.
public struct LocationRequest: Sendable, Hashable {
    /// The sufficient accuracy in meters; nil requests the best.
    ///
    /// A hint that saves power: the source may be more or less accurate.
    public var desiredAccuracy: Double?

    /// Creates a request.
    ///
    /// - Parameter desiredAccuracy: The sufficient accuracy in meters; nil requests the best.
    public init(desiredAccuracy: Double? = nil) { self.desiredAccuracy = desiredAccuracy }
}
