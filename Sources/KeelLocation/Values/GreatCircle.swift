#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Foundation
#endif

/// Distances on a ball as large as the Earth.
enum GreatCircle {
    /// The mean radius of the ellipsoid of WGS 84, (2a + b) / 3, in metres.
    static let radius = 6_371_008.7714

    /// The length of the shortest way between two places, in metres, by the haversine formula.
    ///
    /// It keeps its precision for places next to each other, where the law of cosines loses it.
    static func distance(from start: LocationCoordinate, to end: LocationCoordinate) -> Double {
        let degree = Double.pi / 180
        let north = sin((end.latitude - start.latitude) * degree / 2)
        // Across the date line the difference is near 360 degrees, and its sine the same as near 0.
        let east = sin((end.longitude - start.longitude) * degree / 2)
        let haversine =
            north * north
            + cos(start.latitude * degree) * cos(end.latitude * degree) * east * east
        // Rounding may lead past 1 for antipodes, where there would be no arc sine.
        return 2 * radius * asin(min(1, haversine.squareRoot()))
    }
}
