import HummingbirdCore
import KeelHTTP
import NIOCore
import Synchronization

/// Reads the body of a request for one reader at a time.
///
/// `@unchecked`, because the iterator cannot be sent: the flag lets only one call touch it, and the
/// lock around the flag orders one call after the other.
final class RequestBodyReader: @unchecked Sendable {
    private var iterator: HummingbirdCore.RequestBody.AsyncIterator
    private let isReading = Mutex(false)

    init(_ body: HummingbirdCore.RequestBody) { iterator = body.makeAsyncIterator() }

    func next() async throws(TransportError) -> ArraySlice<UInt8>? {
        let isFree = isReading.withLock { isReading in
            defer { isReading = true }
            return !isReading
        }
        guard isFree else { throw TransportError(.concurrentRead) }
        defer { isReading.withLock { $0 = false } }
        do {
            return try await iterator.next().map { Array($0.readableBytesView)[...] }
        } catch {
            throw TransportError(.connectionLost, phase: .readBody, cause: error)
        }
    }
}
