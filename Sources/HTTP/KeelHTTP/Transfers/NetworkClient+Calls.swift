package import HTTPTypes

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension NetworkClient {
    /// Creates the head of a request to an address that is absolute or relative to the base URL.
    ///
    /// Only an address with the origin of the base URL gets the client's header fields, which may be credentials.
    ///
    /// - Throws: ``TransportError`` with the code `redirectInvalid` if the address is not valid, `invalidRequest` if
    ///   the base URL is not.
    package func head(
        _ method: HTTPRequest.Method,
        _ address: URL
    ) throws(TransportError) -> HTTPRequest {
        let base: BaseAddress
        do throws(NetworkError) {
            base = try self.base.get()
        } catch {
            throw TransportError(.invalidRequest, cause: error)
        }
        let home = HTTPRequest(
            method: method,
            scheme: base.scheme,
            authority: base.authority,
            path: base.path + "/"
        )
        // The caller chose the address: a different scheme is not a downgrade.
        var origin = home
        origin.scheme = address.scheme?.lowercased() ?? base.scheme
        var head = home
        try head.move(to: address.absoluteString, from: origin)
        if head.hasSameOrigin(as: home) { head.headerFields = configuration.defaultHeaders }
        return head
    }

    /// Returns the identity that calls with these options are signed for; nil if there is none, it is unknown, or calls
    /// with their pin have been sent for another one.
    ///
    /// Cookies do not count: the name of a jar's user may be new in each process.
    package func signer(of options: HTTPCallOptions) async -> String? {
        let everything = self.options(for: options)
        guard everything.authentication != .none,
            let signer = everything.signer?.ofAuthorization,
            await signer.stillSigns(for: everything.pin)
        else { return nil }
        return await signer.identity()
    }

    /// Sends a request of a transfer, which does its own retries, and returns the reply, whatever its status.
    ///
    /// An HTTP cache neither serves nor stores it. ``Configuration/idleTimeout`` limits the wait for each chunk of the
    /// response, and ``HTTPTimeouts/firstByte`` in ``Configuration/timeouts`` the time to the head, including sending
    /// the body. Without a `firstByte`, ``Configuration/idleTimeout`` limits that time, too, unless the body is
    /// produced while it is sent: ``Configuration/timeout`` then limits the time without progress, until the head
    /// arrives and for each chunk.
    package func transfer(
        _ head: HTTPRequest,
        body: HTTPBody? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(TransportError) -> HTTPReply {
        var everything = self.options(for: options)
        everything.retry = .attempts(1)
        everything.isTransfer = true
        var timeouts = configuration.timeouts
        timeouts.idle = configuration.idleTimeout
        if let limit = configuration.timeout, let body, body.bytes == nil {
            everything.stallTimeout = limit
        } else {
            timeouts.firstByte = timeouts.firstByte ?? configuration.idleTimeout
        }
        var call = HTTPCall(
            head,
            body: body,
            timeouts: timeouts,
            options: everything,
            id: configuration.makeCallID()
        )
        call.recorder = HTTPEventRecorder(configuration.observers, clock: configuration.clock)
        call.record(.started(head))
        do throws(TransportError) {
            let reply = try await carryOut(call)
            call.record(.succeeded(status: reply.head.status.code))
            return reply
        } catch {
            call.record(.failed(error))
            throw error
        }
    }
}

extension HTTPCallOptions {
    private enum TransferKey: HTTPCallOptionKey {
        static var defaultValue: Bool { false }
    }

    /// Whether the call belongs to a transfer, which an HTTP cache passes on.
    package var isTransfer: Bool {
        get { self[TransferKey.self] }
        set { self[TransferKey.self] = newValue }
    }
}
