/// Passes fixes that are far enough from the previous one.
struct DistanceFilter: Sendable {
    private let minimum: Double
    private var last: LocationCoordinate?

    /// Creates a filter with a minimum distance in meters between the fixes that pass.
    init(_ minimum: Double) { self.minimum = minimum }

    mutating func passes(_ fix: LocationFix) -> Bool {
        if let last, last.distance(to: fix.coordinate) < minimum { return false }
        last = fix.coordinate
        return true
    }
}
