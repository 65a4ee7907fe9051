/// A circle on the Earth's surface, of which an app wants to know when it is entered and left.
public struct LocationRegion: Hashable, Sendable, Identifiable {
    /// The app's name for the region.
    public let id: String
    /// The middle.
    public let center: LocationCoordinate
    /// The distance from the middle to the edge, in metres.
    public let radius: Double
    /// How far beyond the edge one must be to have left, in metres.
    public let hysteresis: Double

    /// Creates a region.
    ///
    /// - Parameters:
    ///   - id: The app's name for the region.
    ///   - center: The middle.
    ///   - radius: The metres from the middle to the edge, more than 0 and at most 20,000,000.
    ///   - hysteresis: The metres beyond the edge at which the region is left, at least 0. Without
    ///     it, a receiver that lies on the edge would enter and leave with the noise of its fixes.
    /// - Throws: ``LocationError`` with the code `invalidArgument` for a number outside of that.
    public init(
        id: String,
        center: LocationCoordinate,
        radius: Double,
        hysteresis: Double = 20
    ) throws(LocationError) {
        guard radius > 0, radius <= 20_000_000, hysteresis >= 0, hysteresis.isFinite else {
            throw LocationError(
                .invalidArgument,
                "A region's radius is above 0 and at most 20,000 km, its hysteresis at least 0."
            )
        }
        self.id = id
        self.center = center
        self.radius = radius
        self.hysteresis = hysteresis
    }
}

/// A region that was entered or left.
public struct RegionEvent: Hashable, Sendable {
    /// What can happen to a region.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A fix is inside, and the one before was not, or there was none.
        case entered
        /// A fix is outside by more than the hysteresis, and the region was entered before.
        case exited
    }

    /// What happened.
    public let kind: Kind
    /// The region.
    public let region: LocationRegion
    /// The fix that tells.
    public let fix: LocationFix

    /// Creates an event, for tests of what uses it.
    ///
    /// - Parameters:
    ///   - kind: What happened.
    ///   - region: The region.
    ///   - fix: The fix that tells.
    public init(_ kind: Kind, _ region: LocationRegion, by fix: LocationFix) {
        self.kind = kind
        self.region = region
        self.fix = fix
    }
}
