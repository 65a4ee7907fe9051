import HTTPTypes
import KeelHTTP
import KeelTestKit
import Testing

extension HTTPTransportCheck {
    package static let bodies: [Self] =
        [0, 1, 65_536, 1 << 20].map(echoCheck)
        + [true, false].map(streamCheck) + responseChecks + pressureChecks

    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ $0 >> 8) }
    }

    private static func echoCheck(_ count: Int) -> Self {
        Self(.bodies, "sends and receives \(count) bytes") { subject in
            let body = bytes(count)
            let reply = try await subject.exchange(
                subject.call("/", .post, body: HTTPBody(body))
            )
            #expect(reply.body == body)
            #expect(try await subject.request().body == body)
        }
    }

    private static func streamCheck(_ isLengthKnown: Bool) -> Self {
        let name = isLengthKnown ? "known" : "unknown"
        return Self(
            .bodies,
            "sends a streamed body of \(name) length",
            needs: .streamingUpload
        ) { subject in
            let pieces = [bytes(1), bytes(70_000), [], bytes(3)]
            let count = pieces.reduce(0) { $0 + $1.count }
            let (body, _) = streamedBody(pieces, length: isLengthKnown ? Int64(count) : nil)
            let reply = try await subject.exchange(subject.call("/", .put, body: body))
            #expect(reply.body == Array(pieces.joined()))
            let request = try await subject.request()
            #expect(request.body == Array(pieces.joined()))
            let announced = request["content-length"].flatMap { Int($0) }
            #expect(announced == (isLengthKnown ? count : nil))
        }
    }

    private static let responseChecks: [Self] = [
        Self(.bodies, "receives a chunked body") { subject in
            let answer = HTTPTestAnswer(body: [bytes(10), bytes(100_000), bytes(1)])
            let reply = try await subject.answer(answer.framed(.chunked))
            #expect(reply.body == Array(answer.body.joined()))
        },
        Self(.bodies, "receives a body that ends with the connection") { subject in
            let reply = try await subject.answer(.bytes(bytes(50_000)).framed(.untilClose))
            #expect(reply.body == bytes(50_000))
        },
        Self(.bodies, "returns with the head, before the body arrives") { subject in
            let answer = HTTPTestAnswer.text("late").interrupted(.insideBody(after: 0), by: .stall)
            subject.origin.enqueue(answer)
            let reply = try await subject.transport.send(subject.call())
            #expect(reply.head.status == .ok)
            #expect(reply.announcedLength == 4)
        },
        Self(.bodies, "returns the first bytes before the last arrive") { subject in
            let answer = HTTPTestAnswer.text("first last")
                .interrupted(.insideBody(after: 5), by: .stall)
            subject.origin.enqueue(answer)
            let reply = try await subject.transport.send(subject.call())
            var first: [UInt8] = []
            var pieces = reply.body.makeAsyncIterator()
            while first.count < 5, let piece = try await pieces.next() { first += piece }
            #expect(String(decoding: first, as: UTF8.self) == "first")
        },
        Self(.bodies, "returns nil again after the end of a body") { subject in
            subject.origin.enqueue(.text("all"))
            let reply = try await subject.transport.send(subject.call())
            _ = try await reply.body.collect(upTo: 10)
            var pieces = reply.body.makeAsyncIterator()
            #expect(try await pieces.next() == nil)
        },
        Self(
            .bodies,
            "receives a response while the request’s body is still being sent",
            needs: .streamingUpload
        ) { subject in
            let answered = Watched(false)
            let (body, _) = streamedBody([bytes(5), bytes(6)], length: nil) {
                piece async throws(TransportError) in
                guard piece == 1 else { return }
                do {
                    _ = try await answered.wait { $0 ? true : nil }
                } catch {
                    throw TransportError(.cancelled)
                }
            }
            subject.origin.enqueue(.text("early").reading(.headFirst))
            let reply = try await subject.transport.send(subject.call("/", .post, body: body))
            #expect(reply.head.status == .ok)
            answered.change { $0 = true }
            let text = String(decoding: try await reply.body.collect(upTo: 100), as: UTF8.self)
            #expect(text == "early")
        },
    ]

    /// 64 MiB, more than the buffers of a loopback connection hold.
    private static let much = Array(repeating: [UInt8](repeating: 7, count: 1 << 16), count: 1024)

    private static let pressureChecks: [Self] = [
        Self(
            .bodies,
            "holds back a server whose body is not read",
            traits: .backPressure
        ) { subject in
            subject.origin.enqueue(HTTPTestAnswer(body: much))
            let reply = try await subject.transport.send(subject.call())
            // The other exchanges give a transport that reads ahead time to do so.
            for _ in 0..<100 { _ = try await subject.exchange(subject.call("/other")) }
            let sent = subject.origin.requests.first?.sentBytes ?? 0
            #expect(sent < 32 << 20, "\(sent) bytes went out to somebody who reads none")
            #expect(try await reply.body.collect(upTo: 1 << 30).count == 64 << 20)
        },
        Self(
            .bodies,
            "does not produce a body that the server does not read",
            needs: .streamingUpload
        ) { subject in
            let (body, produced) = streamedBody(much, length: 64 << 20)
            let answer = HTTPTestAnswer.text("x").reading(.atMost(1))
            subject.origin.enqueue(answer.interrupted(.beforeHead, by: .stall))
            let call = subject.call("/upload", .post, body: body)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try? await subject.transport.send(call) }
                _ = try await subject.origin.waitForRequests(1, whole: false)
                for _ in 0..<100 { _ = try await subject.exchange(subject.call("/other")) }
                #expect(produced.value < 512, "\(produced.value) pieces were made for nobody")
                group.cancelAll()
            }
        },
    ]
}
