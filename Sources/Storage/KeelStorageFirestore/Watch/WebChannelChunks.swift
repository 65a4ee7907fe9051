/// Splits the body of a WebChannel reply into chunks.
///
/// A chunk is its length in decimal digits, a line feed, and that many UTF-16 code units of text, which is sent as
/// UTF-8: closure-library `goog/labs/net/webchannel/channelrequest.js`, `getNextChunk_`.
package struct WebChannelChunks: Sendable {
    package enum Flaw: Error {
        case noLength
        case tooLong
    }

    /// The maximum length of a chunk, in UTF-16 code units.
    private let limit: Int
    private var buffer: [UInt8] = []
    private var start = 0
    private var scanned = 0
    /// The number of code units that the chunk lacks; nil before its length is known.
    private var missing: Int?

    package init(limit: Int) { self.limit = limit }

    package mutating func append(_ bytes: some Sequence<UInt8>) {
        if start > 0 {
            buffer.removeFirst(start)
            scanned -= start
            start = 0
        }
        buffer += bytes
    }

    package mutating func next() throws(Flaw) -> ArraySlice<UInt8>? {
        if missing == nil { try readLength() }
        guard var missing else { return nil }
        while missing > 0, scanned < buffer.count {
            let (bytes, units) = Self.size(startingWith: buffer[scanned])
            guard scanned + bytes <= buffer.count else { break }
            scanned += bytes
            missing -= units
        }
        // A character of two code units cannot be cut.
        guard missing <= 0 else {
            self.missing = missing
            return nil
        }
        self.missing = nil
        defer { start = scanned }
        return buffer[start..<scanned]
    }

    private mutating func readLength() throws(Flaw) {
        var length = 0
        var place = start
        while place < buffer.count, buffer[place] != UInt8(ascii: "\n") {
            let digit = Int(buffer[place]) - Int(UInt8(ascii: "0"))
            guard (0...9).contains(digit) else { throw .noLength }
            length = length * 10 + digit
            guard length <= limit else { throw .tooLong }
            place += 1
        }
        guard place < buffer.count else { return }
        guard place > start else { throw .noLength }
        start = place + 1
        scanned = start
        missing = length
    }

    private static func size(startingWith byte: UInt8) -> (bytes: Int, units: Int) {
        switch byte {
        case 0xC0..<0xE0: (2, 1)
        case 0xE0..<0xF0: (3, 1)
        case 0xF0...: (4, 2)
        default: (1, 1)
        }
    }
}
