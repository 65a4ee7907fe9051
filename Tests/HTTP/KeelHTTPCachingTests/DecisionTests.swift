import HTTPTypes
import KeelCache
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelHTTPCaching

@Suite("Decisions about stored responses")
struct DecisionTests {
    private let start: Int64 = 1_800_000_000

    private func instant(_ seconds: Int64) -> CacheInstant {
        CacheInstant(microseconds: (start + seconds) * 1_000_000)
    }

    private func stored(
        _ fields: HTTPFields,
        requested: Int64 = 0,
        received: Int64 = 0
    ) -> StoredResponse {
        StoredResponse(
            status: .ok,
            fields: fields,
            selectors: [],
            requested: instant(requested),
            received: instant(received),
            body: .init(high: 0, low: 0),
            length: 10
        )
    }

    /// Each row: the stated age, the delay, and the age a hundred seconds after receipt.
    @Test(
        "The age combines the Age field, the date and the delay",
        arguments: [
            (nil, nil, 0, 100), ("30", nil, 0, 130), ("30", nil, 5, 135), (nil, -40, 0, 140),
            ("30", -40, 5, 140), ("50", -40, 5, 155), (nil, 40, 0, 100), ("x", -40, 0, 140),
            ("10, 90", nil, 0, 110), ("99999999999999999999", nil, 0, DeltaSeconds.limit),
        ] as [(String?, Int64?, Int64, Int64)]
    )
    func countsAge(_ field: String?, _ date: Int64?, _ delay: Int64, _ expected: Int64) {
        var fields = HTTPFields()
        fields[.age] = field
        fields[.date] = date.map { HTTPDate.text(start + delay + $0) }
        let response = stored(fields, received: delay)
        #expect(ResponseAge.seconds(of: response, at: instant(delay + 100)) == expected)
    }

    @Test("A clock that runs backwards makes no response younger")
    func survivesClocks() {
        let response = stored([.age: "30"], received: 10)
        #expect(ResponseAge.seconds(of: response, at: instant(-1000)) == 40)
        let early = CacheInstant(microseconds: .min)
        #expect(ResponseAge.seconds(of: response, at: early) == 40)
        let late = CacheInstant(microseconds: .max)
        #expect(ResponseAge.seconds(of: response, at: late) > 1_000_000_000)
    }

    @Test("A response from a clock that was far ahead is not fresh")
    func distrustsFuture() {
        let response = stored([.cacheControl: "max-age=600", .eTag: "\"1\""])
        for (seconds, isFresh) in [(0, true), (-60, true), (-62, false), (-1_000_000, false)] {
            let freshness = Freshness(
                response,
                ResponseDirectives(response.fields, CacheRules()),
                at: instant(Int64(seconds)),
                CacheRules()
            )
            #expect(freshness.isFresh == isFresh, "\(seconds)")
        }
    }

    @Test("A response is fresh until its lifetime ends, and not a second longer")
    func endsFreshness() {
        let response = stored([.cacheControl: "max-age=60"])
        func decision(_ seconds: Int64) -> CacheDecision {
            CacheRules().decide(
                CacheQuestion(
                    method: .get,
                    fields: [:],
                    directives: RequestDirectives(),
                    policy: .standard,
                    now: instant(seconds)
                ),
                among: [response]
            )
        }
        guard case .serve(let choice) = decision(59)
        else { return fail("It is fresh for another second.") }
        #expect(choice.reason == nil)
        guard case .forward(.stale, let fallback) = decision(60)
        else { return fail("It is stale.") }
        #expect(fallback != nil)
    }

