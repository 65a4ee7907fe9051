import HTTPTypes
import KeelHTTP
import KeelTestKit
import Testing

extension HTTPTransportCheck {
    package static let connections: [Self] = versions.flatMap(concurrencyChecks) + reuseChecks

    private static let versions: [(String, HTTPTestScript, HTTPTransportTraits)] = [
        ("HTTP/1.1", HTTPTestScript(), []),
        (
            "HTTP/2", HTTPTestScript(version: .http2, security: .trusted),
            [.customTrust, .http2]
        ),
    ]

    private static func concurrencyChecks(
        _ name: String,
        _ script: HTTPTestScript,
        _ traits: HTTPTransportTraits
    ) -> [Self] {
        [
            Self(
                .connections,
                "makes 100 concurrent exchanges over \(name) without mixing them up",
                traits: traits,
                on: script
            ) { subject in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<100 {
                        group.addTask {
                            let body = HTTPBody(Array("body \(number)".utf8))
                            let reply = try await subject.exchange(
                                subject.call("/\(number)", .post, body: body)
                            )
                            #expect(reply.body == Array("body \(number)".utf8))
                            #expect(reply.head.headerFields[.echoTarget] == "/\(number)")
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(subject.origin.requests.count == 100)
            },
            Self(
                .connections,
                "reuses a connection over \(name)",
                traits: traits.union(.connectionReuse),
                on: script
            ) { subject in
                for number in 0..<5 {
                    _ = try await subject.exchange(subject.call("/\(number)"))
                }
                #expect(Set(subject.origin.requests.map(\.connection)).count == 1)
            },
        ]
    }

    private static let reuseChecks: [Self] = [
        Self(
            .connections,
            "uses HTTP/2 if the server supports it",
            traits: [.customTrust, .http2],
            on: HTTPTestScript(version: .http2, security: .trusted)
        ) { subject in
            let body = [UInt8](repeating: 5, count: 300_000)
            let reply = try await subject.exchange(
                subject.call("/a?b", .post, body: HTTPBody(body))
            )
            #expect(reply.body == body)
            let request = try await subject.request()
            #expect(request.version == "HTTP/2")
            #expect(request.target == "/a?b")
            #expect(request["host"] == subject.origin.authority)
        },
        Self(
            .connections,
            "reports whether a connection is reused",
            needs: .connectionInfo,
            traits: .connectionReuse
        ) { subject in
            var reused: [Bool?] = []
            for _ in 0..<2 {
                let reply = try await subject.transport.send(subject.call())
                _ = try await reply.body.collect(upTo: 100)
                reused.append(reply.connection?.isReused)
            }
            #expect(reused == [false, true])
        },
        Self(
            .connections,
            "opens a new connection after the server asked to close the old one",
            traits: .connectionReuse
        ) { subject in
            let reply = try await subject.answer(.text("bye", headers: [.connection: "close"]))
            #expect(reply.head.status == .ok)
            _ = try await subject.exchange(subject.call())
            let requests = try await subject.origin.waitForRequests(2, whole: true)
            #expect(Set(requests.map(\.connection)).count == 2)
        },
        Self(
            .connections,
            "does not take excess bytes after a response for the next one",
            traits: .connectionReuse
        ) { subject in
            let forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
            for excess in ["x", forged, "HTTP/1.1 200 OK\r\nX-Forged: ", "x"] {
                let body = Array("right\(excess)".utf8)
                let reply = try await subject.answer(
                    HTTPTestAnswer(body: [body]).framed(.length(5))
                )
                #expect(reply.body == Array("right".utf8))
                let next = try await subject.exchange(subject.call("/next"))
                #expect(next.head.headerFields[.echoTarget] == "/next")
            }
        },
        Self(.connections, "continues after a partly read body") { subject in
            subject.origin.enqueue(HTTPTestAnswer(body: [[1, 2, 3], [4, 5, 6]]))
            var reply: HTTPReply? = try await subject.transport.send(subject.call())
            var pieces = reply?.body.makeAsyncIterator()
            _ = try await pieces?.next()
            pieces = nil
            reply = nil
            let next = try await subject.exchange(subject.call("/next"))
            #expect(next.head.headerFields[.echoTarget] == "/next")
        },
    ]
}
