#if canImport(Darwin) || URLSession
import Foundation
import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One task of a URLSession, as a response head to await and a body to pull.
final class URLSessionExchange: Sendable {
    private typealias Reader = CheckedContinuation<
        Result<ArraySlice<UInt8>?, TransportError>, Never
    >

    private typealias Chunk = Result<ArraySlice<UInt8>?, TransportError>

    private struct State {
        var head: Result<HTTPResponse, TransportError>?
        var headWaiter: CheckedContinuation<Result<HTTPResponse, TransportError>, Never>?
        var chunks: [Data] = []
        var bufferedBytes = 0
        var end: Result<Void, TransportError>?
        var reader: Reader?
        var isSuspended = false
        var upload: URLSessionUpload?
        var file: HTTPBodyFile?
        var isKeyRefused = false
    }

    let task: URLSessionTask
    private let state = Mutex(State())

    /// The number of unread bytes from which the task is suspended.
    private static let highWaterMark = 1 << 20

    init(_ task: URLSessionTask) {
        self.task = task
    }

    func cancel() {
        task.cancel()
        state.withLock { $0.upload }?.cancel()
    }

    func send(_ body: HTTPBody) {
        let upload = URLSessionUpload(body) { [weak self] error in self?.fail(error) }
        state.withLock { $0.upload = upload }
    }

    func send(_ file: HTTPBodyFile) { state.withLock { $0.file = file } }

    #if canImport(Darwin)
    /// Returns a stream of the body from its first byte; nil if the body cannot be written again.
    func newBodyStream() -> InputStream? {
        let (input, output) = URLSessionUpload.boundStreams()
        guard let output, state.withLock({ $0.upload })?.begin(writingTo: output) == true else {
            return nil
        }
        return input
    }
    #endif

    private func fail(_ error: TransportError) {
        deliver(.failure(error))
        state.withLock { $0.end = $0.end ?? .failure(error) }
        wakeReader()
        task.cancel()
    }

    func head() async throws(TransportError) -> HTTPResponse {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let known = state.withLock { state in
                    if state.head == nil { state.headWaiter = waiter }
                    return state.head
                }
                if let known { waiter.resume(returning: known) }
                sent(0)
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
        return try result.get()
    }

    func nextChunk() async throws(TransportError) -> ArraySlice<UInt8>? {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (reader: Reader) in
                let known = state.withLock { state -> Chunk? in
                    guard state.reader == nil else {
                        return .failure(TransportError(.concurrentRead))
                    }
                    let known = Self.take(&state, task)
                    if known == nil { state.reader = reader }
                    return known
                }
                if let known { reader.resume(returning: known) }
            }
        } onCancel: {
            task.cancel()
        }
        return try result.get()
    }

    private static func take(
        _ state: inout State,
        _ task: URLSessionTask
    ) -> Result<ArraySlice<UInt8>?, TransportError>? {
        if !state.chunks.isEmpty {
            let chunk = state.chunks.removeFirst()
            state.bufferedBytes -= chunk.count
            if state.isSuspended, state.bufferedBytes < highWaterMark {
                state.isSuspended = false
                task.resume()
            }
            return .success(Array(chunk)[...])
        }
        guard case .failure(let error)? = state.end else {
            return state.end.map { _ in .success(nil) }
        }
        // A stream reports its error once.
        state.end = .success(())
        return .failure(error)
    }

    // MARK: - Called by the session

    /// Reports the bytes of the file that the system has sent, and checks the total that it expects.
    func sent(_ count: Int64, of total: Int64? = nil) {
        guard let file = state.withLock({ $0.file }) else { return }
        // A negative total means unknown.
        guard total.map({ $0 < 0 || $0 == file.length }) ?? true else {
            let cause = HTTPFileError(.changedLength, file.path)
            return fail(TransportError(.bodyProducerFailed, cause: cause))
        }
        file.observer?.report(count, of: file.length)
    }

    func refuseKey() { state.withLock { $0.isKeyRefused = true } }

    func received(_ response: URLResponse) {
        // Foundation on Linux reports interim responses as well.
        if let status = (response as? HTTPURLResponse)?.statusCode, status < 200 { return }
        if let response = response as? HTTPURLResponse {
            deliver(.success(HTTPResponse(response)))
        } else {
            deliver(.failure(TransportError(.protocolViolation)))
        }
    }

    func received(_ data: Data) {
        state.withLock { state in
            state.chunks.append(data)
            state.bufferedBytes += data.count
            #if canImport(Darwin)
            // On other platforms, a task that was suspended does not deliver its whole body.
            if !state.isSuspended, state.bufferedBytes >= Self.highWaterMark {
                state.isSuspended = true
                task.suspend()
            }
            #endif
        }
        wakeReader()
    }

    func ended(_ error: (any Error)?) {
        let (hasHead, isKeyRefused) = state.withLock { ($0.head != nil, $0.isKeyRefused) }
        let failure = error.map { error in
            // The session reports a refusal by its delegate as a cancellation.
            if isKeyRefused { return TransportError(.tlsPinMismatch) }
            #if canImport(Darwin)
            let text = ""
            #else
            let text = error.localizedDescription
            #endif
            return TransportError(
                urlError: (error as? URLError)?.errorCode ?? -1,
                text: text,
                during: hasHead ? .readBody : .awaitHead
            )
        }
        deliver(.failure(failure ?? TransportError(.protocolViolation)))
        let upload = state.withLock { state in
            state.end = state.end ?? failure.map { .failure($0) } ?? .success(())
            return state.upload.take()
        }
        upload?.cancel()
        wakeReader()
    }

    private func deliver(_ head: Result<HTTPResponse, TransportError>) {
        let waiter = state.withLock { state in
            guard state.head == nil else {
                return CheckedContinuation<Result<HTTPResponse, TransportError>, Never>?.none
            }
            state.head = head
            return state.headWaiter.take()
        }
        waiter?.resume(returning: head)
    }

    private func wakeReader() {
        let (reader, result) = state.withLock { state in
            guard state.reader != nil, let result = Self.take(&state, task) else {
                return (Reader?.none, Result<ArraySlice<UInt8>?, TransportError>?.none)
            }
            return (state.reader.take(), result)
        }
        if let reader, let result { reader.resume(returning: result) }
    }
}
#endif
