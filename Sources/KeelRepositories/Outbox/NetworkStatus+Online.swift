public import KeelHTTP

extension NetworkStatus {
    /// Whether there may be a way to the network, now and after each change.
    ///
    /// False only where the system says that there is none: what an outbox waits for.
    public var onlineStates: OnlineStates { OnlineStates(paths: paths) }
}

/// Whether there may be a way to the network: see `NetworkStatus.onlineStates`.
public struct OnlineStates: AsyncSequence, Sendable {
    public typealias Element = Bool
    public typealias Failure = Never

    let paths: NetworkPaths

    public func makeAsyncIterator() -> Iterator { Iterator(base: paths.makeAsyncIterator()) }

    /// Reads the states one by one.
    public struct Iterator: AsyncIteratorProtocol {
        var base: NetworkPaths.Iterator

        /// Waits for the next state; nil when the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> Bool? {
            await base.next(isolation: actor).map { $0.status != .unsatisfied }
        }
    }
}

@available(*, unavailable)
extension OnlineStates.Iterator: Sendable {}