    @Test("A shared cache does not use what a private one has stored for its user")
    func keepsPrivateResponses() {
        func decision(_ control: String, isShared: Bool) -> CacheDecision {
            var rules = CacheRules()
            rules.isShared = isShared
            return rules.decide(
                CacheQuestion(
                    method: .get,
                    fields: [:],
                    directives: RequestDirectives(),
                    policy: .standard,
                    now: instant(1)
                ),
                among: [stored([.cacheControl: control, .setCookie: "user=ann"])]
            )
        }
        for control in ["private, max-age=60", "private=\"set-cookie\", max-age=60"] {
            #expect(decision(control, isShared: true) == .forward(.uriMiss, fallback: nil))
            guard case .serve = decision(control, isShared: false) else {
                Issue.record("A private cache serves its user.")
                continue
            }
        }
        guard case .serve = decision("private=\"age\", max-age=60", isShared: true)
        else { return fail("Without the field, the response is for everybody.") }
    }

    @Test("No stored response is used against the rules, whatever the directives")
    func neverBreaksRules() {
        var random = SeededRandom(seed: 11)
        let says = [
            "max-age=60", "max-age=0", "max-age=x", "s-maxage=90", "no-cache", "no-cache=\"a\"",
            "must-revalidate", "proxy-revalidate", "stale-while-revalidate=50",
            "stale-if-error=50", "immutable", "public", "private", "foo=\"max-age=99999\"",
        ]
        let asks = [
            "max-age=30", "max-age=0", "min-fresh=10", "max-stale", "max-stale=20", "no-cache",
            "only-if-cached", "max-age=x", "foo",
        ]
        let policies: [HTTPCachePolicy] = [
            .standard, .revalidate, .reload, .cacheElseNetwork, .cacheOnly, .staleWhenOffline,
            .failWhenOffline,
        ]
        func some(_ texts: [String]) -> String {
            (0..<Int.random(in: 0...3, using: &random))
                .compactMap { _ in texts.randomElement(using: &random) }.joined(separator: ", ")
        }
        for _ in 0..<5000 {
            var rules = CacheRules()
            rules.isShared = Bool.random(using: &random)
            rules.offlineLimit = 1000
            rules.errorLimit = Bool.random(using: &random) ? 1000 : nil
            let response = stored([.cacheControl: some(says), .eTag: "\"1\""])
            let fields: HTTPFields = [.cacheControl: some(asks)]
            let question = CacheQuestion(
                method: .get,
                fields: fields,
                directives: RequestDirectives(fields),
                policy: policies.randomElement(using: &random) ?? .standard,
                now: instant(Int64.random(in: 0...200, using: &random))
            )
            let decision = rules.decide(question, among: [response])
            check(decision, question, rules)
        }
    }

    private func check(_ decision: CacheDecision, _ question: CacheQuestion, _ rules: CacheRules) {
        func context() -> Comment { "\(decision), \(question.fields), \(question.policy)" }
        let isOnlyStored = question.directives.onlyIfCached || question.policy.reads == .onlyStored
        switch decision {
        case .serve(let choice), .serveAndRevalidate(let choice):
            #expect(!choice.directives.noCache.isWhole, context())
            #expect(question.policy.reads != .nothing, context())
            #expect(!question.directives.noCache, context())
            #expect(!rules.isShared || !choice.directives.isPrivate.isWhole, context())
            if choice.freshness.isFresh {
                #expect(choice.reason == nil, context())
            } else {
                #expect(choice.reason != nil, context())
                #expect(!choice.directives.mustRevalidate, context())
                #expect(!rules.isShared || !choice.directives.sharedMaxAge.isPresent, context())
            }
        case .validate(let choice, _), .forward(_, let choice?):
            #expect(!isOnlyStored, context())
            for failure in [CacheRules.OriginFailure.offline, .status] {
                guard let reason = rules.staleReason(choice, for: failure, question) else {
                    continue
                }
                #expect(!choice.directives.mustRevalidate, context())
                #expect(!choice.directives.noCache.isWhole, context())
                #expect(failure == .offline || reason == .serverError, context())
            }
        case .forward(_, nil): #expect(!isOnlyStored, context())
        case .refuse: #expect(isOnlyStored, context())
        }
    }
}
