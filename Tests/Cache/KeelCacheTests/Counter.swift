import Synchronization

final class Counter: Sendable {
    private let total = Atomic<Int>(0)

    var count: Int { total.load(ordering: .acquiring) }

    @discardableResult
    func add() -> Int { total.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }

    func reset() { total.store(0, ordering: .releasing) }
}
