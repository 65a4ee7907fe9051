/// A place on earth: latitude and longitude in degrees (WGS 84).
public struct GeoPoint: Hashable, Codable, Sendable {
    /// Degrees north of the equator, -90 to 90.
    public var latitude: Double
    /// Degrees east of Greenwich, -180 to 180.
    public var longitude: Double

    /// Creates a point; a document refuses one outside of the ranges.
    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }

    package var isValid: Bool {
        (-90...90).contains(latitude) && (-180...180).contains(longitude)
    }
}
