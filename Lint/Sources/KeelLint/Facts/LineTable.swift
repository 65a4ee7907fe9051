import Foundation

struct LineTable {
    private var starts: [Int32] = [0]

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let base = bytes.baseAddress else { return }
        starts.reserveCapacity(bytes.count / 32)
        // A lone carriage return ends a line as well, in files from classic Mac OS.
        let hasReturns = memchr(base, 0x0D, bytes.count) != nil
        var position = 0
        while position < bytes.count {
            if hasReturns {
                let byte = bytes[position]
                position += 1
                if byte == 0x0A
                    || byte == 0x0D && (position == bytes.count || bytes[position] != 0x0A)
                {
                    starts.append(Int32(position))
                }
            } else {
                guard let found = memchr(base + position, 0x0A, bytes.count - position) else {
                    break
                }
                position = UnsafeRawPointer(found) - UnsafeRawPointer(base) + 1
                starts.append(Int32(position))
            }
        }
    }

    func line(at offset: Int) -> Int {
        var low = 0
        var high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= offset { low = middle } else { high = middle }
        }
        return low
    }

    func place(at offset: Int) -> SourcePlace {
        let line = line(at: offset)
        return SourcePlace(line: Int32(line + 1), column: Int32(offset) - starts[line] + 1)
    }

    /// The place of an offset that is likely near a line, which is updated.
    func place(at offset: Int, near line: inout Int) -> SourcePlace {
        var next = line
        while next < starts.count, next - line < 8, starts[next] <= offset { next += 1 }
        line = next > line && next - line < 8 ? next - 1 : self.line(at: offset)
        return SourcePlace(line: Int32(line + 1), column: Int32(offset) - starts[line] + 1)
    }

    /// The offset of a line, from 0; the end of the file for lines after the last.
    func start(ofLine line: Int, in count: Int) -> Int {
        line < starts.count ? Int(starts[line]) : count
    }

    var count: Int { starts.count }
}
