import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import Synchronization

/// A service and a stranger that redirects lead to, with all that can go wrong on the way.
///
/// A body says whose it is and what was asked for. The origin writes down what no client may do:
/// show a credential to the stranger, have a `POST` act twice. It counts the exchanges that somebody
/// still holds on to.
final class StackOrigin: HTTPTransport, IdentityServer {
    static let home = "api.example.com"
    static let stranger = "cdn.example.net"
    static let operation = HTTPField.Name("X-Operation") ?? .server
    static let app = HTTPField.Name("X-App") ?? .server

    private struct State {
        var serial = 0
        var revoked: Set<String> = []
        var requests = 0
        var open = 0
        var acts: [String: Int] = [:]
        var keys: Set<String> = []
        var opened: Set<String> = []
        var renewals = 0
        var redirects = 0
        var faults = 0
        var violation: String?
    }

    let features: HTTPTransportFeatures = [.streamingUpload]
    private let dice: UserDice
    private let clock: TestClock
    /// How many requests of a hundred a fault meets.
    private let faultRate: Int
    /// Whether answers depend on the field that a layer of the app adds, which keeps them out of
    /// caches above that layer.
    let hasApps: Bool
    private let state = Mutex(State())

    init(_ dice: UserDice, _ clock: TestClock) {
        self.dice = dice
        self.clock = clock
        faultRate = dice.pick([5, 20, 50])
        hasApps = dice.happens(50)
    }

    var violation: String? { state.withLock { $0.violation } }
    var openCount: Int { state.withLock { $0.open } }
    var counts: (renewals: Int, redirects: Int, faults: Int) {
        state.withLock { ($0.renewals, $0.redirects, $0.faults) }
    }
    /// Whether the body of an operation was asked for: until then it waits, and cannot stall.
    func hasOpened(_ operation: String) -> Bool { state.withLock { $0.opened.contains(operation) } }

    // MARK: The identity server

    func grant(_ user: String) -> BearerCredentials {
        let serial = state.withLock { state in
            state.serial += 1
            return state.serial
        }
        return BearerCredentials(accessToken: "\(user)/\(serial)", refreshToken: user)
    }

