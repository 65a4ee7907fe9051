/// Updates of a stored collection, one after each change.
///
/// The sequence ends when the iterating task is canceled.
public struct LiveUpdates<Item: Sendable>: AsyncSequence, Sendable {
    public typealias Element = LiveUpdate<Item>
    public typealias Failure = DomainError

    /// A function that waits for the next update, and returns nil at the end.
    public typealias Next = () async throws(DomainError) -> LiveUpdate<Item>?

    private let start: @Sendable () -> Next

    /// Creates a sequence.
    ///
    /// - Parameter start: Begins to follow the collection, once for each iterator.
    public init(_ start: @escaping @Sendable () -> Next) { self.start = start }

    public func makeAsyncIterator() -> Iterator { Iterator(next: start()) }

    /// An iterator.
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

/// The state of a collection, with the changes since the previous update.
public struct LiveUpdate<Item: Sendable>: Sendable {
    /// A change of an item.
    public enum Change: Sendable {
        case added(Item)
        case changed(Item)
        case removed(Item)
    }

    /// The number of items.
    public let count: Int
    /// The changes; nil in the first update, which has the initial state.
    public let changes: [Change]?

    /// Creates an update.
    public init(count: Int, changes: [Change]?) {
        self.count = count
        self.changes = changes
    }
}

extension LiveUpdate.Change: Equatable where Item: Equatable {}
extension LiveUpdate: Equatable where Item: Equatable {}
