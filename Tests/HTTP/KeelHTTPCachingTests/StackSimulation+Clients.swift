import Foundation
import HTTPTypes
import KeelCache
import KeelHTTP
import KeelHTTPAuthentication
import KeelHTTPCaching
import KeelHTTPCompression
import KeelHTTPCookies
import KeelTestKit

extension StackLife {
    /// Creates a client with the plan's layers, in the order of the article "Layers".
    func place(
        _ index: Int,
        _ session: AuthSession<BearerCredentials>,
        _ cache: HTTPCache,
        _ shared: CoalescingMiddleware
    ) throws -> Place {
        let plan = plan.clients[index]
        let account = "app\(index)"
        let limit =
            plan.layers.contains(.concurrency)
            ? ConcurrencyLimitMiddleware(plan.places, queue: plan.queue) : nil
        var configuration = try NetworkClient.Configuration("https://\(StackOrigin.home)")
        configure(&configuration, plan)
        var sharing: [CoalescingMiddleware] = []
        if plan.layers.contains(.coalescing) { sharing.append(CoalescingMiddleware()) }
        if plan.layers.contains(.sharedCoalescing) { sharing.append(shared) }
        configuration.middleware = sharing
        if plan.layers.contains(.idempotencyKeys) {
            configuration.middleware.append(
                IdempotencyKeyMiddleware { [numbers] in "key-\(numbers.number(1 ... .max))" }
            )
        }
        if plan.layers.contains(.fieldAbove) {
            configuration.middleware.insert(FieldLayer(name: StackOrigin.app) { account }, at: 0)
        }
        if flaw == .droppedUser {
            configuration.middleware.append(UserBlindLayer(coalescing: shared))
        }
        if plan.layers.contains(.coalescingBelow) {
            let layer = CoalescingMiddleware()
            sharing.append(layer)
            configuration.hopMiddleware.append(layer)
        }
        if flaw == .ignoredVary { configuration.hopMiddleware.append(VaryHidingLayer()) }
        if plan.layers.contains(.caching), flaw == .missedChange {
            let layer = ChangeHidingLayer(cache: HTTPCachingMiddleware(cache))
            configuration.hopMiddleware.insert(layer, at: 0)
        } else if plan.layers.contains(.caching) {
            configuration.cacheResponses(in: cache)
        }
        sign(&configuration, plan, index, session)
        configuration.attemptMiddleware += limits(plan, limit)
        for layer in freeLayers(plan, account) {
            let place = UserDice(seed: plan.order).number(0...configuration.attemptMiddleware.count)
            configuration.attemptMiddleware.insert(layer, at: place)
        }
        configuration.attemptMiddleware += brokenLayers
        let transport = StackTransport(origin: origin, client: index)
        return Place(
            client: NetworkClient(configuration, transport: transport),
            session: session,
            account: account,
            coalescing: sharing,
            limit: limit
        )
    }

    private func configure(
        _ configuration: inout NetworkClient.Configuration,
        _ plan: StackPlan.Client
    ) {
        configuration.clock = clock
        configuration.timeout = Self.limit
        configuration.redirects = [.never, .safeMethods, .all][plan.redirects]
        configuration.retry = HTTPRetryPolicy(attempts: plan.attempts)
        configuration.retry.jitter = { [numbers] in Double(numbers.number(0...100)) / 100 }
        configuration.makeCallID = { [numbers] in HTTPCallID(UInt64(numbers.number(0 ... .max))) }
        switch plan.budget {
        case 0: break
        case 1: configuration.retry.budget = .shared(HTTPRetryBudget(clock: clock))
        default: configuration.retry.budget = .unlimited
        }
        if plan.layers.contains(.observer) { configuration.observers = [ledger] }
        if plan.layers.contains(.pins),
            let pin = PublicKeyPins.Pin(digest: [UInt8](repeating: 1, count: 32))
        {
            configuration.pins = PublicKeyPins([StackOrigin.home: [pin]])
        }
    }

    private func sign(
        _ configuration: inout NetworkClient.Configuration,
        _ plan: StackPlan.Client,
        _ index: Int,
        _ session: AuthSession<BearerCredentials>
    ) {
        if plan.layers.contains(.bearer) {
            let stranger = URL(string: "https://\(StackOrigin.stranger)").flatMap { HTTPOrigin($0) }
            let others = flaw == .foreignOrigin ? stranger.map { [$0] } ?? [] : []
            configuration.authorize(with: session, alsoAt: Set(others))
        }
        if plan.layers.contains(.basic) {
            configuration.attemptMiddleware.append(StackAccounts.layers[index])
        }
    }

    /// Returns the layers with a fixed position in each attempt.
    private func limits(
        _ plan: StackPlan.Client,
        _ limit: ConcurrencyLimitMiddleware?
    ) -> [any HTTPMiddleware] {
        var layers: [any HTTPMiddleware] = []
        if plan.layers.contains(.circuit) {
            var settings = CircuitBreakerMiddleware.Settings()
            settings.minimumCalls = 2
            layers.append(CircuitBreakerMiddleware(settings, clock: clock))
        }
        if plan.layers.contains(.rate) {
            layers.append(RateLimitMiddleware(5, per: .seconds(1), clock: clock))
        }
        if plan.layers.contains(.hedging) {
            var settings = HedgingMiddleware.Settings()
            settings.minimumSamples = 1
            settings.budget = 1
            layers.append(HedgingMiddleware(settings, clock: clock))
        }
        if flaw == .impatient { layers.append(ImpatientLayer(clock: clock)) }
        if let limit, flaw == .leakedPlace {
            layers.append(LeakingLayer(limit))
        } else if let limit {
            layers.append(limit)
        }
        return layers
    }

    /// Returns the layers that may stand anywhere in an attempt.
    private func freeLayers(_ plan: StackPlan.Client, _ account: String) -> [any HTTPMiddleware] {
        var layers: [any HTTPMiddleware] = []
        if plan.layers.contains(.fieldBelow) {
            layers.append(FieldLayer(name: StackOrigin.app) { account })
        }
        if plan.layers.contains(.cookies) {
            layers.append(CookieJar(identity: "jar", now: { [time] in time.now.date }))
        }
        if plan.layers.contains(.compression) { layers.append(RequestCompression()) }
        if plan.layers.contains(.decompression) {
            layers.append(ResponseDecompression(for: StackOrigin.features))
        }
        return layers
    }

    /// Returns the deliberately broken layers, next to the transport.
    private var brokenLayers: [any HTTPMiddleware] {
        switch flaw {
        case .repeatingPost: [RepeatingLayer(forgetsPins: false)]
        case .forgottenPins: [RepeatingLayer(forgetsPins: true)]
        case .heldReply: [HoardingLayer(forCodedOnly: false)]
        case .heldDecodedReply: [HoardingLayer(forCodedOnly: true)]
        case .talkative: [FieldLayer(name: .authorization) { "Bearer ann/0" }]
        case .deafToLimits: [DeafLayer()]
        case .lostCall: [LosingLayer()]
        default: []
        }
    }
}
