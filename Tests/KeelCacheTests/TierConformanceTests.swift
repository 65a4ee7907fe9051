import KeelCache
import KeelConformance
import KeelTestKit
import Testing

@Suite("Tiers keep their promises")
struct TierConformanceTests {
    static let memory = CacheTierSubject(features: .byteLimit) { setting in
        InMemoryCacheTier(byteLimit: setting.byteLimit ?? 64 << 20, clock: setting.clock)
    }

    @Test(arguments: CacheTierCheck.applicable(to: memory.features))
    func inMemory(_ check: CacheTierCheck) async throws {
        try await check.run(on: Self.memory)
    }

    @Test("There are at least 40 checks, and no two make one promise")
    func counts() {
        let promises = CacheTierCheck.all.map(\.testDescription)
        #expect(promises.count >= 40)
        #expect(Set(promises).count == promises.count)
    }
}
