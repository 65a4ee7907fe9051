internal import CKeelZlib

/// A compression in the gzip format; not thread-safe.
package final class DeflateStream {
    private let stream: UnsafeMutablePointer<z_stream>
    private let isOpen: Bool

    package init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        isOpen =
            deflateInit2_(
                stream,
                Z_DEFAULT_COMPRESSION,
                Z_DEFLATED,
                DeflateFormat.gzip.windowBits,
                8,
                Z_DEFAULT_STRATEGY,
                ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)
            ) == Z_OK
    }

    deinit {
        if isOpen { deflateEnd(stream) }
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Compresses bytes, or ends the compressed data with nil; returns the output so far, or nil if memory is
    /// exhausted.
    package func deflate(_ input: ArraySlice<UInt8>?) -> [UInt8]? {
        guard isOpen else { return nil }
        var result: [UInt8] = []
        var mutable = Array(input ?? [])
        var isOK = true
        mutable.withUnsafeMutableBufferPointer { bytes in
            stream.pointee.next_in = bytes.baseAddress
            stream.pointee.avail_in = UInt32(bytes.count)
            var isDone = false
            while !isDone, isOK {
                let room = 32 * 1024
                let piece = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                    stream.pointee.next_out = buffer.baseAddress
                    stream.pointee.avail_out = UInt32(room)
                    let status = CKeelZlib.deflate(stream, input == nil ? Z_FINISH : Z_NO_FLUSH)
                    isOK = status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR
                    count = room - Int(stream.pointee.avail_out)
                    isDone = stream.pointee.avail_out > 0
                }
                result += piece
            }
            stream.pointee.next_in = nil
        }
        return isOK ? result : nil
    }
}

/// A format that zlib reads and writes.
package enum DeflateFormat: Sendable {
    /// RFC 1952.
    case gzip
    /// RFC 1950, the meaning of `deflate` in HTTP (RFC 9110 section 8.4.1.2).
    case zlib
    /// RFC 1951, which some servers send as `deflate`.
    case raw

    var windowBits: Int32 {
        switch self {
        case .gzip: MAX_WBITS + 16
        case .zlib: MAX_WBITS
        case .raw: -MAX_WBITS
        }
    }
}
