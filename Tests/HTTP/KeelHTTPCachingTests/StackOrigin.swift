import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelTestKit
import KeelZlib
import Synchronization

/// A service, and a foreign origin that redirects lead to, with all possible failures on the way.
///
/// A body names its user, its request, its app and the number of changes so far. The origin records
/// forbidden acts of clients: showing a credential to the foreign origin or to an interceptor of a
/// pinned connection, or a `POST` that acts twice. It counts the exchanges that are still retained.
///
/// The treatment of a request depends on the seed, its target and the number of earlier requests
/// for it: leaving out another call does not change it.
final class StackOrigin: IdentityServer {
    static let home = "api.example.com"
    static let stranger = "cdn.example.net"
    static let operation = HTTPField.Name("X-Operation") ?? .server
    static let app = HTTPField.Name("X-App") ?? .server
    static let features: HTTPTransportFeatures = [.streamingUpload, .pinning, .rawContentCoding]

    /// The failure of an exchange.
    private enum Fault: CaseIterable {
        case refused, stale, silent, lostBefore, lostAfter, redirected, failing, throttled
        case slow, brokenOff, early, intercepted
    }

    private struct State {
        var serial = 0
        var revoked: Set<String> = []
        var open = 0
        var inside = 0
        var acts: [String: Int] = [:]
        var keys: Set<String> = []
        var opened: [String: Duration] = [:]
        var silent: Set<String> = []
        var askedFor: [String: UInt64] = [:]
        var versions: [String: Int] = [:]
    }

    private let plan: StackPlan
    private let clock: TestClock
    private let ledger: StackLedger
    /// Whether answers depend on the field that an app's layer adds.
    private let hasApps: Bool
    /// The possible faults; some are more frequent.
    private static let faults =
        Fault.allCases + [.redirected, .redirected, .redirected, .lostAfter, .lostAfter]
        + [.intercepted, .intercepted]
    private let state = Mutex(State())

    init(_ plan: StackPlan, _ clock: TestClock, _ ledger: StackLedger) {
        self.plan = plan
        self.clock = clock
        self.ledger = ledger
        hasApps = plan.clients.contains { client in
            client.layers.contains(.fieldAbove) || client.layers.contains(.fieldBelow)
        }
    }

    /// The number of exchanges whose body may still be read.
    var openCount: Int { state.withLock { $0.open } }
    /// The number of unanswered requests.
    var insideCount: Int { state.withLock { $0.inside } }
    /// When the body of an operation was first requested: until then it waits, and cannot stall.
    func opening(of operation: String) -> Duration? { state.withLock { $0.opened[operation] } }
    /// Returns whether an operation met silence, which its client may take for a stall.
    func wasSilent(_ operation: String) -> Bool { state.withLock { $0.silent.contains(operation) } }

    // MARK: The identity server

    func grant(_ user: String) -> BearerCredentials {
        let serial = state.withLock { state in
            state.serial += 1
            return state.serial
        }
        return BearerCredentials(accessToken: "\(user)/\(serial)", refreshToken: user)
    }

