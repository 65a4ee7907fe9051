/// A sequence of region events; see ``LocationService/regionEvents(_:)``.
public struct LocationRegionEvents: AsyncSequence, Sendable {
    public typealias Element = RegionEvent
    public typealias Failure = LocationError

    let hub: LocationHub
    let regions: [LocationRegion]

    /// Starts listening.
    public func makeAsyncIterator() -> Iterator { Iterator(hub: hub, regions: regions) }

    /// An iterator that listens while it exists.
    public struct Iterator: AsyncIteratorProtocol {
        private var base: FixReader
        private var watch: RegionWatch
        /// The remaining events of the last fix: at most one per region.
        private var events: ArraySlice<RegionEvent> = []

        fileprivate init(hub: LocationHub, regions: [LocationRegion]) {
            // Only the latest position matters, not the path.
            base = FixReader(hub, keepingNewest: 1)
            watch = RegionWatch(regions)
        }

        /// Waits for the next event; returns nil if the task is canceled, and after a failure.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(LocationError) -> RegionEvent? {
            while events.isEmpty {
                guard let fix = try await base.next(isolation: actor) else { return nil }
                events = watch.take(fix)[...]
            }
            return events.removeFirst()
        }
    }
}

@available(*, unavailable)
extension LocationRegionEvents.Iterator: Sendable {}

/// Tracks the regions around a series of fixes.
///
/// A fix within the radius enters a region. To leave it, a fix must be outside by more than the hysteresis and by more
/// than its own uncertainty. In between, nothing changes.
struct RegionWatch: Sendable {
    private let regions: [LocationRegion]
    private(set) var inside: Set<LocationRegion.ID> = []

    init(_ regions: [LocationRegion]) { self.regions = regions }

    /// Handles a fix; returns exits, then entries, each in the order of the regions.
    mutating func take(_ fix: LocationFix) -> [RegionEvent] {
        var exits: [RegionEvent] = []
        var entries: [RegionEvent] = []
        for region in regions {
            let distance = region.center.distance(to: fix.coordinate)
            if inside.contains(region.id) {
                let margin = max(region.hysteresis, fix.horizontalAccuracy ?? 0)
                guard distance > region.radius + margin else { continue }
                inside.remove(region.id)
                exits.append(RegionEvent(.exited, region, by: fix))
            } else if distance <= region.radius {
                inside.insert(region.id)
                entries.append(RegionEvent(.entered, region, by: fix))
            }
        }
        return exits + entries
    }
}
