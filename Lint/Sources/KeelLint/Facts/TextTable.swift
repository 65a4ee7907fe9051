#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A table that assigns consecutive numbers to texts.
///
/// Texts are compared by bytes, as in the compiler, which is faster than a dictionary of strings.
package struct TextTable: Sendable {
    private struct Entry {
        var hash: UInt64
        var start: Int
        var count: Int
    }

    private var bytes: [UInt8] = []
    private var entries: [Entry] = []
    /// Numbers plus one, from the slot of the hash on; the count is a power of two.
    private var slots: [UInt32]

    package init(minimumCapacity: Int = 16) {
        var size = 32
        while size < minimumCapacity * 2 { size *= 2 }
        slots = Array(repeating: 0, count: size)
        entries.reserveCapacity(size / 2)
    }

    package var count: Int { entries.count }

    /// The total size, with one byte of length per text.
    var byteCount: Int { bytes.count + entries.count }

    /// Returns the number of a text, adding it if needed.
    package mutating func number(
        of text: UnsafeBufferPointer<UInt8>
    ) -> (number: Int, isNew: Bool) {
        let hash = Self.hash(of: text)
        let slot = slot(of: text, hash)
        if slots[slot] > 0 { return (Int(slots[slot]) - 1, false) }
        entries.append(Entry(hash: hash, start: bytes.count, count: text.count))
        bytes.append(contentsOf: text)
        slots[slot] = UInt32(entries.count)
        if entries.count * 2 > slots.count { grow() }
        return (entries.count - 1, true)
    }

    package func find(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        let number = slots[slot(of: text, Self.hash(of: text))]
        return number > 0 ? Int(number) - 1 : nil
    }

    package mutating func number(of text: String) -> (number: Int, isNew: Bool) {
        var text = text
        return text.withUTF8 { number(of: $0) }
    }

    package func visitAll(_ work: (UnsafeBufferPointer<UInt8>) -> Void) {
        bytes.withUnsafeBufferPointer { bytes in
            for entry in entries {
                work(
                    UnsafeBufferPointer(rebasing: bytes[entry.start..<(entry.start + entry.count)])
                )
            }
        }
    }

    // MARK: Slots

    private func slot(of text: UnsafeBufferPointer<UInt8>, _ hash: UInt64) -> Int {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] > 0 {
            let entry = entries[Int(slots[slot]) - 1]
            if entry.hash == hash, entry.count == text.count, holds(text, at: entry.start) {
                return slot
            }
            slot = (slot + 1) & mask
        }
        return slot
    }

    private func holds(_ text: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
        guard let other = text.baseAddress, !text.isEmpty else { return true }
        return bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { memcmp($0 + start, other, text.count) == 0 } ?? false
        }
    }

    private mutating func grow() {
        let mask = slots.count * 2 - 1
        slots = Array(repeating: 0, count: mask + 1)
        for (number, entry) in entries.enumerated() {
            var slot = Int(truncatingIfNeeded: entry.hash) & mask
            while slots[slot] > 0 { slot = (slot + 1) & mask }
            slots[slot] = UInt32(number + 1)
        }
    }

    /// Eight bytes at a time: fast, but not resistant to deliberate collisions.
    static func hash(of text: UnsafeBufferPointer<UInt8>) -> UInt64 {
        let bytes = UnsafeRawBufferPointer(text)
        var hash = UInt64(bytes.count) ^ 0x9E37_79B9_7F4A_7C15
        var position = 0
        while position + 8 <= bytes.count {
            mix(&hash, bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            position += 8
        }
        if position < bytes.count {
            var rest: UInt64 = 0
            if bytes.count >= 8 {
                // The last eight bytes, some of which were hashed already.
                rest = bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
            } else {
                for offset in position..<bytes.count { rest = rest << 8 | UInt64(bytes[offset]) }
            }
            mix(&hash, rest)
        }
        return hash
    }

    @inline(__always)
    private static func mix(_ hash: inout UInt64, _ word: UInt64) {
        let product = (hash ^ word).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
        hash = product.high ^ product.low
    }
}
