import Foundation
import HTTPTypes
import KeelCache
import KeelCore
import KeelHTTP
import KeelHTTPCaching
import KeelTestKit
import Synchronization

/// What is wrong on purpose, so that the simulation has something to find.
enum StackFlaw: CaseIterable, Sendable {
    /// A layer sends each failed request again, whatever it was.
    case careless
    /// A layer keeps every reply that it passes on.
    case hoarder
    /// A layer signs whatever goes by, wherever it goes.
    case talkative
}

/// One life of an app: two users with a stack of layers each, over one cache.
///
/// The layers are drawn, and stand in the order that the article "Layers" gives.
final class StackLife: Sendable {
    struct Tally: Sendable {
        var answers = 0
        var uploads = 0
    }

    private struct Place: Sendable {
        let client: NetworkClient
        let session: AuthSession<BearerCredentials>
        let account: String
        let limit: ConcurrencyLimitMiddleware?
        let places: Int
    }

    private enum Kind: CaseIterable { case get, raw, stream, dropped, post, put, upload }

    private static let limit = Duration.seconds(30)

    let dice: UserDice
    let origin: StackOrigin
    private let clock = TestClock()
    private let files = SimulatedFileSystem()
    private let stores = [0, 1].map { _ in InMemoryCredentialStore<BearerCredentials>() }
    private let flaw: StackFlaw?
    private let state = Mutex<
        (tally: Tally, failure: String?, pending: Int, limited: Int, serial: Int)
    >(
        (Tally(), nil, 0, 0, 0)
    )

    init(seed: UInt64, flaw: StackFlaw? = nil) {
        self.flaw = flaw
        dice = UserDice(seed: seed)
        origin = StackOrigin(dice, clock)
    }

    var counts: Tally { state.withLock { $0.tally } }

    /// Runs the schedule; returns what went wrong.
    func run() async throws -> String? {
        try await clock.run {
            for _ in 0..<self.dice.number(1...2) {
                try await self.process()
                if self.found != nil { return }
            }
        }
        return found
    }

    private var found: String? { state.withLock { $0.failure } ?? origin.violation }

    private func fail(_ text: String) {
        state.withLock { state in state.failure = state.failure ?? text }
    }

    /// One start of the app, to its end.
    private func process() async throws {
        var disk = DiskCacheTier.Configuration(byteLimit: 1 << 20)
        disk.fileSystem = files
        disk.clock = .following(clock)
        let tier = try DiskCacheTier(path: "/cache", configuration: disk)
        let cache = HTTPCache(HTTPCache.Configuration(), tier: tier, clock: .following(clock))
        var places = try [0, 1].map { try place($0, cache) }
        for place in places { _ = try await place.session.restore() }
        for _ in 0..<dice.number(2...4) {
            await step(places)
            await settle(places)
            if found != nil { break }
        }
        cache.cancelRevalidations()
        places = []
        await wait("an exchange is held on to") { self.origin.openCount == 0 }
        await tier.close()
    }

    // MARK: The stack

