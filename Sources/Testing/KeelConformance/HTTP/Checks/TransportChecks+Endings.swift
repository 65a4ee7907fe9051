import HTTPTypes
import KeelHTTP
import KeelTestKit
import Testing

extension HTTPTransportCheck {
    package static let endings: [Self] = cancellationChecks + shutdownChecks

    private static let silent = HTTPTestAnswer.text("never").interrupted(.beforeHead, by: .stall)
    private static let half = HTTPTestAnswer.text("half said")
        .interrupted(.insideBody(after: 4), by: .stall)

    private static let cancellationChecks: [Self] = [
        Self(.endings, "ends a call that is canceled before the head") { subject in
            subject.origin.enqueue(silent)
            let task = Task { await subject.failure(of: subject.call()) }
            _ = try await subject.origin.waitForRequests(1, whole: true)
            task.cancel()
            let error = await task.value
            #expect(error?.code == .cancelled)
            #expect(try await subject.origin.waitForDisconnects(1).count == 1)
        },
        Self(.endings, "ends a body when its reader is canceled") { subject in
            subject.origin.enqueue(half)
            let hasBegun = Watched(false)
            let task = Task { () async -> TransportError? in
                do throws(TransportError) {
                    var pieces = try await subject.transport.send(subject.call()).body
                        .makeAsyncIterator()
                    while try await pieces.next() != nil { hasBegun.change { $0 = true } }
                    return nil
                } catch {
                    return error
                }
            }
            _ = try await hasBegun.wait { $0 ? true : nil }
            task.cancel()
            let error = await task.value
            #expect(error?.code == .cancelled)
            #expect(try await subject.origin.waitForDisconnects(1).count == 1)
        },
        Self(.endings, "rejects a call of a canceled task") { subject in
            let task = Task { () async -> TransportError? in
                withUnsafeCurrentTask { $0?.cancel() }
                return await subject.failure(of: subject.call())
            }
            let error = await task.value
            #expect(error?.code == .cancelled)
        },
        Self(.endings, "hangs up when a body is dropped unread") { subject in
            subject.origin.enqueue(half)
            var reply: HTTPReply? = try await subject.transport.send(subject.call())
            #expect(reply?.head.status == .ok)
            reply = nil
            #expect(try await subject.origin.waitForDisconnects(1).count == 1)
        },
        Self(.endings, "hangs up when a body is dropped after its first bytes") { subject in
            subject.origin.enqueue(half)
            var reply: HTTPReply? = try await subject.transport.send(subject.call())
            var pieces = reply?.body.makeAsyncIterator()
            _ = try await pieces?.next()
            pieces = nil
            reply = nil
            #expect(try await subject.origin.waitForDisconnects(1).count == 1)
        },
        Self(
            .endings,
            "does not affect other calls when one is canceled",
            traits: [.customTrust, .http2],
            on: HTTPTestScript(version: .http2, security: .trusted)
        ) { subject in
            _ = try await subject.exchange(subject.call("/first"))
            subject.origin.enqueue(silent)
            let task = Task { await subject.failure(of: subject.call("/doomed")) }
            _ = try await subject.origin.waitForRequests(2, whole: true)
            subject.origin.enqueue(half)
            let reply = try await subject.transport.send(subject.call("/survivor"))
            task.cancel()
            let error = await task.value
            #expect(error?.code == .cancelled)
            #expect(try await subject.origin.waitForDisconnects(1).first?.request == 1)
            var pieces = reply.body.makeAsyncIterator()
            #expect(try await pieces.next()?.isEmpty == false)
        },
    ]

    private static let shutdownChecks: [Self] = [
        Self(.endings, "rejects calls after shutdown, which may be repeated") { subject in
            _ = try await subject.exchange(subject.call())
            await subject.transport.shutdown()
            await subject.transport.shutdown()
            let error = await subject.failure(of: subject.call())
            #expect(error?.code == .clientShutdown)
            #expect(error?.processed == .no)
            #expect(subject.origin.requests.count == 1)
        },
        Self(.endings, "ends a call in progress when it is shut down") { subject in
            subject.origin.enqueue(silent)
            let task = Task { await subject.failure(of: subject.call()) }
            _ = try await subject.origin.waitForRequests(1, whole: true)
            await subject.transport.shutdown()
            let error = await task.value
            #expect(error?.code == .clientShutdown)
        },
        Self(.endings, "may be shut down before its first call") { subject in
            await subject.transport.shutdown()
            let error = await subject.failure(of: subject.call())
            #expect(error?.code == .clientShutdown)
        },
    ]

    package static let security: [Self] = [
        Self(
            .security,
            "trusts the configured authority",
            traits: .customTrust,
            on: HTTPTestScript(security: .trusted)
        ) { subject in
            let reply = try await subject.exchange(subject.call())
            #expect(reply.head.status == .ok)
        },
        Self(
            .security,
            "accepts a server with a pinned key",
            needs: .pinning,
            traits: .customTrust,
            on: HTTPTestScript(security: .trusted, pins: .matching)
        ) { subject in
            let reply = try await subject.exchange(subject.call())
            #expect(reply.head.status == .ok)
        },
        Self(
            .security,
            "sends nothing to a server without a pinned key",
            needs: .pinning,
            traits: .customTrust,
            on: HTTPTestScript(security: .trusted, pins: .mismatching)
        ) { subject in
            let error = await subject.failure(of: subject.call())
            #expect(error?.code == .tlsPinMismatch)
            #expect(subject.origin.requests.isEmpty)
        },
        Self(
            .security,
            "presents its certificate to a server that requests one",
            needs: .clientCertificates,
            traits: .customTrust,
            on: HTTPTestScript(security: .clientCertificate, client: .known)
        ) { subject in
            let reply = try await subject.exchange(subject.call())
            #expect(reply.head.status == .ok)
        },
    ]
}
