#if WebSocket
import CKeelZlib
import KeelHTTP

/// Compresses outgoing messages (RFC 7692 section 7.2.1).
///
/// Not `Sendable`: it belongs to one connection.
final class Deflater {
    private let stream: UnsafeMutablePointer<z_stream>
    private let forgetsContext: Bool

    init(windowBits: Int, forgetsContext: Bool, level: Int) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        self.forgetsContext = forgetsContext
        let result = deflateInit2_(
            stream,
            Int32(min(9, max(1, level))),
            Z_DEFLATED,
            // zlib refuses 8 for raw data. With 9 it looks back at most 512 - 262 = 250 bytes,
            // which fit into a window of 256 bytes.
            Int32(-max(9, windowBits)),
            8,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)
        )
        precondition(result == Z_OK, "zlib is out of memory, or has an incompatible version")
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    func deflate(_ message: UnsafeRawBufferPointer) -> [UInt8] {
        // zlib has nothing to flush; this is the empty message of section 7.2.3.6.
        guard let start = message.baseAddress, !message.isEmpty else { return [0] }
        stream.pointee.next_in = UnsafeMutableRawPointer(mutating: start)
            .assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = UInt32(message.count)
        defer { stream.pointee.next_in = nil }
        var result: [UInt8] = []
        var room = Int(deflateBound(stream, UInt(message.count))) + 16
        repeat {
            result.reserveCapacity(result.count + room)
            let piece = [UInt8](unsafeUninitializedCapacity: room) { target, count in
                stream.pointee.next_out = target.baseAddress
                stream.pointee.avail_out = UInt32(room)
                _ = CKeelZlib.deflate(stream, Z_SYNC_FLUSH)
                count = room - Int(stream.pointee.avail_out)
            }
            if result.isEmpty { result = piece } else { result += piece }
            room = max(1024, room / 4)
        } while stream.pointee.avail_out == 0
        result.removeLast(4)
        if forgetsContext { deflateReset(stream) }
        return result
    }
}
#endif
