/// Cuts what comes over a connection into lines.
///
/// A line that grows beyond the limit is dropped as it comes, and counted once.
struct LineSplitter {
    private let limit: Int
    private var line: [UInt8] = []
    private var isDropping = false

    init(limit: Int) { self.limit = limit }

    /// What came of some bytes.
    struct Lines: Equatable {
        /// The lines that are complete, without their ends and without empty ones.
        var lines: [[UInt8]] = []
        /// How many lines were longer than the limit.
        var oversizedCount = 0
    }

    /// Takes the next bytes.
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
