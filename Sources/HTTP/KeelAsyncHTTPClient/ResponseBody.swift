#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import AsyncHTTPClient
import KeelHTTP
import NIOCore
import NIOHTTP1
import Synchronization

/// A response body in pieces; releasing it before its end cancels the exchange.
protocol ResponseBody: AnyObject, Sendable {
    /// Returns the next bytes, or nil at the end and after an error.
    ///
    /// AsyncHTTPClient's read timeout continues while no task reads, which would punish a slow
    /// reader, so the wait is measured here.
    func next(within limit: Duration?) async throws -> ArraySlice<UInt8>?
}

extension TransportError {
    fileprivate static var silence: TransportError {
        TransportError(
            .responseTimeout,
            "The server stopped sending the response.",
            phase: .readBody
        )
    }
}

final class ReceivedResponse: ResponseBody {
    private let receiver: ResponseReceiver
    private let task: HTTPClient.Task<Void>
    private let watch: DeadlineWatch?

    init(_ receiver: ResponseReceiver, _ task: HTTPClient.Task<Void>, _ watch: DeadlineWatch?) {
        self.receiver = receiver
        self.task = task
        self.watch = watch
    }

    deinit {
        watch?.end()
        if receiver.abandon() { task.cancel() }
    }

    func head() async throws -> HTTPResponseHead {
        try await withTaskCancellationHandler {
            try await receiver.head()
        } onCancel: { [task] in
            task.cancel()
        }
    }

    func takeWhole() -> [UInt8]? { receiver.takeWhole() }

    func next(within limit: Duration?) async throws -> ArraySlice<UInt8>? {
        let silence = limit.map { limit in
            Deadline(in: limit, on: ContinuousClock()).watch { [receiver, task] in
                receiver.fail(TransportError.silence)
                task.cancel()
            }
        }
        defer { silence?.end() }
        let piece = try await withTaskCancellationHandler {
            try await receiver.next()
        } onCancel: { [task] in
            task.cancel()
        }
        return piece.map { Array($0.readableBytesView)[...] }
    }
}

/// The body of a response whose request is sent as it is produced.
///
/// Releasing it releases the iterator, which makes AsyncHTTPClient cancel the exchange.
///
/// `@unchecked`, because the iterator is not `Sendable`: the flag admits one call at a time, and
/// the lock around the flag orders successive calls.
final class StreamedExchangeBody: ResponseBody, @unchecked Sendable {
    private var iterator: HTTPClientResponse.Body.AsyncIterator
    private var hasEnded = false
    private let isReading = Mutex(false)

    init(_ body: HTTPClientResponse.Body) {
        iterator = body.makeAsyncIterator()
    }

    func next(within limit: Duration?) async throws -> ArraySlice<UInt8>? {
        guard let limit else { return try await next() }
        return try await Deadline(in: limit, on: ContinuousClock()).run(throwing: .silence) {
            () async throws(TransportError) in
            do {
                return try await self.next()
            } catch {
                throw TransportError(fromAsyncHTTPClient: error, during: .readBody)
            }
        }
    }

    private func next() async throws -> ArraySlice<UInt8>? {
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
        // A canceled reader also gets nil, which must not count as the end of the body.
        try Task.checkCancellation()
        return nil
    }
}
#endif