    private func place(_ index: Int, _ cache: HTTPCache) throws -> Place {
        guard let url = URL(string: "https://\(StackOrigin.home)") else { throw NoAddress() }
        let session = AuthSession(server: origin, store: stores[index])
        var configuration = NetworkClient.Configuration(baseURL: url)
        configuration.clock = clock
        configuration.timeout = Self.limit
        configuration.redirects = dice.pick([.all, .safeMethods])
        configuration.retry = HTTPRetryPolicy(attempts: dice.number(1...3))
        configuration.retry.jitter = { 0.5 }
        if dice.happens(30) { configuration.retry.budget = .unlimited }
        if dice.happens(50) { configuration.middleware.append(CoalescingMiddleware()) }
        if dice.happens(30) { configuration.middleware.append(IdempotencyKeyMiddleware()) }
        let isCaching = dice.happens(70)
        if isCaching { configuration.cacheResponses(in: cache) }
        if dice.happens(20) { configuration.hopMiddleware.append(CoalescingMiddleware()) }
        let account = "app\(index)"
        var layers: [any HTTPMiddleware] = [FieldLayer(value: account)]
        if dice.happens(50) { layers.append(CookieJar()) }
        configuration.attemptMiddleware = layers
        if dice.happens(80) {
            configuration.authorize(with: session)
        } else if let credentials = BasicCredentials(user: account, password: "secret") {
            configuration.authorize(with: credentials)
        }
        if flaw == .talkative { configuration.attemptMiddleware.append(TalkativeLayer()) }
        if dice.happens(30) {
            configuration.attemptMiddleware.append(CircuitBreakerMiddleware(clock: clock))
        }
        if dice.happens(30) {
            configuration.attemptMiddleware.append(
                RateLimitMiddleware(5, per: .seconds(1), clock: clock)
            )
        }
        if dice.happens(40) {
            var settings = HedgingMiddleware.Settings()
            settings.minimumSamples = 3
            settings.budget = 0.5
            configuration.attemptMiddleware.append(HedgingMiddleware(settings, clock: clock))
        }
        let places = dice.number(1...3)
        let limit = dice.happens(70) ? ConcurrencyLimitMiddleware(places) : nil
        if let limit { configuration.attemptMiddleware.append(limit) }
        if flaw == .careless { configuration.attemptMiddleware.append(CarelessLayer()) }
        if flaw == .hoarder { configuration.attemptMiddleware.append(HoardingLayer()) }
        let client = NetworkClient(configuration, transport: origin)
        return Place(
            client: client,
            session: session,
            account: account,
            limit: limit,
            places: places
        )
    }

    // MARK: Steps

    private func step(_ places: [Place]) async {
        for place in places {
            switch dice.number(0...9) {
            case 0...3:
                try? await place.session.signIn {
                    self.origin.grant(self.dice.pick(["ann", "bob", "cat"]))
                }
            case 4: try? await place.session.signOut()
            case 5, 6: if let token = place.session.current?.accessToken { origin.revoke(token) }
            default: break
            }
        }
        let calls = (0..<dice.number(1...6)).map { _ in
            (dice.pick(places), dice.pick(Kind.allCases))
        }
        await withTaskGroup(of: Void.self) { group in
            for (place, kind) in calls {
                let isLimited = kind != .upload && kind != .raw
                state.withLock { state in
                    state.pending += 1
                    if isLimited { state.limited += 1 }
                }
                let isCancelled = dice.happens(8)
                group.addTask {
                    let call = Task { await self.call(kind, place) }
                    if isCancelled {
                        try? await self.clock.sleep(for: .milliseconds(self.dice.number(0...3000)))
                        call.cancel()
                    }
                    await call.value
                    self.state.withLock { state in
                        state.pending -= 1
                        if isLimited { state.limited -= 1 }
                    }
                }
            }
            group.addTask { await self.watch() }
            // The watch ends with the calls.
            await group.waitForAll()
        }
    }

    /// Finds calls that do not end: those with a limit soon after it, the others a day later.
    private func watch() async {
        let start = clock.elapsed
        while state.withLock({ $0.pending > 0 }) {
            let passed = clock.elapsed - start
            let limited = passed > Self.limit + .seconds(1)
            await wait("a call outlives its limit") {
                self.state.withLock { limited ? $0.limited == 0 : true }
            }
            await wait("a call never ends") {
                passed < .seconds(86_400) || self.state.withLock { $0.pending == 0 }
            }
            if found != nil { return }
            try? await clock.sleep(for: passed < .seconds(600) ? .seconds(1) : .seconds(600))
        }
    }

    private struct NoAddress: Error {}

    private func wait(_ complaint: String, _ condition: @Sendable () -> Bool) async {
        // In real time: until then, whoever has to end has had every chance.
        guard (try? await waitUntil(within: .seconds(20)) { condition() }) == nil else { return }
        fail(complaint)
    }

    /// Looks whether a limit still counts exchanges that are over.
    private func settle(_ places: [Place]) async {
        await wait("an exchange is held on to") { self.origin.openCount == 0 }
        for place in places {
            guard let limit = place.limit else { continue }
            let inside = Mutex(0)
            let next = HTTPNext { _ async throws(TransportError) in
                inside.withLock { $0 += 1 }
                try? await waitUntil(within: .seconds(20)) {
                    inside.withLock { $0 } >= place.places
                }
                return HTTPReply(head: HTTPResponse(status: .ok))
            }
            let call = HTTPCall(
                HTTPRequest(method: .get, scheme: "https", authority: StackOrigin.home, path: "/")
            )
            let probes = (0..<place.places).map { _ in
                Task { _ = try? await limit.intercept(call, next: next).body.collect(upTo: 1) }
            }
            await wait("a place is held") { inside.withLock { $0 } >= place.places }
            for probe in probes { await probe.value }
        }
    }
}

