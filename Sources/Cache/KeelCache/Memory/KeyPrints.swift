/// Copies of string keys of 16 to 32 bytes, beside the entries.
///
/// Such a string is stored elsewhere, so comparing it would wait for one more cache line at each hit. A copy costs 32
/// bytes per entry. Strings with equal bytes are equal; else `==` decides.
///
/// `@unchecked`, because of the pointer: it belongs to a shard and is guarded by its lock.
@usableFromInline
struct KeyPrints<Key: Hashable & Sendable>: @unchecked Sendable {
    /// The first 16 bytes and the last 16.
    @usableFromInline typealias Words = (UInt64, UInt64, UInt64, UInt64)

    /// Nil unless the keys are strings.
    @usableFromInline var words: UnsafeMutablePointer<Words>?

    @inlinable
    init(_ capacity: Int) { words = Key.self == String.self ? Self.allocate(capacity) : nil }

    @inlinable
    func deallocate() { words?.deallocate() }

    /// Allocates copies aligned so that none spans two cache lines.
    @usableFromInline
    static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Words> {
        let size = capacity * MemoryLayout<Words>.stride
        let words = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
            .bindMemory(to: Words.self, capacity: capacity)
        words.initialize(repeating: (0, 0, 0, 0), count: capacity)
        return words
    }

    @usableFromInline
    mutating func grow(from count: Int, to capacity: Int) {
        guard let words else { return }
        let larger = Self.allocate(capacity)
        larger.update(from: words, count: count)
        words.deallocate()
        self.words = larger
    }

    @inlinable
    func set(_ key: Key, at slot: Int) {
        guard Key.self == String.self, let words else { return }
        if let bytes = Self.bytes(unsafeBitCast(key, to: String.self)) { words[slot] = bytes }
    }

    @inlinable
    func isPrint(of key: Key, at slot: Int, _ other: Key) -> Bool {
        guard Key.self == String.self, let words else { return false }
        let key = unsafeBitCast(key, to: String.self)
        let other = unsafeBitCast(other, to: String.self)
        guard let bytes = Self.bytes(key), key.utf8.count == other.utf8.count else { return false }
        let kept = words + slot
        // Compares all words: cheaper than branching after each.
        return (kept.pointee.0 ^ bytes.0) | (kept.pointee.1 ^ bytes.1)
            | (kept.pointee.2 ^ bytes.2) | (kept.pointee.3 ^ bytes.3) == 0
    }

    @inlinable
    static func bytes(_ string: String) -> Words? {
        let words = string.utf8.withContiguousStorageIfAvailable { bytes -> Words? in
            guard bytes.count >= 16, bytes.count <= 32 else { return nil }
            let raw = UnsafeRawBufferPointer(bytes)
            return (
                raw.loadUnaligned(as: UInt64.self),
                raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
                raw.loadUnaligned(fromByteOffset: bytes.count - 16, as: UInt64.self),
                raw.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
            )
        }
        return words ?? nil
    }
}
