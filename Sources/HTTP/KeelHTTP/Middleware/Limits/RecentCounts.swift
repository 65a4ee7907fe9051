/// Counts of recent items, and of those that are marked, in the current and the previous window.
struct RecentCounts: Sendable, Hashable {
    private var window: Int64 = 0
    private var last = Counts()
    private var current = Counts()

    private struct Counts: Sendable, Hashable {
        var all = 0
        var marked = 0
    }

    var all: Int { last.all + current.all }

    var marked: Int { last.marked + current.marked }

    /// Drops the items before the previous window.
    mutating func move(to time: Duration, window length: Duration) {
        let now = Int64(time / max(length, .milliseconds(1)))
        guard now != window else { return }
        last = now == window + 1 ? current : Counts()
        current = Counts()
        window = now
    }

    mutating func add() { current.all += 1 }

    mutating func mark() { current.marked += 1 }
}
