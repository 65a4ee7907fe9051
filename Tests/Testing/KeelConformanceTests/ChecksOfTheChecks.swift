import KeelConformance
import KeelStorage
import Testing

@Suite("Checks of the checks")
struct ChecksOfTheChecks {
    /// Runs the checks in order until one has recorded an issue.
    @Test(arguments: BrokenStorageAdapter.Fault.allCases)
    func notices(_ fault: BrokenStorageAdapter.Fault) async throws {
        var caught: [String] = []
        for group in Self.groups(for: fault) {
            for check in StorageAdapterCheck.all(in: group) where check.concernsOnlyWithout.isEmpty
            {
                let isCaught = try await recordsIssue {
                    try await check.run(on: BrokenStorageAdapter(fault))
                }
                if isCaught { caught.append(check.testDescription) }
            }
        }
        #expect(!caught.isEmpty, "no check noticed an adapter that \(fault.rawValue)")
    }

    /// The groups that must notice a fault, so that a check fails for its own promise and not by accident.
    private static func groups(for fault: BrokenStorageAdapter.Fault) -> [StorageAdapterCheck.Group]
    {
        switch fault {
        case .losesLastWriteOfBatch, .splitsBatches, .stopsAfterFailedBatch: [.batches]
        case .appliesTwice: [.transforms]
        case .ignoresConditions: [.conditions]
        case .forgetsBatchIDs: [.idempotency]
        case .ignoresReads, .ignoresQueryReads, .readsWithoutChecking: [.transactions]
        case .turnsResultsRound, .ignoresDirections: [.orders]
        case .ignoresLimits, .ignoresOffsets: [.limits]
        case .ignoresProjections: [.projections]
        case .takesEveryCursorInclusively: [.cursors]
        case .ignoresAncestors: [.collectionGroups]
        case .missesDeepDocuments: [.everything]
        case .ignoresStrictness, .ordersByCutValues: [.indexes]
        case .makesDoublesIntegers, .normalizesStrings: [.values]
        case .givesNoPosition, .saysCaughtUpAlways, .doesNotWait, .ignoresScope, .skipsLastChange,
            .deliversFirstStates, .missesQueriesOfScopes, .forgetsOrigins, .acknowledgesNothing,
            .tellsNoTimes, .turnsTimeBack, .forgetsRemovals, .tellsNoRemovalTimes,
            .losesRemovalTimes:
            [.changes]
        case .takesForeignCursors: [.results]
        case .tellsCommitTimes: [.documents]
        case .normalizesIDs: [.paths]
        case .countsEverything: [.aggregates]
        case .turnsNamesRound: [.collections]
        case .drawsNewTimes: [.replication]
        case .ignoresThePast: [.pointInTime]
        }
    }

    @Test(
        "The differential fuzz detects broken adapters",
        arguments: [
            BrokenStorageAdapter.Fault.losesLastWriteOfBatch, .splitsBatches, .ignoresConditions,
            .forgetsBatchIDs, .ignoresReads, .ignoresQueryReads, .turnsResultsRound,
            .ignoresLimits, .ignoresOffsets, .ignoresProjections, .ignoresDirections,
            .takesEveryCursorInclusively, .ignoresAncestors, .makesDoublesIntegers,
            .normalizesStrings, .countsEverything, .deliversFirstStates, .turnsNamesRound,
            .ignoresThePast, .ordersByCutValues,
        ]
    )
    func fuzzNotices(_ fault: BrokenStorageAdapter.Fault) async throws {
        await withKnownIssue {
            _ = try await DifferentialFuzz(seed: 42, operations: 8_000)
                .run(
                    InMemoryStorageAdapter(history: .seconds(3600)),
                    against: BrokenStorageAdapter(fault)
                )
        }
    }

    @Test("Only checks for present or absent capabilities apply")
    func filtersByCapability() {
        let checks = StorageAdapterCheck.applicable(to: [.changeLog])
        #expect(checks.contains { $0.group == .changes })
        #expect(!checks.contains { $0.group == .transactions })
        #expect(checks.contains { $0.concernsOnlyWithout == .transactions })
        #expect(!checks.contains { $0.concernsOnlyWithout == .changeLog })
    }
}
