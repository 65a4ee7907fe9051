#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One position, with what the receiver knows about it.
///
/// What a receiver did not say is nil and never a number that stands for it. Accuracies are as the
/// source gives them: gpsd's hold for 95 % of fixes, CoreLocation's for about 68 %.
public struct LocationFix: Hashable, Sendable {
    /// The position, as latitude and longitude.
    public let coordinate: LocationCoordinate
    /// How far the true place may be away on the ground, in metres.
    public let horizontalAccuracy: Double?
    /// The height above mean sea level, in metres.
    public let altitude: Double?
    /// How far the true height may be away, in metres.
    public let verticalAccuracy: Double?
    /// The speed over ground, in metres a second.
    public let speed: Double?
    /// The direction of movement, in degrees clockwise from true north: from 0 up to 360, which is
    /// not included.
    public let course: Double?
    /// When it was taken, by the receiver's clock.
    public let time: Date

    /// Creates a fix.
    ///
    /// - Parameters:
    ///   - coordinate: Where it is.
    ///   - horizontalAccuracy: The uncertainty on the ground in metres, at least 0.
    ///   - altitude: The height above mean sea level in metres.
    ///   - verticalAccuracy: The uncertainty of the height in metres, at least 0.
    ///   - speed: The speed over ground in metres a second, at least 0.
    ///   - course: The direction in degrees clockwise from true north, from 0 to 360; 360 is kept
    ///     as 0.
    ///   - time: When it was taken.
    /// - Throws: ``LocationError`` with the code `invalidArgument` for a number outside of that.
    public init(
        _ coordinate: LocationCoordinate,
        horizontalAccuracy: Double? = nil,
        altitude: Double? = nil,
        verticalAccuracy: Double? = nil,
        speed: Double? = nil,
        course: Double? = nil,
        time: Date
    ) throws(LocationError) {
        let lengths = [
            ("horizontal accuracy", horizontalAccuracy), ("vertical accuracy", verticalAccuracy),
            ("speed", speed),
        ]
        for case (let name, let value?) in lengths where !(value >= 0 && value.isFinite) {
            throw LocationError(.invalidArgument, "The \(name) is no number of at least 0.")
        }
        guard altitude?.isFinite ?? true else {
            throw LocationError(.invalidArgument, "The altitude is no number.")
        }
        guard course.map((0...360).contains) ?? true else {
            throw LocationError(.invalidArgument, "A course is from 0 to 360 degrees.")
        }
        self.coordinate = coordinate
        self.horizontalAccuracy = horizontalAccuracy
        self.altitude = altitude
        self.verticalAccuracy = verticalAccuracy
        self.speed = speed
        self.course = course == 360 ? 0 : course
        self.time = time
    }

    /// Whether the fix is known to be at least this accurate on the ground.
    ///
    /// - Parameter accuracy: The metres that are asked for; nil takes any fix.
    /// - Returns: Whether it is; a fix of unknown accuracy is only where any is taken.
    public func isAccurate(to accuracy: Double?) -> Bool {
        guard let accuracy else { return true }
        guard let horizontalAccuracy else { return false }
        return horizontalAccuracy <= accuracy
    }
}

extension LocationFix: Codable {
    private enum CodingKeys: CodingKey {
        case coordinate
        case horizontalAccuracy
        case altitude
        case verticalAccuracy
        case speed
        case course
        case time
    }

    /// Reads a fix; numbers that are refused elsewhere are refused here too.
    ///
    /// - Parameter decoder: What it is read from.
    /// - Throws: `DecodingError`, or ``LocationError`` with the code `invalidArgument`.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            values.decode(LocationCoordinate.self, forKey: .coordinate),
            horizontalAccuracy: values.decodeIfPresent(Double.self, forKey: .horizontalAccuracy),
            altitude: values.decodeIfPresent(Double.self, forKey: .altitude),
            verticalAccuracy: values.decodeIfPresent(Double.self, forKey: .verticalAccuracy),
            speed: values.decodeIfPresent(Double.self, forKey: .speed),
            course: values.decodeIfPresent(Double.self, forKey: .course),
            time: values.decode(Date.self, forKey: .time)
        )
    }
}