    func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
        let dice = dice("refresh \(credentials.accessToken)")
        ledger.count(.renewals)
        try await clock.sleep(for: .milliseconds(dice.number(0...500)))
        if dice.happens(10) { throw TransportError(.connectionLost) }
        return grant(credentials.refreshToken ?? Truth.nobody)
    }

    func revoke(_ token: String) { _ = state.withLock { $0.revoked.insert(token) } }

    // MARK: Exchanges

    /// Handles one request of a client.
    func send(_ call: HTTPCall, of client: Int) async throws(TransportError) -> HTTPReply {
        check(call.head)
        state.withLock { $0.inside += 1 }
        defer { state.withLock { $0.inside -= 1 } }
        guard let limit = call.timeouts.firstByte else { return try await answer(call, client) }
        return try await Deadline(in: limit, on: clock).run(
            throwing: TransportError(.responseTimeout)
        ) {
            () async throws(TransportError) in try await self.answer(call, client)
        }
    }

    private func check(_ head: HTTPRequest) {
        guard head.authority != Self.home || head.scheme != "https" else { return }
        let fields = head.headerFields
        if fields[.authorization] != nil || fields[.cookie] != nil {
            ledger.fail("a credential was shown to \(head.scheme ?? "")://\(head.authority ?? "")")
        }
    }

    /// Returns the random numbers for the next exchange of a kind.
    private func dice(_ name: String) -> UserDice {
        let count = state.withLock { state in
            state.askedFor[name, default: 0] += 1
            return state.askedFor[name, default: 0]
        }
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        return UserDice(seed: hash ^ plan.seed &+ count &* 0x9E37_79B9_7F4A_7C15)
    }

    private func pause(_ duration: Duration) async throws(TransportError) {
        guard (try? await clock.sleep(for: duration)) != nil, !Task.isCancelled else {
            throw TransportError(.cancelled)
        }
    }

    private func answer(_ call: HTTPCall, _ client: Int) async throws(TransportError) -> HTTPReply {
        let head = call.head
        let operation = head.headerFields[Self.operation] ?? ""
        let path = String((head.path ?? "/").prefix { $0 != "?" })
        let dice = dice(operation.isEmpty ? "\(client) \(head.method) \(path)" : operation)
        let fault = dice.happens(plan.faultRate) ? dice.pick(Self.faults) : nil
        if fault != nil { ledger.count(.faults) }
        ledger.trace(
            "\(clock.elapsed) \(head.method) \(head.authority ?? "")\(head.path ?? "") for client \(client): "
                + (fault.map { "\($0)" } ?? "no fault")
        )
        switch fault {
        case .refused: throw TransportError(.connectionRefused)
        case .stale:
            var error = TransportError(.staleConnection)
            error.bytesSent = 0
            throw error
        case .intercepted where head.authority == Self.home: try intercept(call, client)
        case .early: return reply(413, [:], body: "early", dice)
        default: break
        }
        if let body = call.body { try await take(body, operation, dice) }
        try await pause(.milliseconds(dice.pick([0, 10, 200, 1500])))
        if fault == .silent {
            _ = state.withLock { $0.silent.insert(operation) }
            try await pause(.seconds(100_000))
        }
        if fault == .lostBefore { throw TransportError(.connectionLost) }
        if let refusal = refusal(of: head) { return reply(refusal, [:], body: "refused", dice) }
        if fault == .redirected, head.authority == Self.home { return redirect(path, dice) }
        act(head, operation)
        switch fault {
        case .lostAfter: throw TransportError(.connectionLost)
        case .failing: return reply(dice.pick([500, 502, 503, 504]), [:], body: "trouble", dice)
        case .throttled:
            ledger.count(.throttled)
            return reply(429, [.retryAfter: "\(dice.number(0...3))"], body: "later", dice)
        case .slow:
            _ = state.withLock { $0.silent.insert(operation) }
            return content(call, path, dice, pause: .seconds(dice.number(1...40)))
        case .brokenOff: return content(call, path, dice, breaksOff: true)
        default: return content(call, path, dice)
        }
    }

    /// The connection leads to an interceptor with another key.
    private func intercept(_ call: HTTPCall, _ client: Int) throws(TransportError) {
        if let pins = call.options.pins,
            !pins.allows([UInt8](repeating: 9, count: 32), for: Self.home)
        {
            ledger.count(.pinRefusals)
            throw TransportError(.tlsPinMismatch)
        }
        guard plan.clients[client].layers.contains(.pins) else { return }
        ledger.fail("a request of a client with pins went to who intercepts it")
    }

    private func take(
        _ body: HTTPBody,
        _ operation: String,
        _ dice: UserDice
    ) async throws(TransportError) {
        let now = clock.elapsed
        state.withLock { $0.opened[operation] = $0.opened[operation] ?? now }
        var pieces = try await body.open().makeAsyncIterator()
        while let piece = try await pieces.next() {
            // A slow uplink: each piece takes time, but none as long as the client's limit.
            if body.bytes == nil, !piece.isEmpty { try await pause(.seconds(dice.number(1...12))) }
        }
    }

    private func refusal(of head: HTTPRequest) -> Int? {
        guard let token = head.headerFields[.authorization] else { return nil }
        let isRevoked = state.withLock { $0.revoked.contains(String(token.dropFirst(7))) }
        return isRevoked ? 401 : nil
    }

    /// Counts the effects of a request; a known idempotency key has none.
    private func act(_ head: HTTPRequest, _ operation: String) {
        guard !operation.isEmpty else { return }
        let acts = state.withLock { state in
            state.versions[Self.place(of: head), default: 0] += 1
            guard head.method == .post else { return 0 }
            if let key = head.headerFields[.idempotencyKey] {
                guard state.keys.insert(key).inserted else { return 0 }
            }
            state.acts[operation, default: 0] += 1
            return state.acts[operation, default: 0]
        }
        if acts > 1 { ledger.fail("the POST \(operation) acted twice") }
    }

    /// Returns the target of a request, which its answer names.
    private static func place(of head: HTTPRequest) -> String {
        "\(head.authority ?? "")\(head.path ?? "")"
    }

    // MARK: Answers

    private func redirect(_ path: String, _ dice: UserDice) -> HTTPReply {
        let place = dice.pick([
            "https://\(Self.home)", "https://\(Self.stranger)", "https://\(Self.stranger)",
            "http://\(Self.home)",
        ])
        return reply(
            dice.pick([302, 303, 307, 308]),
            [.location: "\(place)\(path)?\(dice.number(1...3))", .cacheControl: "no-store"],
            body: String(repeating: "m", count: dice.pick([0, 10, 8192, 20_000])),
            dice
        )
    }

    private func content(
        _ call: HTTPCall,
        _ path: String,
        _ dice: UserDice,
        pause: Duration = .zero,
        breaksOff: Bool = false
    ) -> HTTPReply {
        let head = call.head
        let app = head.headerFields[Self.app] ?? "none"
        let place = Self.place(of: head)
        let version = state.withLock { $0.versions[place, default: 0] }
        // Careless except for `Vary`: the tag is the same for all users.
        let tag = "\"\(app)-\(version)\""
        var fields: HTTPFields = [.eTag: tag, .cacheControl: Self.cacheControl(path, dice)]
        if hasApps { fields[.vary] = "X-App" }
        if head.authority == Self.home {
            fields[.setCookie] = "visit=\(dice.number(1...9)); Path=/; Secure"
            if head.headerFields[.cookie] != nil { ledger.count(.cookies) }
        }
        if head.headerFields[.ifNoneMatch]?.contains(tag) == true {
            ledger.count(.notModified)
            return reply(304, fields, body: "", dice)
        }
        var body = "\(user(of: head)) \(path) \(app) \(version) \(place)"
        if dice.happens(20) {
            body += " " + String(repeating: "x", count: dice.pick([100, 600, 3000]))
        }
        if head.method == .head { body = "" }
        var bytes = Array(body.utf8)
        if !bytes.isEmpty, dice.happens(60),
            head.headerFields[.acceptEncoding]?.contains("gzip") == true
        {
            bytes = Self.gzipped(bytes)
            fields[.contentEncoding] = "gzip"
            ledger.count(.decoded)
        }
        return reply(200, fields, bytes, dice, pause: pause, breaksOff: breaksOff)
    }

    private func user(of head: HTTPRequest) -> String {
        switch head.headerFields[.authorization] {
        case let field? where field.hasPrefix("Bearer "):
            field.dropFirst(7).split(separator: "/").first.map(String.init) ?? "?"
        case let field?: StackAccounts.name(of: field) ?? "?"
        case nil: Truth.nobody
        }
    }

    private static func cacheControl(_ path: String, _ dice: UserDice) -> String {
        switch path {
        case "/0": "max-age=30"
        case "/1": "max-age=2, stale-while-revalidate=600"
        case "/2": "no-cache"
        default: dice.pick(["no-store", "public, max-age=10", "max-age=5, stale-if-error=1000"])
        }
    }

    private static func gzipped(_ bytes: [UInt8]) -> [UInt8] {
        let stream = DeflateStream()
        return (stream.deflate(bytes[...]) ?? []) + (stream.deflate(nil) ?? [])
    }

    private func reply(
        _ status: Int,
        _ fields: HTTPFields,
        body: String,
        _ dice: UserDice
    ) -> HTTPReply {
        reply(status, fields, Array(body.utf8), dice)
    }

    private func reply(
        _ status: Int,
        _ fields: HTTPFields,
        _ bytes: [UInt8],
        _ dice: UserDice,
        pause: Duration = .zero,
        breaksOff: Bool = false
    ) -> HTTPReply {
        var fields = fields
        if dice.happens(50), status != 304 { fields[.contentLength] = String(bytes.count) }
        let cut = min(bytes.count, dice.number(0...12))
        let pieces = [Array(bytes[..<cut]), Array(bytes[cut...])].filter { !$0.isEmpty }
        let handle = Handle(self, pieces, pause, breaksOff: breaksOff)
        return HTTPReply(
            head: HTTPResponse(status: .init(code: status), headerFields: fields),
            body: HTTPByteStream { () async throws(TransportError) in try await handle.next() }
        )
    }

    /// An exchange, for as long as its body can be read.
    private final class Handle: Sendable {
        let origin: StackOrigin
        private let pieces: Mutex<[[UInt8]]>
        private let pause: Duration
        private let breaksOff: Bool

        init(_ origin: StackOrigin, _ pieces: [[UInt8]], _ pause: Duration, breaksOff: Bool) {
            self.origin = origin
            self.pieces = Mutex(pieces.reversed())
            self.pause = pause
            self.breaksOff = breaksOff
            origin.state.withLock { $0.open += 1 }
        }

        deinit { origin.state.withLock { $0.open -= 1 } }

        func next() async throws(TransportError) -> ArraySlice<UInt8>? {
            if pause > .zero { try await origin.pause(pause) }
            let (piece, isLast) = pieces.withLock { ($0.popLast(), $0.isEmpty) }
            if breaksOff, isLast { throw TransportError(.truncatedBody) }
            return piece.map { $0[...] }
        }
    }
}

/// The transport of one client.
struct StackTransport: HTTPTransportDouble {
    let features = StackOrigin.features
    let origin: StackOrigin
    let client: Int

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        try await origin.send(call, of: client)
    }
}
