/// A geographic location: latitude and longitude in degrees (WGS 84).
public struct GeoPoint: Hashable, Codable, Sendable {
    /// The degrees north of the equator, -90 to 90.
    public var latitude: Double
    /// The degrees east of Greenwich, -180 to 180.
    public var longitude: Double

    /// Creates a point; writing a document with a point out of range fails.
    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }

    package var isValid: Bool {
        (-90...90).contains(latitude) && (-180...180).contains(longitude)
    }
}
