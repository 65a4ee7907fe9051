/// A place on the Earth's surface, by latitude and longitude of WGS 84.
///
/// A coordinate that exists is valid: latitudes are from −90° to 90°, longitudes from −180° to 180°,
/// both ends included.
public struct LocationCoordinate: Hashable, Sendable {
    /// The degrees north of the equator; south of it they are negative.
    public let latitude: Double
    /// The degrees east of Greenwich; west of it they are negative.
    public let longitude: Double

    /// Creates a coordinate.
    ///
    /// - Parameters:
    ///   - latitude: The latitude in degrees, from −90 to 90.
    ///   - longitude: The longitude in degrees, from −180 to 180.
    /// - Throws: ``LocationError`` with the code `invalidArgument` for numbers outside of that, and
    ///   for what is no number.
    public init(latitude: Double, longitude: Double) throws(LocationError) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else {
            throw LocationError(
                .invalidArgument,
                "A latitude is from -90 to 90 degrees, and a longitude from -180 to 180."
            )
        }
        self.latitude = latitude
        self.longitude = longitude
    }

    /// The distance to another place along the surface, in metres.
    ///
    /// The Earth is taken for a ball of its mean radius, as is usual for distances between fixes:
    /// against the ellipsoid the error is below 0.6 %.
    ///
    /// - Parameter other: The other place.
    /// - Returns: The metres of the shortest way.
    public func distance(to other: LocationCoordinate) -> Double {
        GreatCircle.distance(from: self, to: other)
    }
}

extension LocationCoordinate: Codable {
    private enum CodingKeys: CodingKey {
        case latitude
        case longitude
    }

    /// Reads a coordinate; numbers that are none are refused here too.
    ///
    /// - Parameter decoder: What it is read from.
    /// - Throws: `DecodingError`, or ``LocationError`` with the code `invalidArgument`.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            latitude: values.decode(Double.self, forKey: .latitude),
            longitude: values.decode(Double.self, forKey: .longitude)
        )
    }
}
