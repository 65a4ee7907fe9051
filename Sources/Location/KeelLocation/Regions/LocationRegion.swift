/// A circle on the Earth's surface.
public struct LocationRegion: Hashable, Sendable, Identifiable {
    /// The app's name for the region.
    public let id: String
    /// The center.
    public let center: LocationCoordinate
    /// The radius in meters, more than 0 and at most 20,000,000.
    public let radius: Double
    /// The distance beyond the radius, in meters, at which the region is left; at least 0.
    public let hysteresis: Double

    /// Creates a region.
    ///
    /// - Throws: ``LocationError`` with the code `invalidArgument` for a number outside its range.
    public init(
        id: String,
        center: LocationCoordinate,
        radius: Double,
        hysteresis: Double = 20
    ) throws(LocationError) {
        guard radius > 0, radius <= 20_000_000, hysteresis >= 0, hysteresis.isFinite else {
            throw LocationError(
                .invalidArgument,
                "A region's radius must be over 0 and up to 20,000 km, its hysteresis at least 0."
            )
        }
        self.id = id
        self.center = center
        self.radius = radius
        self.hysteresis = hysteresis
    }
}

/// The entering or leaving of a region.
public struct RegionEvent: Hashable, Sendable {
    /// The kinds of region events.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A fix is inside, after one outside or none.
        case entered
        /// A fix is outside by more than the hysteresis and its own uncertainty, after the region was entered.
        case exited
    }

    /// The kind of event.
    public let kind: Kind
    /// The region.
    public let region: LocationRegion
    /// The fix that caused the event.
    public let fix: LocationFix

    /// Creates an event, for tests.
    public init(_ kind: Kind, _ region: LocationRegion, by fix: LocationFix) {
        self.kind = kind
        self.region = region
        self.fix = fix
    }
}
