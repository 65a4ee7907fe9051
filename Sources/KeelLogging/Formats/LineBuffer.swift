#if Logging

internal import KeelCore

/// Bytes of a line that is being made, in memory that is used again for the next one.
///
/// Appending to it costs what copying the bytes costs, which an array of bytes does not quite
/// reach; every record passes here. It may go to another thread, which the compiler cannot see: its
/// memory is nobody else's.
package struct LineBuffer: ~Copyable, @unchecked Sendable {
    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    /// How many bytes there are.
    package private(set) var count = 0
    /// The second whose date and time of day are kept, since most lines share it with the last.
    private var stampedSecond = Int64.min
    /// `2026-11-22T09:45:13`.
    private let stamp = UnsafeMutableRawPointer.allocate(byteCount: 32, alignment: 8)
    private var stampLength = 0
    /// The parts of lines that were written before.
    var sites: CallSites

    /// What is kept for the next line; a longer one gives its memory back.
    private static let keptCapacity = 256 << 10

    /// Begins with room for so many bytes.
    ///
    /// - Parameters:
    ///   - capacity: How many bytes.
    ///   - keepsCallSites: Whether the parts of lines that repeat are kept: worth it for a buffer
    ///     that many lines are made in.
    package init(capacity: Int = 1024, keepsCallSites: Bool = false) {
        sites = CallSites(isKept: keepsCallSites)
        self.capacity = capacity
        memory = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        memory.deallocate()
        stamp.deallocate()
    }

    /// The bytes so far; valid until the next change.
    package var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory, count: count)
    }

    /// Takes back what was appended since there were so many bytes.
    mutating func removeAll(behind count: Int) { self.count = min(count, self.count) }

    /// Begins a new line.
    package mutating func removeAll() {
        count = 0
        if capacity > Self.keptCapacity {
            memory.deallocate()
            capacity = 1024
            memory = .allocate(byteCount: capacity, alignment: 16)
        }
    }

    /// Appends a byte.
    @inline(__always)
    package mutating func append(_ byte: UInt8) {
        makeRoom(for: 1)
        memory.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    /// Appends a text of the source.
    @inline(__always)
    package mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends a text.
    package mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    /// Appends bytes.
    @inline(__always)
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        makeRoom(for: bytes.count)
        (memory + count).copyMemory(from: start, byteCount: bytes.count)
        count += bytes.count
    }

    /// Appends a number in decimal digits, filled up with zeros to a length of at most 20.
    package mutating func append(_ number: Int64, digits: Int = 1) {
        if number < 0 { append(UInt8(ascii: "-")) }
        // Written from behind into the end of the room, then moved to its beginning.
        makeRoom(for: 20)
        let end = memory + count + 20
        var rest = number.magnitude
        var length = 0
        while rest > 0 || length < digits {
            length += 1
            (end - length).storeBytes(of: UInt8(rest % 10) + 0x30, as: UInt8.self)
            rest /= 10
        }
        (memory + count).copyMemory(from: end - length, byteCount: length)
        count += length
    }

    /// Appends a number below a million in six decimal digits.
    mutating func append(sixDigits number: Int) {
        makeRoom(for: 6)
        let out = memory + count
        Self.store(number / 10_000, at: out)
        Self.store(number / 100 % 100, at: out + 2)
        Self.store(number % 100, at: out + 4)
        count += 6
    }

    /// Writes a number below a hundred in two digits.
    @inline(__always)
    private static func store(_ number: Int, at out: UnsafeMutableRawPointer) {
        out.storeBytes(of: UInt8(truncatingIfNeeded: number / 10) &+ 0x30, as: UInt8.self)
        out.storeBytes(
            of: UInt8(truncatingIfNeeded: number % 10) &+ 0x30,
            toByteOffset: 1,
            as: UInt8.self
        )
    }

    /// Appends a name that has nothing to escape, between quotes, and a colon.
    mutating func append(plainName name: UnsafeBufferPointer<UInt8>) {
        let length = name.count
        makeRoom(for: length + 11)
        var out = memory + count
        out.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        out += 1
        // What stands behind a short name is overwritten.
        out.storeBytes(of: name.firstWord.littleEndian, as: UInt64.self)
        if length > 8, let start = name.baseAddress {
            (out + 8).copyMemory(from: start + 8, byteCount: length - 8)
        }
        out.storeBytes(of: UInt8(ascii: "\""), toByteOffset: length, as: UInt8.self)
        out.storeBytes(of: UInt8(ascii: ":"), toByteOffset: length + 1, as: UInt8.self)
        count += length + 3
    }

    /// Appends a text between quotes, as JSON has it.
    ///
    /// Eight bytes at a time are looked at and copied; those around an escape one by one.
    mutating func append(json text: String) {
        text.withBytes { append(json: $0) }
    }

    /// Appends a text of UTF-8 between quotes, as JSON has it.
    mutating func append(json bytes: UnsafeBufferPointer<UInt8>) {
        // An escape takes six bytes at the most.
        makeRoom(for: bytes.count * 6 + 16)
        var out = memory + count
        out.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        out += 1
        let source = UnsafeRawBufferPointer(bytes)
        var index = 0
        while bytes.count - index >= 8 {
            let word = source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            if !Self.hasEscape(word) {
                out.storeBytes(of: word, as: UInt64.self)
                out += 8
            } else {
                for offset in index..<(index + 8) {
                    out = JSONLine.store(bytes[offset], at: out)
                }
            }
            index += 8
        }
        let rest = bytes.count - index
        if rest >= 4 {
            // Two halves that overlap.
            let low = source.loadUnaligned(fromByteOffset: index, as: UInt32.self)
            let high = source.loadUnaligned(fromByteOffset: bytes.count - 4, as: UInt32.self)
            if !Self.hasEscape(UInt64(low) << 32 | UInt64(high)) {
                out.storeBytes(of: low, as: UInt32.self)
                (out + rest - 4).storeBytes(of: high, as: UInt32.self)
                out += rest
                index = bytes.count
            }
        }
        while index < bytes.count {
            out = JSONLine.store(bytes[index], at: out)
            index += 1
        }
        out.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        count = out + 1 - memory
    }

    /// Whether one of eight bytes is below 0x20, or a quote, a backslash or DEL.
    ///
    /// The tests for zero and for "less than" are those of H. Warren, "Hacker's Delight", chapter 6;
    /// what they find in excess is copied byte by byte.
    @inline(__always)
    private static func hasEscape(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        let quotes = word ^ (ones &* 0x22)
        let backslashes = word ^ (ones &* 0x5C)
        let deletes = word ^ (ones &* 0x7F)
        let found =
            (word &- (ones &* 0x20)) | (quotes &- ones) | (backslashes &- ones)
            | (deletes &- ones)
        return found & ~word & highs != 0
    }

    /// Appends `2026-11-22T09:45:13` for a second since 1970.
    mutating func appendSecond(_ second: Int64, _ write: (inout LineBuffer) -> Void) {
        if second != stampedSecond {
            let start = count
            write(&self)
            stampLength = count - start
            guard stampLength <= 32 else { return }
            stamp.copyMemory(from: memory + start, byteCount: stampLength)
            stampedSecond = second
            return
        }
        append(UnsafeRawBufferPointer(start: stamp, count: stampLength))
    }

    @inline(__always)
    private mutating func makeRoom(for more: Int) {
        if count + more > capacity { grow(by: more) }
    }

    @inline(never)
    private mutating func grow(by more: Int) {
        capacity = max(count + more, capacity * 2)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        larger.copyMemory(from: memory, byteCount: count)
        memory.deallocate()
        memory = larger
    }
}

extension String {
    /// Hands out the bytes, which texts of Swift have in one piece; those of Objective-C get it first.
    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var text = self
        return text.withUTF8(body)
    }
}

#endif
