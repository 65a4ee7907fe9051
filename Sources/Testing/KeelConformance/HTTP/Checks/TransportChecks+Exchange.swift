import HTTPTypes
import KeelHTTP
import KeelTestKit
import Testing

extension HTTPTransportCheck {
    package static let exchange: [Self] =
        [HTTPRequest.Method.get, .post, .put, .patch, .delete, .options].map(methodCheck)
        + targets.map(targetCheck) + statuses.map(statusCheck) + headChecks

    private static func methodCheck(_ method: HTTPRequest.Method) -> Self {
        Self(.exchange, "sends the method \(method.rawValue)") { subject in
            let reply = try await subject.exchange(subject.call("/echo", method))
            #expect(reply.head.status == .ok)
            #expect(reply.head.headerFields[.echoMethod] == method.rawValue)
            #expect(try await subject.request().method == method.rawValue)
        }
    }

    private static let targets = [
        "/", "/a/b", "/a%2Fb", "/%7euser/", "/a//b/", "/?", "/a?x=%20+&y=%C3%A4&&z", "/a;v=1,2",
    ]

    private static func targetCheck(_ target: String) -> Self {
        Self(.exchange, "leaves the target \(target) unchanged") { subject in
            _ = try await subject.exchange(subject.call(target))
            #expect(try await subject.request().target == target)
        }
    }

    private static let statuses = [200, 201, 202, 204, 206, 304, 400, 401, 404, 418, 500, 503, 999]

    private static func statusCheck(_ status: Int) -> Self {
        Self(.exchange, "returns the status \(status) unchanged") { subject in
            let reply = try await subject.answer(.status(.init(code: status)))
            #expect(reply.head.status.code == status)
            #expect(reply.body.isEmpty)
        }
    }

    private static let headChecks: [Self] = [
        Self(.exchange, "returns the length of a HEAD response without expecting a body") {
            subject in
            subject.origin.enqueue(.text("never sent"))
            let reply = try await subject.transport.send(subject.call("/", .head))
            #expect(reply.announcedLength == 10)
            #expect(try await reply.body.collect(upTo: 100).isEmpty)
            // The omitted body must not be taken for the next response.
            let next = try await subject.exchange(subject.call())
            #expect(next.head.status == .ok)
        },
        Self(.exchange, "does not return interim responses as the response") { subject in
            let answer = HTTPTestAnswer.text("final")
                .preceded(by: .earlyHints, headers: [.eTag: "\"early\""])
                .preceded(by: .init(code: 102))
            let reply = try await subject.answer(answer)
            #expect(reply.head.status == .ok)
            #expect(reply.head.headerFields[.eTag] == nil)
            #expect(String(decoding: reply.body, as: UTF8.self) == "final")
        },
    ]

    package static let restraint: [Self] =
        [301, 302, 303, 307, 308].map(redirectCheck)
        + ["gzip", "deflate", "br"].map(codingCheck)
        + [
            Self(.restraint, "does not retry a request answered with 503") { subject in
                let reply = try await subject.answer(
                    .status(.serviceUnavailable, headers: [.retryAfter: "0"])
                )
                #expect(reply.head.status == .serviceUnavailable)
                #expect(subject.origin.requests.count == 1)
            },
            Self(.restraint, "does not send back a cookie set by a server") { subject in
                _ = try await subject.answer(.status(.ok, headers: [.setCookie: "a=b; Path=/"]))
                _ = try await subject.exchange(subject.call())
                let requests = try await subject.origin.waitForRequests(2, whole: true)
                #expect(requests.allSatisfy { $0["cookie"] == nil })
            },
        ]

    private static func redirectCheck(_ status: Int) -> Self {
        Self(.restraint, "does not follow a redirect with status \(status)") { subject in
            let reply = try await subject.answer(
                .redirect(to: "/other", status: .init(code: status))
            )
            #expect(reply.head.status.code == status)
            #expect(reply.head.headerFields[.location] == "/other")
            #expect(subject.origin.requests.count == 1)
        }
    }

    private static func codingCheck(_ coding: String) -> Self {
        Self(
            .restraint,
            "leaves a body with the coding \(coding) unchanged",
            needs: .rawContentCoding
        ) { subject in
            // The gzip form of "hello", which the transport must pass on unchanged, whatever the coding.
            let bytes: [UInt8] = [
                0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 0, 0x86,
                0xa6, 0x10, 0x36, 5, 0, 0, 0,
            ]
            let reply = try await subject.answer(
                .bytes(bytes, headers: [.contentEncoding: coding])
            )
            #expect(reply.body == bytes)
            #expect(reply.head.headerFields[.contentEncoding] == coding)
        }
    }
}
