#if canImport(Darwin) || URLSession
import Foundation
import KeelCore
import Synchronization

#if canImport(CFNetwork)
import CFNetwork
#endif

/// A writer of a request body into a stream, as fast as the stream is read.
final class URLSessionUpload: Sendable {
    private let body: HTTPBody
    private let clock: any Clock<Duration>
    private let failed: @Sendable (TransportError) -> Void
    private let writer = Mutex<(task: Task<Void, Never>?, isOver: Bool)>((nil, false))

    /// The pause before a full stream is checked again, which limits the speed to 512 KiB per 5 ms.
    static let pause = Duration.milliseconds(5)

    /// The maximum number of bytes between the body and the session.
    static let bufferSize = 512 * 1024

    init(
        _ body: HTTPBody,
        clock: any Clock<Duration> = ContinuousClock(),
        failed: @escaping @Sendable (TransportError) -> Void
    ) {
        self.body = body
        self.clock = clock
        self.failed = failed
    }

    deinit { cancel() }

    #if canImport(Darwin)
    static func boundStreams() -> (InputStream?, OutputStream?) {
        var input: InputStream?
        var output: OutputStream?
        Stream.getBoundStreams(
            withBufferSize: bufferSize,
            inputStream: &input,
            outputStream: &output
        )
        return (input, output)
    }
    #endif

    /// Begins to write the body to a stream, from its first byte.
    ///
    /// - Returns: Whether the body can be written; one that is not replayable can be written only once.
    func begin(writingTo output: OutputStream) -> Bool {
        let mayBegin = writer.withLock { !$0.isOver && ($0.task == nil || body.isReplayable) }
        guard mayBegin else { return false }
        let target = BodyOutput(output)
        let task = Task { [body, clock, failed] in
            do throws(TransportError) {
                try await target.write(body, clock)
            } catch {
                if !error.isCancellation { failed(error) }
            }
        }
        let before = writer.withLock { writer in
            defer { writer.task = task }
            return writer.task
        }
        before?.cancel()
        return true
    }

    func cancel() {
        let task = writer.withLock { writer in
            writer.isOver = true
            return writer.task.take()
        }
        task?.cancel()
    }
}

/// The stream that a body is written to.
///
/// `@unchecked` because a stream is not `Sendable`: only the writing task uses it.
private struct BodyOutput: @unchecked Sendable {
    private let stream: OutputStream

    init(_ stream: OutputStream) { self.stream = stream }

    func write(_ body: HTTPBody, _ clock: any Clock<Duration>) async throws(TransportError) {
        stream.open()
        defer { stream.close() }
        var left = body.length
        do throws(TransportError) {
            var pieces = try await body.openInPieces().makeAsyncIterator()
            while let piece = try await pieces.next() {
                left = left.map { $0 - Int64(piece.count) }
                guard left ?? 0 >= 0 else { break }
                try await write(piece, clock)
            }
        } catch {
            guard !error.isCancellation, error.code != .bodyProducerFailed else { throw error }
            throw TransportError(.bodyProducerFailed, cause: error)
        }
        guard left ?? 0 == 0 else {
            throw TransportError(
                .invalidRequest,
                "The length of the body differs from the announced length.",
                processed: .maybe
            )
        }
    }

    private func write(
        _ piece: ArraySlice<UInt8>,
        _ clock: any Clock<Duration>
    ) async throws(TransportError) {
        var rest = piece
        while !rest.isEmpty {
            // Writing to a full stream would block a thread of Swift's concurrency pool.
            while !stream.hasSpaceAvailable {
                do {
                    try await clock.sleep(for: URLSessionUpload.pause)
                } catch {
                    throw TransportError(.cancelled)
                }
            }
            let count = rest.withUnsafeBytes { bytes in
                bytes.withMemoryRebound(to: UInt8.self) { bytes in
                    bytes.baseAddress.map { stream.write($0, maxLength: bytes.count) } ?? 0
                }
            }
            // The session has closed the other end and reports the outcome of the exchange itself.
            guard count > 0 else { throw TransportError(.cancelled) }
            rest = rest.dropFirst(count)
        }
    }
}
#endif
