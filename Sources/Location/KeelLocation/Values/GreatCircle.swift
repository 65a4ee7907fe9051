#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Foundation
#endif

/// Distances on a sphere of the Earth's size.
enum GreatCircle {
    /// The mean radius of the WGS 84 ellipsoid, (2a + b) / 3, in meters.
    static let radius = 6_371_008.7714

    /// Returns the shortest distance between two places in meters, by the haversine formula.
    ///
    /// Unlike the law of cosines, it is precise for close places.
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
