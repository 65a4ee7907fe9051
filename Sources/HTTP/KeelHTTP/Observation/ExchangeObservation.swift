import Synchronization

/// The innermost layer of an observed client, which reports each request and its response.
package struct ExchangeObservation: HTTPMiddleware, DeadlineEnforcing {
    package init() {}

    package func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        guard call.isObserved else { return try await next(call) }
        var call = call
        call.recorder?.beginRequest()
        return try await observed(call, next)
    }

    private func observed(
        _ call: HTTPCall,
        _ next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        call.record(.sending(call.head))
        do throws(TransportError) {
            var reply = try await next(call)
            call.record(.received(reply.head, reply.connection))
            let counter = BodyCounter { bytes in call.record(.droppedBody(bytes: bytes)) }
            reply.body = reply.body.mapReads { read async throws(TransportError) in
                do throws(TransportError) {
                    let piece = try await read()
                    if let total = counter.add(piece) { call.record(.receivedBody(bytes: total)) }
                    return piece
                } catch {
                    counter.end()
                    call.record(.attemptFailed(error))
                    throw error
                }
            }
            return reply
        } catch {
            call.record(.attemptFailed(error))
            throw error
        }
    }
}

/// A counter of the bytes of a body, which also reports a body that is dropped early.
///
/// The stream's closure holds it.
final class BodyCounter: Sendable {
    private let state = Mutex<(total: Int64, hasEnded: Bool)>((0, false))
    private let dropped: @Sendable (_ bytes: Int64) -> Void

    init(whenDropped dropped: @escaping @Sendable (_ bytes: Int64) -> Void) {
        self.dropped = dropped
    }

    deinit {
        let state = state.withLock { $0 }
        if !state.hasEnded { dropped(state.total) }
    }

    /// Counts a chunk; returns the total at the end of the body, once.
    func add(_ piece: ArraySlice<UInt8>?) -> Int64? {
        state.withLock { state in
            guard let piece else {
                guard !state.hasEnded else { return nil }
                state.hasEnded = true
                return state.total
            }
            state.total += Int64(piece.count)
            return nil
        }
    }

    func end() { state.withLock { $0.hasEnded = true } }
}
