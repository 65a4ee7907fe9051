internal import Synchronization

/// A count, from any task.
package final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    package init() {}

    package var count: Int { value.load(ordering: .acquiring) }

    /// Adds one, and returns the new count.
    @discardableResult
    package func next() -> Int { value.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }

    package func reset() { value.store(0, ordering: .releasing) }
}
