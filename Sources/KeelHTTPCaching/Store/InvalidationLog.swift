/// What was made worthless lately, in order: a response that was asked for before is not stored
/// afterwards.
struct InvalidationLog: Sendable {
    /// A moment in the order of things.
    struct Mark: Hashable, Sendable {
        fileprivate let step: UInt64
    }

    private static let limit = 1000

    private var step: UInt64 = 0
    private var last: [String: UInt64] = [:]
    /// Whatever was asked for before this step counts as worthless.
    private var floor: UInt64 = 0

    /// The present moment.
    var mark: Mark { Mark(step: step) }

    /// Notes that everything with a tag has become worthless.
    mutating func add(_ tags: [String]) {
        step += 1
        if last.count + tags.count > Self.limit {
            last = [:]
            floor = step
        }
        for tag in tags { last[tag] = step }
    }

    /// Notes that everything has become worthless.
    mutating func addEverything() {
        step += 1
        last = [:]
        floor = step
    }

    /// Whether something with these tags that was asked for at a moment has become worthless.
    func concerns(_ tags: [String], since mark: Mark) -> Bool {
        floor > mark.step || tags.contains { (last[$0] ?? 0) > mark.step }
    }
}
