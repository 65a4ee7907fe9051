#if os(Linux) || os(macOS)
import KeelTestSupport
import Testing

/// The rows of `SemanticsTests` against Google's emulator, an independent oracle.
@Suite(
    "Semantics of Firestore\u{2019}s operations in Google\u{2019}s emulator",
    .timeLimit(.minutes(15))
)
struct EmulatorTests {
    /// The rows in which the emulator of 2025 (528.0.0) differs from Google's service, with reasons.
    ///
    /// Remove a row from the table when it passes.
    private static let departures: [String: String] = [
        "aggregation/six-refused": "answers UNKNOWN where the service answers INVALID_ARGUMENT",
        "find-nearest/nested-vector": "finds no vectors below a map",
        "limit/trace-skipped-is-told": "counts the documents before a cursor as skipped",
        "limits/index-entries-above-40000": "has no limit of index entries",
        "partition/count-must-be-positive": partitions,
        "partition/no-filters": partitions,
        "partition/no-limit": partitions,
        "partition/not-below-a-document": partitions,
        "partition/only-by-ascending-name": partitions,
        "partition/only-groups": partitions,
        "read-time/deleted-at-a-time": readTimes,
        "read-time/get-at-a-time": readTimes,
        "read-time/time-too-old": "keeps all of the past",
        "read/batch-get-of-other-database": "reads documents of any database",
        "transaction/optimistic-conflict": concurrencyModes,
        "transaction/optimistic-conflict-on-missing": concurrencyModes,
        "transaction/optimistic-without-conflict": concurrencyModes,
    ]

    private static let partitions = "does not implement partitionQuery over REST"
    private static let readTimes = "does not read a readTime in the query of a GET"
    private static let concurrencyModes = "does not know concurrencyMode"

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
        let reason = Self.departures[row.id]
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
