internal import Foundation

/// A place on the globe.
public struct Coordinate: Hashable, Sendable {
    /// Degrees north of the equator.
    public let latitude: Double
    /// Degrees east of Greenwich.
    public let longitude: Double

    /// Creates a coordinate; nil if the degrees are out of range.
    public init?(latitude: Double, longitude: Double) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        self.latitude = latitude
        self.longitude = longitude
    }

    /// Parses a place such as `51.2, -3.38`.
    ///
    /// - Throws: ``DomainError`` of the kind `invalidPlace`.
    public init(_ text: String) throws(DomainError) {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map {
            Double($0.trimmingCharacters(in: .whitespaces))
        }
        guard numbers.count == 2, let latitude = numbers[0], let longitude = numbers[1],
            let place = Coordinate(latitude: latitude, longitude: longitude)
        else { throw DomainError(.invalidPlace(text)) }
        self = place
    }

    /// Returns the distance in metres on a spherical globe, with an error of at most half a percent.
    public func distance(to other: Coordinate) -> Double {
        let radians = Double.pi / 180
        let (north, otherNorth) = (latitude * radians, other.latitude * radians)
        let half = (
            latitude: sin((otherNorth - north) / 2),
            longitude: sin((other.longitude - longitude) * radians / 2)
        )
        let square =
            half.latitude * half.latitude
            + cos(north) * cos(otherNorth) * half.longitude * half.longitude
        return 2 * 6_371_000 * asin(min(1, square.squareRoot()))
    }
}
