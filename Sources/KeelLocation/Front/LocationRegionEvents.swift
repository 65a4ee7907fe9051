/// When regions are entered and left: see ``LocationService/regionEvents(_:)``.
public struct LocationRegionEvents: AsyncSequence, Sendable {
    public typealias Element = RegionEvent
    public typealias Failure = LocationError

    let hub: LocationHub
    let regions: [LocationRegion]

    /// Begins to listen.
    public func makeAsyncIterator() -> Iterator { Iterator(hub: hub, regions: regions) }

    /// A listener, as long as it is kept.
    public struct Iterator: AsyncIteratorProtocol {
        private var base: FixReader
        private var watch: RegionWatch
        /// What the last fix told and was not returned yet: at most one event for each region.
        private var events: ArraySlice<RegionEvent> = []

        fileprivate init(hub: LocationHub, regions: [LocationRegion]) {
            // Only where one is counts, not the way there.
            base = FixReader(hub, keepingNewest: 1)
            watch = RegionWatch(regions)
        }

        /// Waits for the next event; nil when the task is cancelled.
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
