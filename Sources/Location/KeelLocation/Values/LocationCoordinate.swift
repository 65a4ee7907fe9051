#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Foundation
#endif

/// A place on the Earth's surface, as latitude and longitude in WGS 84.
///
/// Coordinates are always valid: latitudes from −90° to 90°, longitudes from −180° to 180°.
public struct LocationCoordinate: Hashable, Sendable {
    /// The degrees north of the equator, negative to the south.
    public let latitude: Double
    /// The degrees east of Greenwich, negative to the west.
    public let longitude: Double

    /// Creates a coordinate.
    ///
    /// - Throws: ``LocationError`` with the code `invalidArgument` for other values.
    public init(latitude: Double, longitude: Double) throws(LocationError) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else {
            throw LocationError(
                .invalidArgument,
                "A latitude must be -90 to 90 degrees, and a longitude -180 to 180."
            )
        }
        self.latitude = latitude
        self.longitude = longitude
    }

    /// Returns the shortest distance to another place along the surface, in meters.
    ///
    /// The Earth is taken as a sphere of its mean radius (haversine formula), with an error below 0.6 %.
    public func distance(to other: LocationCoordinate) -> Double {
        GreatCircle.distance(from: self, to: other)
    }
}

extension LocationCoordinate: Codable {
    private enum CodingKeys: CodingKey {
        case latitude
        case longitude
    }

    /// Decodes a coordinate, with the same validation.
    ///
    /// - Throws: `DecodingError`, or ``LocationError`` with the code `invalidArgument`.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            latitude: values.decode(Double.self, forKey: .latitude),
            longitude: values.decode(Double.self, forKey: .longitude)
        )
    }
}

enum GreatCircle {
    /// The mean radius of the WGS 84 ellipsoid, (2a + b) / 3, in meters.
    static let radius = 6_371_008.7714

    static func distance(from start: LocationCoordinate, to end: LocationCoordinate) -> Double {
        let degree = Double.pi / 180
        let north = sin((end.latitude - start.latitude) * degree / 2)
        // Across the date line the difference is near 360 degrees, where the sine is near 0 again.
        let east = sin((end.longitude - start.longitude) * degree / 2)
        let haversine =
            north * north
            + cos(start.latitude * degree) * cos(end.latitude * degree) * east * east
        // Rounding may exceed 1 for antipodes, where the arc sine is undefined.
        return 2 * radius * asin(min(1, haversine.squareRoot()))
    }
}
