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
