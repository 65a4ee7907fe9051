/// The recent invalidations in order, so that no response requested before one is stored after it.
struct InvalidationLog: Sendable {
    /// A position in the order of invalidations.
    struct Mark: Hashable, Sendable {
        fileprivate let step: UInt64
    }

    private static let limit = 1000

    private var step: UInt64 = 0
    private var last: [String: UInt64] = [:]
    /// Everything requested before this step counts as invalidated.
    private var floor: UInt64 = 0

    var mark: Mark { Mark(step: step) }

    mutating func add(_ tags: [String]) {
        step += 1
        if last.count + tags.count > Self.limit {
            last = [:]
            floor = step
        }
        for tag in tags { last[tag] = step }
    }

    mutating func addEverything() {
        step += 1
        last = [:]
        floor = step
    }

    /// Returns whether any of the tags was invalidated since a position.
    func concerns(_ tags: [String], since mark: Mark) -> Bool {
        floor > mark.step || tags.contains { (last[$0] ?? 0) > mark.step }
    }
}
