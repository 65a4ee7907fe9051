/// A sequence of states as they change; see ``LocationService/states``.
public struct LocationStates: AsyncSequence, Sendable {
    public typealias Element = LocationState
    public typealias Failure = Never

    let hub: LocationHub

    /// Starts listening.
    public func makeAsyncIterator() -> Iterator { Iterator(hub: hub) }

    /// An iterator that listens while it exists.
    public struct Iterator: AsyncIteratorProtocol {
        // Keeps the monitoring alive while the iterator exists.
        private let hub: LocationHub
        private var base: AsyncStream<LocationState>.Iterator

        fileprivate init(hub: LocationHub) {
            self.hub = hub
            let stream = hub.listen(keepingNewest: 1) { update -> LocationState? in
                if case .state(let state) = update { state } else { nil }
            }
            base = stream.makeAsyncIterator()
        }

        /// Waits for the next state; returns nil if the task is canceled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> LocationState? {
            await base.next(isolation: actor)
        }
    }
}

@available(*, unavailable)
extension LocationStates.Iterator: Sendable {}
