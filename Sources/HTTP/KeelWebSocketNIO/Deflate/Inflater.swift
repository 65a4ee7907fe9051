#if WebSocket
import CKeelZlib
import KeelHTTP

/// Decompresses the messages of a server (RFC 7692 section 7.2.2).
///
/// Not `Sendable`: it belongs to one connection. zlib keeps a pointer to the stream's state, which
/// therefore needs a stable address.
final class Inflater {
    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutableRawBufferPointer
    private let forgetsContext: Bool
    private let maximumRatio: Int?
    private var consumed = 0
    private var produced = 0

    /// The size up to which a message's ratio is not checked.
    static let ratioAllowance = 64 << 10

    /// The end that a sender removes from each message.
    private static let tail: [UInt8] = [0x00, 0x00, 0xff, 0xff]

    init(windowBits: Int, forgetsContext: Bool, maximumRatio: Int?) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        output = .allocate(byteCount: 16 << 10, alignment: 1)
        self.forgetsContext = forgetsContext
        self.maximumRatio = maximumRatio
        // A negative value selects raw data, without zlib's header and checksum.
        let result = inflateInit2_(
            stream,
            Int32(-windowBits),
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)
        )
        precondition(result == Z_OK, "zlib is out of memory, or has an incompatible version")
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        output.deallocate()
    }

    /// Decompresses the next bytes of a message, and passes the result to `take` in pieces.
    ///
    /// An error of `take` stops it before anything else is decompressed.
    func inflate(
        _ input: UnsafeRawBufferPointer,
        _ take: (UnsafeRawBufferPointer) throws(Violation) -> Void
    ) throws(Violation) {
        consumed += input.count
        guard let start = input.baseAddress else { return }
        // zlib does not write through this pointer.
        stream.pointee.next_in = UnsafeMutableRawPointer(mutating: start)
            .assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = UInt32(input.count)
        defer { stream.pointee.next_in = nil }
        repeat {
            stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = UInt32(output.count)
            let result = CKeelZlib.inflate(stream, Z_SYNC_FLUSH)
            let count = output.count - Int(stream.pointee.avail_out)
            produced += count
            try checkRatio()
            if count > 0 { try take(UnsafeRawBufferPointer(rebasing: output[..<count])) }
            switch result {
            case Z_OK: break
            case Z_BUF_ERROR: return
            case Z_STREAM_END:
                // A sender may end a block for good (section 7.2.3.4). The window stays valid.
                inflateResetKeep(stream)
            default:
                throw .protocolError("A message's compressed data is invalid.")
            }
        } while stream.pointee.avail_in > 0 || stream.pointee.avail_out == 0
    }

    /// Ends a message, and passes the rest of it to `take`.
    func finishMessage(
        _ take: (UnsafeRawBufferPointer) throws(Violation) -> Void
    ) throws(Violation) {
        try Self.tail.withUnsafeBytes { tail in
            Result { () throws(Violation) in try inflate(tail, take) }
        }.get()
        consumed = 0
        produced = 0
        if forgetsContext { inflateReset(stream) }
    }

    private func checkRatio() throws(Violation) {
        guard let maximumRatio, produced > Self.ratioAllowance else { return }
        guard produced / max(1, consumed) < maximumRatio else {
            throw .tooLarge("A message is more than \(maximumRatio) times its compressed size.")
        }
    }
}
#endif
