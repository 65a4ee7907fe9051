internal import CKeelZlib

package enum InflateFailure: Error {
    /// The bytes do not have the format, or extra bytes follow.
    case corrupt
    /// The bytes end too early.
    case truncated
}

/// A decompression with its window; not thread-safe.
package final class InflateStream {
    // zlib keeps the address of the stream in its state, so the stream must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private var isOpen = false

    package init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
    }

    deinit {
        if isOpen { inflateEnd(stream) }
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Starts a format, or a further member of it.
    package func open(_ format: DeflateFormat) throws(InflateFailure) {
        if isOpen {
            guard inflateReset2(stream, format.windowBits) == Z_OK else { throw .corrupt }
            return
        }
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, format.windowBits, ZLIB_VERSION, size) == Z_OK else {
            throw .corrupt
        }
        isOpen = true
    }

    /// Decompresses until the input is used up, the output is full, or the compressed data ends; unused input remains.
    ///
    /// - Returns: The output, and whether the compressed data has ended.
    /// - Throws: `corrupt`.
    package func inflate(
        _ input: inout ArraySlice<UInt8>,
        upTo limit: Int
    ) throws(InflateFailure) -> (output: [UInt8], isAtEnd: Bool) {
        var status = Z_OK
        var used = 0
        let output = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            input.withUnsafeBufferPointer { bytes in
                // zlib only reads through this pointer, despite its type.
                stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
                stream.pointee.avail_in = UInt32(bytes.count)
                stream.pointee.next_out = buffer.baseAddress
                stream.pointee.avail_out = UInt32(limit)
                status = CKeelZlib.inflate(stream, Z_NO_FLUSH)
                used = bytes.count - Int(stream.pointee.avail_in)
                stream.pointee.next_in = nil
            }
            count = limit - Int(stream.pointee.avail_out)
        }
        input = input.dropFirst(used)
        switch status {
        // Without progress zlib reports a buffer error, which is not one here.
        case Z_OK, Z_BUF_ERROR: return (output, false)
        case Z_STREAM_END: return (output, true)
        default: throw .corrupt
        }
    }
}
