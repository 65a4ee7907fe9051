internal import KeelHTTP
public import KeelNetworkStatus

extension NetworkStatus {
    /// A sequence of the network's availability, now and after each change.
    ///
    /// An element is false only if the system reports no connection; an outbox then waits.
    public var onlineStates: OnlineStates { OnlineStates(paths: paths) }
}

/// A sequence of the network's availability; see `NetworkStatus.onlineStates`.
public struct OnlineStates: AsyncSequence, Sendable {
    public typealias Element = Bool
    public typealias Failure = Never

    let paths: NetworkPaths

    public func makeAsyncIterator() -> Iterator { Iterator(base: paths.makeAsyncIterator()) }

    /// An iterator over the states.
    public struct Iterator: AsyncIteratorProtocol {
        var base: NetworkPaths.Iterator

        /// Waits for the next state; returns nil if the task is canceled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> Bool? {
            await base.next(isolation: actor).map { $0.status != .unsatisfied }
        }
    }
}

@available(*, unavailable)
extension OnlineStates.Iterator: Sendable {}
