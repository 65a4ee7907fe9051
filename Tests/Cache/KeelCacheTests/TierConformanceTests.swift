import KeelCache
import KeelConformance
import KeelTestKit
import Testing

@Suite("Conformance of cache tiers")
struct TierConformanceTests {
    static let features: CacheTierSubject.Features = .byteLimit
    static let checks = CacheTierCheck.applicable(to: features)

    private static func subject(
        _ tier: @escaping @Sendable (InMemoryCacheTier) -> any CacheTier
    ) -> CacheTierSubject {
        CacheTierSubject(features: features) { setting in
            tier(InMemoryCacheTier(byteLimit: setting.byteLimit ?? 64 << 20, clock: setting.clock))
        }
    }

    @Test(arguments: checks)
    func inMemory(_ check: CacheTierCheck) async throws {
        try await check.run(on: Self.subject { $0 })
    }

    @Test(arguments: checks)
    func observed(_ check: CacheTierCheck) async throws {
        try await check.run(on: Self.subject { $0.observed { _ in } })
    }

    @Test(arguments: checks)
    func recorded(_ check: CacheTierCheck) async throws {
        try await check.run(on: Self.subject { $0.recorded() })
    }

    @Test(arguments: checks)
    func withoutFaults(_ check: CacheTierCheck) async throws {
        try await check.run(on: Self.subject { $0.failing([]) })
    }

    @Test(arguments: CacheTierCheck.applicable(to: []))
    func templateOfTheDocumentation(_ check: CacheTierCheck) async throws {
        try await check.run(on: CacheTierSubject { LegacyCacheTier(clock: $0.clock) })
    }

    @Test("There are at least 40 checks with unique promises")
    func counts() {
        let promises = CacheTierCheck.all.map(\.testDescription)
        #expect(promises.count >= 40)
        #expect(Set(promises).count == promises.count)
    }

    @Test(
        "The checks detect a tier that breaks a promise",
        arguments: BrokenCacheTier.Fault.allCases
    )
    func noticesBrokenTiers(_ fault: BrokenCacheTier.Fault) async throws {
        for check in Self.checks where check.group != .concurrency {
            let isCaught = try await recordsIssue {
                let subject = CacheTierSubject(features: Self.features) { setting in
                    BrokenCacheTier(fault, clock: setting.clock, byteLimit: setting.byteLimit)
                }
                try await check.run(on: subject)
            }
            if isCaught { return }
        }
        Issue.record("no check noticed a tier that \(fault.rawValue)")
    }

    @Test("An observer receives what each call did, but no keys")
    func observes() async throws {
        let calls = Calls()
        let tier = InMemoryCacheTier().failing([nil, nil, nil, .fail(.diskFull)])
            .observed { calls.add($0) }
        let record = CacheRecord(
            key: [1],
            body: .bytes([1, 2, 3]),
            created: CacheInstant(microseconds: 0)
        )
        try await tier.write([record])
        _ = try await tier.read([1])
        _ = try await tier.read([2])
        await #expect(throws: CacheError.self) { try await tier.flush() }
        let seen = calls.all
        #expect(seen.map(\.operation) == [.write, .read, .read, .flush])
        #expect(seen.map(\.byteCount) == [3, 3, 0, 0])
        #expect(seen.map(\.recordCount) == [1, 1, 0, 0])
        #expect(seen.map(\.failure) == [nil, nil, nil, .diskFull])
    }
}
