internal import KeelCore

/// The format of a file with a large value: a header, then chunks of 64 KiB, each in a frame.
///
/// All frames but the last have the same length on disk. A frame is bound to its file, its number and whether it is the
/// last: truncated, repeated or moved frames are refused.
struct LargeValueFormat: Sendable {
    static let chunkByteCount = 65_536
    static let headerByteCount = 32
    private static let magic: UInt32 = 0x3156_434B  // "KCV1"
    private static let version: UInt16 = 1
    /// The maximum number of bytes that sealing adds to a chunk.
    private static let sealingRoom = 128

    let id: UInt64
    let sealing: (any ByteSealing)?

    var stride: Int { Self.chunkByteCount + 12 + (sealing == nil ? 0 : Self.sealingRoom) }

    func offset(of chunk: Int) -> Int { Self.headerByteCount + chunk * stride }

    /// Returns the number of frames of a value; an empty value has one, which marks it as empty.
    static func chunkCount(of byteCount: Int) -> Int {
        max(1, (byteCount + chunkByteCount - 1) / chunkByteCount)
    }

    /// The bytes that a value takes on disk, without what sealing adds to its last chunk.
    func fewestBytes(of byteCount: Int) -> Int {
        let last = Self.chunkCount(of: byteCount) - 1
        return offset(of: last) + 12 + byteCount - last * Self.chunkByteCount
    }

    var header: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: Self.magic)
        bytes.append(littleEndian: Self.version)
        bytes.append(littleEndian: UInt16(sealing == nil ? 0 : 1))
        bytes.append(littleEndian: id)
        bytes.append(littleEndian: UInt64(0))
        bytes.append(littleEndian: XXHash64.hash(bytes))
        return bytes
    }

    func frame(_ chunk: [UInt8], _ number: Int, isLast: Bool) throws(CacheError) -> [UInt8] {
        var stored = chunk
        if let sealing {
            do {
                stored = try sealing.seal(chunk, context: context(number, isLast))
            } catch {
                throw .sealing("a chunk of a value could not be sealed", error)
            }
            guard stored.count <= Self.chunkByteCount + Self.sealingRoom else {
                throw CacheError(.sealingFailed, "sealing adds more than 128 bytes to a chunk")
            }
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(isLast ? stored.count + 12 : stride)
        bytes.append(littleEndian: UInt32(stored.count))
        bytes += stored
        bytes.append(littleEndian: XXHash64.hash(stored, seed: seed(number, isLast)))
        if !isLast { bytes += [UInt8](repeating: 0, count: stride - bytes.count) }
        return bytes
    }

    func chunk(_ frame: [UInt8], _ number: Int, isLast: Bool) -> [UInt8]? {
        let stored: [UInt8]? = frame.withUnsafeBytes { bytes in
            var cursor = ByteCursor(bytes)
            guard let count = cursor.number(UInt32.self),
                let stored = cursor.stretch(Int(count)),
                let checksum = cursor.number(UInt64.self),
                checksum == XXHash64.hash(stored, seed: seed(number, isLast))
            else { return nil }
            return Array(stored)
        }
        guard let stored, let sealing else { return stored }
        return try? sealing.open(stored, context: context(number, isLast))
    }

    private func seed(_ number: Int, _ isLast: Bool) -> UInt64 {
        let place = UInt64(number) &* 2 &+ (isLast ? 1 : 0)
        return id ^ (place &* 0x9E37_79B9_7F4A_7C15)
    }

    private func context(_ number: Int, _ isLast: Bool) -> [UInt8] {
        var context = Array("keel.cache.value".utf8)
        context.append(littleEndian: id)
        context.append(littleEndian: UInt64(number))
        context.append(isLast ? 1 : 0)
        return context
    }
}
