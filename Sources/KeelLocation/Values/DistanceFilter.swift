/// Lets a fix through when it is far enough from the one before.
struct DistanceFilter: Sendable {
    private let minimum: Double
    private var last: LocationCoordinate?

    /// Creates a filter that lets the first fix through, and then those at least so many metres
    /// from the last one that it let through.
    init(_ minimum: Double) { self.minimum = minimum }

    /// Whether the fix goes through.
    mutating func passes(_ fix: LocationFix) -> Bool {
        if let last, last.distance(to: fix.coordinate) < minimum { return false }
        last = fix.coordinate
        return true
    }
}
