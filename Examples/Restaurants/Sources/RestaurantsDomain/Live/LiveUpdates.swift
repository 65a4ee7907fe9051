/// What is kept of one kind, told again whenever it changes.
///
/// It ends when the iterating task is cancelled.
public struct LiveUpdates<Item: Sendable>: AsyncSequence, Sendable {
    public typealias Element = LiveUpdate<Item>
    public typealias Failure = DomainError

    /// Waits for the next update; nil when there will be none.
    public typealias Next = () async throws(DomainError) -> LiveUpdate<Item>?

    private let start: @Sendable () -> Next

    /// Creates a sequence.
    ///
    /// - Parameter start: Begins to follow, once for each iterator.
    public init(_ start: @escaping @Sendable () -> Next) { self.start = start }

    public func makeAsyncIterator() -> Iterator { Iterator(next: start()) }

    /// One who follows.
    public struct Iterator: AsyncIteratorProtocol {
        let next: Next

        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(DomainError) -> LiveUpdate<Item>? {
            try await next()
        }
    }
}

@available(*, unavailable)
extension LiveUpdates.Iterator: Sendable {}

/// What is there, and what has changed since the update before.
public struct LiveUpdate<Item: Sendable>: Sendable {
    /// What happened to an item.
    public enum Change: Sendable {
        case added(Item)
        case changed(Item)
        case removed(Item)
    }

    /// How many items there are.
    public let count: Int
    /// What has changed; nil in the first update, which tells where things stand.
    public let changes: [Change]?

    /// Creates an update.
    public init(count: Int, changes: [Change]?) {
        self.count = count
        self.changes = changes
    }
}

extension LiveUpdate.Change: Equatable where Item: Equatable {}
extension LiveUpdate: Equatable where Item: Equatable {}
