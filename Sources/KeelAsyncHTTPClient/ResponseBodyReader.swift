#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import AsyncHTTPClient
import KeelHTTP
import NIOCore
import Synchronization

/// Reads a response body for one reader at a time.
///
/// Dropping it drops the iterator, which makes AsyncHTTPClient cancel the exchange.
///
/// `@unchecked`, because the iterator cannot be sent: the flag lets only one call touch it, and the
/// lock around the flag orders one call after the other.
final class ResponseBodyReader: @unchecked Sendable {
    private var iterator: HTTPClientResponse.Body.AsyncIterator
    private var hasEnded = false
    private let isReading = Mutex(false)

    init(_ body: HTTPClientResponse.Body) {
        iterator = body.makeAsyncIterator()
    }

    func next() async throws -> ArraySlice<UInt8>? {
        let isFree = isReading.withLock { isReading in
            defer { isReading = true }
            return !isReading
        }
        guard isFree else { throw TransportError(.concurrentRead) }
        defer { isReading.withLock { $0 = false } }
        guard !hasEnded else { return nil }
        do {
            if let buffer = try await iterator.next() {
                return Array(buffer.readableBytesView)[...]
            }
        } catch {
            hasEnded = true
            throw error
        }
        hasEnded = true
        // A cancelled reader is told "end", which must not be taken for the end of the body.
        try Task.checkCancellation()
        return nil
    }
}
#endif
