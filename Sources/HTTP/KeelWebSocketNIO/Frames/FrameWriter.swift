#if WebSocket
/// Writes the frames of a client, which are masked (RFC 6455 section 5.3).
enum FrameWriter {
    /// The maximum length of a header, including the masking key.
    static let maximumHeaderLength = 14

    /// Writes one frame, with an unpredictable masking key, and returns the number of bytes written.
    ///
    /// The header has the length of the payload, and `target` has room for it and `maximumHeaderLength` bytes.
    static func write(
        _ header: FrameHeader,
        _ payload: UnsafeRawBufferPointer,
        key: UInt32,
        to target: UnsafeMutableRawBufferPointer
    ) -> Int {
        target[0] =
            (header.isFinal ? 0x80 : 0) | (header.isCompressed ? 0x40 : 0) | header.opcode.rawValue
        var position = 2
        switch payload.count {
        case ..<126:
            target[1] = 0x80 | UInt8(payload.count)
        case ...0xffff:
            target[1] = 0x80 | 126
            target.storeBytes(of: UInt16(payload.count).bigEndian, toByteOffset: 2, as: UInt16.self)
            position = 4
        default:
            target[1] = 0x80 | 127
            target.storeBytes(of: UInt64(payload.count).bigEndian, toByteOffset: 2, as: UInt64.self)
            position = 10
        }
        target.storeBytes(of: key, toByteOffset: position, as: UInt32.self)
        position += 4
        mask(payload, key: key, to: UnsafeMutableRawBufferPointer(rebasing: target[position...]))
        return position + payload.count
    }

    private static func mask(
        _ payload: UnsafeRawBufferPointer,
        key: UInt32,
        to target: UnsafeMutableRawBufferPointer
    ) {
        // The key repeats every four bytes in memory, whatever the byte order.
        let wide = UInt64(key) << 32 | UInt64(key)
        var position = 0
        while position + 8 <= payload.count {
            let word = payload.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            target.storeBytes(of: word ^ wide, toByteOffset: position, as: UInt64.self)
            position += 8
        }
        withUnsafeBytes(of: key) { key in
            while position < payload.count {
                target[position] = payload[position] ^ key[position & 3]
                position += 1
            }
        }
    }
}
#endif
