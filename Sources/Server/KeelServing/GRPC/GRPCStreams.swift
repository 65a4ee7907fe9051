import HTTPTypes
import KeelCore
import KeelHTTP
import KeelStorage
import KeelStorageFirestore

extension StorageServer {
    /// Answers a request whose messages and replies are streams, which go on at the same time.
    func answer(
        _ method: GRPCMethod,
        _ call: FirestoreRoute.Call,
        _ messages: GRPCMessageReader,
        within limit: Duration?
    ) -> HTTPReply {
        let outbox = GRPCOutbox()
        let requests = GRPCRequests(messages: messages) { bytes throws(ServingFailure) in
            try self.decoded(bytes, as: method)
        }
        let type = method.responseType ?? ""
        let serve: @Sendable () async -> StreamFailure? = {
            await self.stream(call, requests) { json in
                try await outbox.send(Self.frame(try GRPCResults.message(json, of: type)))
            }
        }
        let work = Task {
            guard let limit else { return outbox.finish(await serve()) }
            let timer = DeadlineTimer.on(self.configuration.clock)
            let (failure, wasReached) = await timer.run(until: timer.now + limit, serve)
            let isLate = StreamFailure(.deadlineExceeded, "the stream took longer than \(limit)")
            outbox.finish(wasReached ? isLate : failure)
        }
        let body = GRPCStreamBody(outbox, work)
        return .gRPC(
            HTTPByteStream(trailers: { body.outbox.trailers }) { () async throws(TransportError) in
                try await body.next()
            }
        )
    }
}

/// The reply of a stream; releasing it ends the stream's work.
private final class GRPCStreamBody: Sendable {
    let outbox: GRPCOutbox
    private let work: Task<Void, Never>

    init(_ outbox: GRPCOutbox, _ work: Task<Void, Never>) {
        self.outbox = outbox
        self.work = work
    }

    deinit { end() }

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
        work.cancel()
        outbox.close()
    }
}

/// The messages of a client on a stream.
private struct GRPCRequests: AsyncSequence, Sendable {
    typealias Element = FirestoreJSON

    let messages: GRPCMessageReader
    let decode: @Sendable (ArraySlice<UInt8>) throws(ServingFailure) -> FirestoreJSON

    func makeAsyncIterator() -> Iterator { Iterator(requests: self) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let requests: GRPCRequests

        mutating func next() async throws -> FirestoreJSON? {
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
