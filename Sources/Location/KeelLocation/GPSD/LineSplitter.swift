/// Splits received bytes into lines.
///
/// A line beyond the limit is dropped as it arrives, and counted once.
struct LineSplitter {
    private let limit: Int
    private var line: [UInt8] = []
    private var isDropping = false

    init(limit: Int) { self.limit = limit }

    /// The result of splitting.
    struct Lines: Equatable {
        /// The complete, nonempty lines without their ends.
        var lines: [[UInt8]] = []
        /// The number of lines beyond the limit.
        var oversizedCount = 0
    }

    mutating func take(_ bytes: some Sequence<UInt8>) -> Lines {
        var result = Lines()
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                if !line.isEmpty { result.lines.append(line) }
                line.removeAll(keepingCapacity: true)
                isDropping = false
            } else if !isDropping {
                if line.count == limit {
                    isDropping = true
                    line.removeAll()
                    result.oversizedCount += 1
                } else {
                    line.append(byte)
                }
            }
        }
        return result
    }
}
