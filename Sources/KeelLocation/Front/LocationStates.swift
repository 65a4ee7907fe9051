/// The states of a position, as they change: see ``LocationService/states``.
public struct LocationStates: AsyncSequence, Sendable {
    public typealias Element = LocationState
    public typealias Failure = Never

    let hub: LocationHub

    /// Begins to listen.
    public func makeAsyncIterator() -> Iterator { Iterator(hub: hub) }

    /// A listener, as long as it is kept.
    public struct Iterator: AsyncIteratorProtocol {
        // Keeps the monitoring alive for as long as somebody reads.
        private let hub: LocationHub
        private var base: AsyncStream<LocationState>.Iterator

        fileprivate init(hub: LocationHub) {
            self.hub = hub
            let stream = hub.listen(keepingNewest: 1) { update -> LocationState? in
                if case .state(let state) = update { state } else { nil }
            }
            base = stream.makeAsyncIterator()
        }

        /// Waits for the next state; nil when the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> LocationState? {
            await base.next(isolation: actor)
        }
    }
}

@available(*, unavailable)
extension LocationStates.Iterator: Sendable {}
