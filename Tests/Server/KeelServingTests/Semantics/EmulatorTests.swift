#if os(Linux) || os(macOS)
import KeelTestSupport
import Testing

/// The rows of `SemanticsTests` against Google's emulator, an independent oracle.
@Suite(
    "Semantics of Firestore\u{2019}s operations in Google\u{2019}s emulator",
    .timeLimit(.minutes(15))
)
struct EmulatorTests {
    /// The rows in which the emulator of 2025 (528.0.0) differs from Google's service, with reasons and sources.
    ///
    /// Remove a row from the table when it passes.
    private static let departures: [String: EmulatorDifference] = [
        "aggregation/six-refused": .emulators(
            "answers UNKNOWN where the service answers INVALID_ARGUMENT",
            GoogleSource.webTest("aggregation.test.ts")
        ),
        "find-nearest/nested-vector": .emulators(
            "finds no vectors below a map",
            GoogleSource.nodeTest
        ),
        "limit/trace-skipped-is-told": .emulators(
            "counts the documents before a cursor as skipped",
            GoogleSource.recording("FirestoreV1QueryTest_runQuery_offsetWithFilter")
        ),
        "limits/index-entries-above-40000": .emulators(
            "has no limit of index entries",
            GoogleSource.quotas
        ),
        "partition/count-must-be-positive": partitions,
        "partition/no-filters": partitions,
        "partition/no-limit": partitions,
        "partition/not-below-a-document": partitions,
        "partition/only-by-ascending-name": partitions,
        "partition/only-groups": partitions,
        "read-time/deleted-at-a-time": readTimes,
        "read-time/get-at-a-time": readTimes,
        "read-time/time-too-old": .emulators(
            "keeps all of the past",
            GoogleSource.javaTest("ITSystemTest.java")
        ),
        "read/batch-get-of-other-database": .emulators(
            "reads documents of any database",
            GoogleSource.proto("firestore.proto")
        ),
        "transaction/optimistic-conflict": concurrencyModes,
        "transaction/optimistic-conflict-on-missing": concurrencyModes,
        "transaction/optimistic-without-conflict": concurrencyModes,
    ]

    private static let partitions = EmulatorDifference.emulators(
        "does not implement partitionQuery over REST",
        GoogleSource.proto("firestore.proto")
    )
    private static let readTimes = EmulatorDifference.emulators(
        "does not read a readTime in the query of a GET",
        GoogleSource.proto("firestore.proto")
    )
    private static let concurrencyModes = EmulatorDifference.emulators(
        "does not know concurrencyMode",
        GoogleSource.contention
    )

    @Test(
        "Google\u{2019}s emulator returns the responses that the rows require",
        .enabled(if: SemanticsRow.isPresent, SemanticsTests.absence),
        .enabled(if: FirestoreEmulator.isInstalled, "\(FirestoreEmulator.absence)")
    )
    func agrees() async throws {
        let emulator = try await EmulatorConnection()
        let agreeing = await withTaskGroup(of: Bool.self) { group in
            // A few at a time, because the emulator uses all cores.
            var agreeing = 0
            for (number, row) in SemanticsRow.all.enumerated() {
                if number >= 4, await group.next() == true { agreeing += 1 }
                let database = "projects/p\(number)/databases/(default)"
                group.addTask { await check(row, database, emulator) }
            }
            for await agrees in group where agrees { agreeing += 1 }
            return agreeing
        }
        await emulator.stop()
        #expect(agreeing == SemanticsRow.all.count - Self.departures.count)
    }

    /// Returns whether the emulator gives the expected answer to a row.
    private func check(
        _ row: SemanticsRow,
        _ database: String,
        _ emulator: EmulatorConnection
    ) async -> Bool {
        var run = SemanticsRun(row, database: database) { try await emulator.send($0, $1, $2) }
        let reason = Self.departures[row.id]?.reason
        do {
            try await run.run()
            #expect(reason == nil, "\(row.id): passes, and is listed as one that does not")
            return true
        } catch {
            if reason == nil { Issue.record("\(row.id): \(error)") }
            return false
        }
    }
}
#endif
