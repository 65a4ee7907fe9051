#if Crypto
internal import KeelHTTP
internal import Synchronization

/// A stall timeout for the body of a request, however long sending all of it takes.
///
/// It counts from the last piece that the transport has taken, unlike the transport's timeout of the first byte of a
/// reply, which counts from the start of the exchange.
final class UploadStallTimeout: Sendable {
    /// The size of the pieces passed to the transport; smaller bodies need no stall timeout.
    static let pieceByteCount = 64 << 10

    /// The slowest expected rate, in bytes per second, at which buffered bytes leave the machine.
    private static let slowestRate = 16 << 10

    private let bytes: [UInt8]
    private let limit: Duration
    private let moments = Mutex(0)

    /// Creates a stall timeout; `limit` is the time to wait for a reply after the body was sent.
    init(_ bytes: [UInt8], limit: Duration) {
        self.bytes = bytes
        self.limit = limit + .seconds(bytes.count / Self.slowestRate)
    }

    var body: HTTPBody {
        HTTPBody(length: Int64(bytes.count), isReplayable: true) { [self] in
            let position = Mutex(0)
            return HTTPByteStream { [self] () async throws(TransportError) in
                moments.withLock { $0 += 1 }
                return position.withLock { position in
                    guard position < bytes.count else { return nil }
                    let end = min(position + Self.pieceByteCount, bytes.count)
                    defer { position = end }
                    return bytes[position..<end]
                }
            }
        }
    }

    /// Sends a request with this body, and cancels it if no piece was taken for the limit, after at most twice the
    /// limit.
    func guarding(
        _ clock: any Clock<Duration>,
        _ exchange: @escaping @Sendable () async throws(TransportError) -> HTTPReply
    ) async throws(TransportError) -> HTTPReply {
        var isSilent = false
        let result = await withStallTimeout(
            limit,
            on: clock,
            moments: { self.moments.withLock { $0 } },
            onStall: { isSilent = true },
            exchange
        )
        // The reply may have arrived just as the exchange was canceled.
        guard isSilent, case .failure = result else { return try result.get() }
        throw TransportError(.responseTimeout)
    }
}
#endif
