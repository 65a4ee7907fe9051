import HTTPTypes
import KeelHTTP
import KeelTestKit

extension HTTPFaultCheck {
    package static let ownFaults: [Self] = [
        Self(
            ServerFault("is a port without a listener"),
            ServerFault.Outcome(.connectionRefused, .connect, .no)
        ) { subject in
            var call = subject.call()
            // Nothing listens on the reserved port 1 (tcpmux) today.
            call.head.authority = "127.0.0.1:1"
            return await subject.failure(of: call)
        },
        Self(
            ServerFault("is a host that does not exist"),
            // A machine without a name server cannot know that the name does not exist.
            ServerFault.Outcome(.hostNotFound, .resolve, .no).or(.nameLookupFailed)
        ) { subject in
            var call = subject.call()
            call.head.authority = "nothing.invalid"
            return await subject.failure(of: call)
        },
        Self(
            ServerFault("is missing from the request"),
            ServerFault.Outcome(.invalidRequest, .build, .no)
        ) { subject in
            var call = subject.call()
            call.head.authority = nil
            return await subject.failure(of: call)
        },
        Self(
            ServerFault("is sent a body whose producer fails"),
            ServerFault.Outcome(.bodyProducerFailed, .send, .maybe)
        ) { subject in
            let body = HTTPBody(length: nil, isReplayable: false) {
                () async throws(TransportError) in
                .chunks([[1]], thenThrow: TransportError(.unknown, "The disk is gone."))
            }
            return await subject.failure(of: subject.call("/", .post, body: body))
        },
        Self(
            ServerFault("never reads the request's body"),
            ServerFault.Outcome(.responseTimeout, .awaitHead, .maybe).or(.send),
            needs: .streamingUpload
        ) { subject in
            let piece = [UInt8](repeating: 1, count: 1 << 16)
            let (body, _) = streamedBody(Array(repeating: piece, count: 1024), length: 64 << 20)
            let answer = HTTPTestAnswer.text("x").reading(.atMost(1))
            subject.origin.enqueue(answer.interrupted(.beforeHead, by: .stall))
            var call = subject.call("/", .post, body: body)
            call.timeouts.firstByte = .milliseconds(1000)
            return await subject.failure(of: call)
        },
        Self(
            ServerFault("is abandoned by its caller"),
            ServerFault.Outcome(.cancelled, .awaitHead, .maybe)
        ) { subject in
            subject.origin.enqueue(.text("x").interrupted(.beforeHead, by: .stall))
            let task = Task { await subject.failure(of: subject.call()) }
            _ = try await subject.origin.waitForRequests(1, whole: true)
            task.cancel()
            return await task.value
        },
    ]
}
