/// How many of how many, of late: counted in the window under way and the one before.
struct RecentCounts: Sendable, Hashable {
    private var window: Int64 = 0
    private var last = Counts()
    private var current = Counts()

    private struct Counts: Sendable, Hashable {
        var all = 0
        var marked = 0
    }

    /// How many there were.
    var all: Int { last.all + current.all }

    /// How many of them count.
    var marked: Int { last.marked + current.marked }

    /// Forgets what is older than two windows.
    mutating func move(to time: Duration, window length: Duration) {
        let now = Int64(time / max(length, .milliseconds(1)))
        guard now != window else { return }
        last = now == window + 1 ? current : Counts()
        current = Counts()
        window = now
    }

    /// Counts one.
    mutating func add() { current.all += 1 }

    /// Counts one that was added as one that counts.
    mutating func mark() { current.marked += 1 }
}