// MARK: - Calls

extension StackLife {
    private struct Operation: ServiceEndpoint {
        var method: HTTPRequest.Method
        var name: String
        var number: String
        var body: RequestBody?
        var options: HTTPCallOptions
        var path: EndpointPath { "/\(name)" }
        var headers: HTTPFields { [StackOrigin.operation: number] }
    }

    private func body(_ kind: Kind) -> RequestBody? {
        switch kind {
        case .post, .put: return .bytes([1, 2, 3])
        case .upload:
            let count = dice.number(1...6)
            let length = dice.happens(50) ? Int64(count) : nil
            let body = HTTPBody(length: length, isReplayable: dice.happens(50)) {
                () async throws(TransportError) in .chunks(Array(repeating: [7], count: count))
            }
            return .stream(body, contentType: "video/mp4")
        default: return nil
        }
    }

    private func operation(_ kind: Kind) -> Operation {
        let number = state.withLock { state in
            state.serial += 1
            return state.serial
        }
        var options = HTTPCallOptions()
        options.authentication = dice.pick([.required, .optional, .optional, .none])
        let method: HTTPRequest.Method =
            switch kind {
            case .post: .post
            case .upload: dice.pick([.post, .put])
            case .put: .put
            default: .get
            }
        return Operation(
            method: method,
            name: "\(dice.number(0...2))",
            number: method == .get ? "" : "\(number)",
            body: body(kind),
            options: options
        )
    }

    private func call(_ kind: Kind, _ place: Place) async {
        let operation = operation(kind)
        let user = place.session.current?.refreshToken ?? Truth.nobody
        do {
            switch kind {
            case .raw:
                var call = HTTPCall(
                    HTTPRequest(
                        method: .get,
                        scheme: "https",
                        authority: StackOrigin.home,
                        path: "/\(operation.name)"
                    ),
                    timeouts: HTTPTimeouts(firstByte: .seconds(20), idle: .seconds(60))
                )
                call.options = operation.options
                let reply = try await place.client.send(call)
                let bytes = try await reply.body.collect(upTo: 1 << 20)
                judge(reply.head, bytes, user, place, operation)
            case .stream:
                let reply = try await place.client.stream(operation, timeoutCovers: .wholeResponse)
                judge(
                    reply.head,
                    try await reply.body.collect(upTo: 1 << 20),
                    user,
                    place,
                    operation
                )
            case .dropped:
                let reply = try await place.client.stream(operation)
                if dice.happens(50) {
                    var pieces = reply.body.makeAsyncIterator()
                    _ = try await pieces.next()
                }
            default:
                let response = try await place.client.response(to: operation).get()
                judge(response.head, response.body, user, place, operation)
                if kind == .upload { state.withLock { $0.tally.uploads += 1 } }
            }
        } catch {
            let code = (error as? TransportError)?.code
            if kind == .upload, code == .writeTimeout || code == .responseTimeout,
                !origin.hasOpened(operation.number)
            {
                fail("an upload that waited was ended as stalled: \(error)")
            }
        }
    }

    private func judge(
        _ head: HTTPResponse,
        _ bytes: [UInt8],
        _ user: String,
        _ place: Place,
        _ operation: Operation
    ) {
        guard head.status == .ok else { return }
        state.withLock { $0.tally.answers += 1 }
        let found = String(decoding: bytes, as: UTF8.self).split(separator: " ").map(String.init)
        let users = operation.options.authentication == .none ? [] : [user, "basic"]
        guard found.count == 3, ([Truth.nobody] + users).contains(found[0]),
            found[1] == "/\(operation.name)",
            found[2] == (origin.hasApps ? place.account : "all")
        else {
            let text = String(decoding: bytes, as: UTF8.self)
            return fail("\(user) of \(place.account) asked for \(operation.name) and got \(text)")
        }
    }
}
