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

        /// Waits for the next event; returns nil if the task is canceled.
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
