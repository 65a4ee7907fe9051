internal import CKeelZlib

/// The formats that zlib reads and writes.
enum DeflateFormat {
    /// RFC 1952.
    case gzip
    /// RFC 1950; this is what `deflate` means in HTTP (RFC 9110 section 8.4.1.2).
    case zlib
    /// RFC 1951; what some servers send for `deflate` all the same.
    case raw

    /// The parameter by which zlib knows the format, for the largest window.
    var windowBits: Int32 {
        switch self {
        case .gzip: MAX_WBITS + 16
        case .zlib: MAX_WBITS
        case .raw: -MAX_WBITS
        }
    }
}

/// Why compressed bytes cannot be read.
enum InflateFailure: Error {
    /// They are not in their format, or more follows than belongs to them.
    case corrupt
    /// They end too early.
    case truncated
}

/// One decompression, with its window; not safe for use from two threads at once.
final class InflateStream {
    // zlib keeps the address of the stream inside its state: it must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private var isOpen = false

    init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
    }

    deinit {
        if isOpen { inflateEnd(stream) }
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Begins to read a format, or a further member of it.
    func open(_ format: DeflateFormat) throws(InflateFailure) {
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

    /// Reads bytes until they are used up, the output is full, or the compressed text ends.
    ///
    /// - Parameters:
    ///   - input: The bytes to read; what is not used stays.
    ///   - limit: The most bytes to give.
    /// - Returns: The bytes, and whether the compressed text has ended.
    /// - Throws: `corrupt`.
    func inflate(
        _ input: inout ArraySlice<UInt8>,
        upTo limit: Int
    ) throws(InflateFailure) -> (output: [UInt8], isAtEnd: Bool) {
        var status = Z_OK
        var used = 0
        let output = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            input.withUnsafeBufferPointer { bytes in
                // zlib only reads from it, though its type does not say so.
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
        // With no progress possible, zlib reports a buffer error, which is none here.
        case Z_OK, Z_BUF_ERROR: return (output, false)
        case Z_STREAM_END: return (output, true)
        default: throw .corrupt
        }
    }
}

/// One compression in the gzip format; not safe for use from two threads at once.
final class DeflateStream {
    private let stream: UnsafeMutablePointer<z_stream>
    private let isOpen: Bool

    init() {
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

    /// Compresses bytes, or ends the compressed text with nil.
    ///
    /// - Returns: What there is by now, which may be nothing; nil if there was no memory.
    func deflate(_ input: ArraySlice<UInt8>?) -> [UInt8]? {
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
