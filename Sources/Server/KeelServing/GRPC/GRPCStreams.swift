import HTTPTypes
import KeelCore
import KeelHTTP
import KeelStorage
import KeelStorageFirestore
import Synchronization

extension StorageServer {
    /// Answers a request whose messages and replies are streams.
    func answer(
        _ method: GRPCMethod,
        _ call: FirestoreRoute.Call,
        by caller: CallerID?,
        _ messages: GRPCMessageReader,
        within limit: Duration?
    ) -> HTTPReply {
        let outbox = GRPCOutbox()
        let requests = GRPCRequests(messages: messages) { bytes throws(ServingFailure) in
            try self.decoded(bytes, as: method)
        }
        let type = method.responseType ?? ""
        let serve: @Sendable () async -> StreamFailure? = {
            let found: (server: StorageServer, requests: GRPCRequests)
            do throws(StreamFailure) {
                found = try await self.server(of: requests, by: caller)
            } catch {
                return error
            }
            return await found.server.stream(call, by: caller, found.requests) { json in
                try await outbox.send(Self.frame(try GRPCResults.message(json, of: type)))
            }
        }
        let work = Task { outbox.finish(await serve()) }
        let body = GRPCStreamBody(outbox, work)
        if let limit { body.end(in: limit, on: .on(configuration.clock)) }
        return .gRPC(
            HTTPByteStream(trailers: { body.outbox.trailers }) { () async throws(TransportError) in
                try await body.next()
            }
        )
    }
}

extension StorageServer {
    /// Returns the server of the database that the first message of a stream names, and all messages.
    private func server(
        of requests: GRPCRequests,
        by caller: CallerID?
    ) async throws(StreamFailure) -> (server: StorageServer, requests: GRPCRequests) {
        guard hasDatabases else { return (self, requests) }
        // A client that sends nothing takes a place, and does not outlast the server.
        let message = await untilShutDown(by: caller) {
            () async -> Result<FirestoreJSON?, StreamFailure> in
            var messages = requests.makeAsyncIterator()
            do throws(StreamFailure) {
                return .success(try await messages.next())
            } catch {
                return .failure(error)
            }
        }
        guard let first = try message.get() else { return (self, requests) }
        var all = requests
        all.first = first
        // The stream itself refuses a first message without a name.
        guard let name = first["database"]?.text else { return (self, all) }
        do throws(ServingFailure) {
            return (try server(of: name), all)
        } catch {
            throw StreamFailure(error.status, error.error.message)
        }
    }
}

/// The reply of a stream; releasing it ends the stream's work.
private final class GRPCStreamBody: Sendable {
    let outbox: GRPCOutbox
    private let work: Task<Void, Never>
    /// The watch for the time limit, if there is one.
    private let deadline = Mutex<(timer: DeadlineTimer, entry: DeadlineEntry)?>(nil)

    init(_ outbox: GRPCOutbox, _ work: Task<Void, Never>) {
        self.outbox = outbox
        self.work = work
    }

    deinit { end() }

    /// Ends the stream after a time, on a timer that streams share.
    func end(in limit: Duration, on timer: DeadlineTimer) {
        let entry = timer.watch(until: timer.now + limit) { [outbox, work] in
            let message = "the stream took longer than \(limit)"
            outbox.finish(StreamFailure(.deadlineExceeded, message))
            work.cancel()
        }
        deadline.withLock { $0 = (timer, entry) }
    }

    func next() async throws(TransportError) -> ArraySlice<UInt8>? {
        do throws(TransportError) {
            let frames = try await outbox.next()
            if frames == nil { end() }
            return frames
        } catch {
            end()
            throw error
        }
    }

    private func end() {
        if let (timer, entry) = deadline.withLock({ $0.take() }) { timer.end(entry) }
        work.cancel()
        outbox.close()
    }
}

private struct GRPCRequests: AsyncSequence, Sendable {
    typealias Element = FirestoreJSON

    let messages: GRPCMessageReader
    var first: FirestoreJSON?
    let decode: @Sendable (ArraySlice<UInt8>) throws(ServingFailure) -> FirestoreJSON

    func makeAsyncIterator() -> Iterator { Iterator(requests: self, first: first) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let requests: GRPCRequests
        fileprivate var first: FirestoreJSON?

        mutating func next() async throws(StreamFailure) -> FirestoreJSON? {
            if let first = first.take() { return first }
            do throws(ServingFailure) {
                return try await requests.messages.next().map { bytes throws(ServingFailure) in
                    try requests.decode(bytes)
                }
            } catch {
                throw StreamFailure(error.status, error.error.message)
            }
        }
    }
}
