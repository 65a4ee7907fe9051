#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A position with its attributes, as reported by a receiver.
///
/// Unreported values are nil. The accuracies of gpsd hold for 95 % of fixes, those of Core Location for about 68 %.
public struct LocationFix: Hashable, Sendable {
    /// The latitude and longitude.
    public let coordinate: LocationCoordinate
    /// The uncertainty on the ground, in meters, at least 0.
    public let horizontalAccuracy: Double?
    /// The height above mean sea level, in meters.
    public let altitude: Double?
    /// The uncertainty of the height, in meters, at least 0.
    public let verticalAccuracy: Double?
    /// The speed over ground, in meters per second, at least 0.
    public let speed: Double?
    /// The direction of movement, in degrees clockwise from true north, from 0 to less than 360.
    public let course: Double?
    /// The time of the fix, by the receiver's clock.
    public let time: Date

    /// Creates a fix; a course of 360 degrees becomes 0.
    ///
    /// - Throws: ``LocationError`` with the code `invalidArgument` for a number outside its range.
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
            throw LocationError(.invalidArgument, "The \(name) must be a number of at least 0.")
        }
        guard altitude?.isFinite ?? true else {
            throw LocationError(.invalidArgument, "The altitude must be a number.")
        }
        guard course.map((0...360).contains) ?? true else {
            throw LocationError(.invalidArgument, "A course must be 0 to 360 degrees.")
        }
        self.coordinate = coordinate
        self.horizontalAccuracy = horizontalAccuracy
        self.altitude = altitude
        self.verticalAccuracy = verticalAccuracy
        self.speed = speed
        self.course = course == 360 ? 0 : course
        self.time = time
    }

    /// Returns whether the fix is known to be at least this accurate on the ground.
    ///
    /// - Parameter accuracy: The required accuracy in meters; nil accepts any fix.
    /// - Returns: False for an unknown accuracy, unless any is accepted.
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

    /// Decodes a fix, with the same validation.
    ///
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
