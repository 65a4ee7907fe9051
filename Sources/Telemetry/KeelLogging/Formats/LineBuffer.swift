#if Logging

internal import KeelCore

/// The bytes of the line being built, in memory reused for the next line.
///
/// Appending costs no more than copying the bytes; every record passes here. `@unchecked` because the compiler cannot
/// see that the memory is owned exclusively and may move to another thread.
package struct LineBuffer: ~Copyable, @unchecked Sendable {
    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    package private(set) var count = 0
    /// The second whose date and time are cached, since most lines share it with the last one.
    private var stampedSecond = Int64.min
    /// `2026-11-22T09:45:13`.
    private let stamp = UnsafeMutableRawPointer.allocate(byteCount: 32, alignment: 8)
    private var stampLength = 0
    var sites: CallSites

    /// The capacity kept for the next line; a larger buffer is freed.
    private static let keptCapacity = 256 << 10

    /// Creates an empty buffer; `keepsCallSites` caches the repeated parts of lines, which pays for many lines.
    package init(capacity: Int = 1024, keepsCallSites: Bool = false) {
        sites = CallSites(isKept: keepsCallSites)
        self.capacity = capacity
        memory = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        memory.deallocate()
        stamp.deallocate()
    }

    /// The bytes so far; valid until the next mutation.
    package var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory, count: count)
    }

    mutating func removeAll(behind count: Int) { self.count = min(count, self.count) }

    package mutating func removeAll() {
        count = 0
        if capacity > Self.keptCapacity {
            memory.deallocate()
            capacity = 1024
            memory = .allocate(byteCount: capacity, alignment: 16)
        }
    }

    @inline(__always)
    package mutating func append(_ byte: UInt8) {
        makeRoom(for: 1)
        memory.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    @inline(__always)
    package mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    package mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    @inline(__always)
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        makeRoom(for: bytes.count)
        (memory + count).copyMemory(from: start, byteCount: bytes.count)
        count += bytes.count
    }

    /// Appends a number in decimal, padded with zeros to a number of digits, at most 20.
    package mutating func append(_ number: Int64, digits: Int = 1) {
        if number < 0 { append(UInt8(ascii: "-")) }
        // Written backward from the end of the reserved space, then moved to its beginning.
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

    mutating func append(sixDigits number: Int) {
        makeRoom(for: 6)
        let out = memory + count
        Self.store(number / 10_000, at: out)
        Self.store(number / 100 % 100, at: out + 2)
        Self.store(number % 100, at: out + 4)
        count += 6
    }

    /// Writes a number below 100 in two digits.
    @inline(__always)
    private static func store(_ number: Int, at out: UnsafeMutableRawPointer) {
        out.storeBytes(of: UInt8(truncatingIfNeeded: number / 10) &+ 0x30, as: UInt8.self)
        out.storeBytes(
            of: UInt8(truncatingIfNeeded: number % 10) &+ 0x30,
            toByteOffset: 1,
            as: UInt8.self
        )
    }

    /// Appends a name without characters to escape, in quotes, and a colon.
    mutating func append(plainName name: UnsafeBufferPointer<UInt8>) {
        let length = name.count
        makeRoom(for: length + 11)
        var out = memory + count
        out.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        out += 1
        // Bytes after a shorter name are overwritten below.
        out.storeBytes(of: name.firstWord.littleEndian, as: UInt64.self)
        if length > 8, let start = name.baseAddress {
            (out + 8).copyMemory(from: start + 8, byteCount: length - 8)
        }
        out.storeBytes(of: UInt8(ascii: "\""), toByteOffset: length, as: UInt8.self)
        out.storeBytes(of: UInt8(ascii: ":"), toByteOffset: length + 1, as: UInt8.self)
        count += length + 3
    }

    /// Appends a text as a JSON string.
    ///
    /// Eight bytes at a time are checked and copied; those around an escape one by one.
    mutating func append(json text: String) {
        text.withBytes { append(json: $0) }
    }

    mutating func append(json bytes: UnsafeBufferPointer<UInt8>) {
        // An escape takes at most six bytes.
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
            // Two overlapping halves.
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
    /// The tests for zero and for "less than" are from H. Warren, "Hacker's Delight", chapter 6.
    /// False positives are copied byte by byte.
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

    /// Appends `2026-11-22T09:45:13` for a second since 1970, from the cache if it is the last one.
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
    /// Calls a closure with the UTF-8 bytes; bridged strings are made contiguous first.
    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var text = self
        return text.withUTF8(body)
    }
}

#endif
