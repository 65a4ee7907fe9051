/// What a source of positions reports while it is monitored.
public enum LocationEvent: Sendable {
    /// The source works and has no position: at the beginning, after a connection was made, or
    /// because the receiver has lost its satellites.
    case searching
    /// A position that was true so long ago; live fixes have the age zero.
    case fix(LocationFix, age: Duration)
    /// Something is wrong.
    ///
    /// After an error that is transient the source goes on trying by itself.
    case failure(LocationError)

    /// A position that is true now.
    ///
    /// - Parameter fix: The position.
    /// - Returns: The event, of the age zero.
    public static func fix(_ fix: LocationFix) -> LocationEvent { .fix(fix, age: .zero) }
}

/// How a source is to be monitored.
public struct LocationRequest: Sendable, Hashable {
    /// The accuracy that suffices, in metres; nil asks for the best.
    ///
    /// A hint that saves power: a source may be more or less accurate than asked.
    public var desiredAccuracy: Double?

    /// Creates a request.
    ///
    /// - Parameter desiredAccuracy: The accuracy that suffices in metres; nil asks for the best.
    public init(desiredAccuracy: Double? = nil) { self.desiredAccuracy = desiredAccuracy }
}