    func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
        state.withLock { $0.renewals += 1 }
        try await clock.sleep(for: .milliseconds(dice.number(0...500)))
        return grant(credentials.refreshToken ?? Truth.nobody)
    }

    func revoke(_ token: String) { _ = state.withLock { $0.revoked.insert(token) } }

    // MARK: Exchanges

    /// An exchange as long as anybody can read its body.
    private final class Handle: Sendable {
        let origin: StackOrigin
        private let pieces: Mutex<[[UInt8]]>
        private let pause: Duration

        init(_ origin: StackOrigin, _ pieces: [[UInt8]], _ pause: Duration) {
            self.origin = origin
            self.pieces = Mutex(pieces.reversed())
            self.pause = pause
            origin.state.withLock { $0.open += 1 }
        }

        deinit { origin.state.withLock { $0.open -= 1 } }

        func next() async throws(TransportError) -> ArraySlice<UInt8>? {
            if pause > .zero { try await origin.pause(pause) }
            return pieces.withLock { $0.popLast() }.map { $0[...] }
        }
    }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let head = call.head
        check(head)
        guard let limit = call.timeouts.firstByte else { return try await answer(call) }
        return try await Deadline(in: limit, on: clock).run(
            throwing: TransportError(.responseTimeout)
        ) {
            () async throws(TransportError) in try await self.answer(call)
        }
    }

    func shutdown() async {}

    private func check(_ head: HTTPRequest) {
        let fields = head.headerFields
        state.withLock { state in
            state.requests += 1
            guard head.authority != Self.home else { return }
            if fields[.authorization] != nil || fields[.cookie] != nil {
                state.violation = "a credential was shown to \(head.authority ?? "")"
            }
        }
    }

    private func pause(_ duration: Duration) async throws(TransportError) {
        guard (try? await clock.sleep(for: duration)) != nil, !Task.isCancelled else {
            throw TransportError(.cancelled)
        }
    }

    private func answer(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let fault = dice.happens(faultRate) ? dice.number(1...9) : 0
        if fault > 0 { state.withLock { $0.faults += 1 } }
        if fault == 1 { throw TransportError(.connectionRefused) }
        if fault == 2 {
            var error = TransportError(.staleConnection)
            error.bytesSent = 0
            throw error
        }
        let operation = call.head.headerFields[Self.operation] ?? ""
        if let body = call.body {
            state.withLock { _ = $0.opened.insert(operation) }
            var pieces = try await body.open().makeAsyncIterator()
            while let piece = try await pieces.next() {
                // The slow uplink: each piece takes its time, none as long as the client's limit.
                if body.bytes == nil, !piece.isEmpty {
                    try await pause(.seconds(dice.number(1...12)))
                }
            }
        }
        try await pause(.milliseconds(dice.pick([0, 10, 200, 1500])))
        if fault == 3 { try await pause(.seconds(100_000)) }
        if fault == 4 { throw TransportError(.connectionLost) }
        let refusal = refusal(of: call.head)
        if let refusal { return reply(refusal, [:], body: "refused") }
        if fault == 5, call.head.authority == Self.home { return redirect(call.head) }
        act(call.head, operation)
        switch fault {
        case 6: throw TransportError(.connectionLost)
        case 7: return reply(dice.pick([500, 502, 503, 504]), [:], body: "trouble")
        case 8: return reply(429, [.retryAfter: String(dice.number(0...3))], body: "later")
        case 9: return content(call.head, pause: .seconds(dice.number(1...40)))
        default: return content(call.head, pause: .zero)
        }
    }

    private func refusal(of head: HTTPRequest) -> Int? {
        guard let token = head.headerFields[.authorization] else { return nil }
        let isRevoked = state.withLock { $0.revoked.contains(String(token.dropFirst(7))) }
        return isRevoked ? 401 : nil
    }

    /// Counts what a request does; one whose idempotency key is known does nothing.
    private func act(_ head: HTTPRequest, _ operation: String) {
        guard head.method == .post, !operation.isEmpty else { return }
        state.withLock { state in
            if let key = head.headerFields[.idempotencyKey] {
                guard state.keys.insert(key).inserted else { return }
            }
            state.acts[operation, default: 0] += 1
            if state.acts[operation, default: 0] > 1 {
                state.violation = "the POST \(operation) acted twice"
            }
        }
    }

    private func redirect(_ head: HTTPRequest) -> HTTPReply {
        let number = state.withLock { state in
            state.redirects += 1
            return state.redirects
        }
        let path = (head.path ?? "/").prefix { $0 != "?" }
        let host = dice.happens(50) ? Self.home : Self.stranger
        return reply(
            dice.pick([302, 303, 307, 308]),
            [.location: "https://\(host)\(path)?\(number)", .cacheControl: "no-store"],
            body: String(repeating: "m", count: dice.pick([0, 10, 8192, 20_000]))
        )
    }

    private func content(_ head: HTTPRequest, pause: Duration) -> HTTPReply {
        let user: String
        switch head.headerFields[.authorization] {
        case let field? where field.hasPrefix("Bearer "):
            user = field.dropFirst(7).split(separator: "/").first.map(String.init) ?? "?"
        case .some: user = "basic"
        case nil: user = Truth.nobody
        }
        let path = (head.path ?? "/").prefix { $0 != "?" }
        let app = hasApps ? head.headerFields[Self.app] ?? "none" : "all"
        var fields: HTTPFields = hasApps ? [.vary: "X-App"] : [:]
        fields[.cacheControl] = dice.pick(["no-store", "max-age=20", "no-cache", "max-age=1"])
        if head.authority == Self.home {
            fields[.setCookie] = "visit=\(dice.number(1...9)); Path=/"
        }
        return reply(200, fields, body: "\(user) \(path) \(app)", pause: pause)
    }

    private func reply(
        _ status: Int,
        _ fields: HTTPFields,
        body: String,
        pause: Duration = .zero
    ) -> HTTPReply {
        var fields = fields
        let bytes = Array(body.utf8)
        if dice.happens(50) { fields[.contentLength] = String(bytes.count) }
        let cut = min(bytes.count, dice.number(0...12))
        let pieces = [Array(bytes[..<cut]), Array(bytes[cut...])].filter { !$0.isEmpty }
        let handle = Handle(self, pieces, pause)
        return HTTPReply(
            head: HTTPResponse(status: .init(code: status), headerFields: fields),
            body: HTTPByteStream { () async throws(TransportError) in try await handle.next() }
        )
    }
}
