#if os(Linux) || os(macOS)
import KeelConformance
import KeelStorageFirestore
import KeelTestSupport
import Testing

@Suite("Differences of Google\u{2019}s emulator")
struct EmulatorDifferenceTests {
    @Test("Each has a source, or is listed as one of which nothing is public")
    func sources() {
        let all = EmulatorDifferences.lasting.merging(EmulatorDifferences.occasional) { one, _ in
            one
        }
        #expect(
            all.count == EmulatorDifferences.lasting.count + EmulatorDifferences.occasional.count
        )
        for (promise, difference) in all where difference.origin != .unknown {
            #expect(difference.source.hasPrefix("https://"), "\(promise)")
        }
        let unknown = all.filter { $0.value.origin == .unknown }.keys.sorted()
        #expect(
            unknown == [
                "batches: a closure’s writes take effect together and in order",
                "batches: a document cannot be created twice in one batch",
                "batches: a rejected batch does not change revisions and times",
                "everything: a query over everything sums a field of the documents that have it, up to its limit",
            ]
        )
    }

    @Test("So does each random operation that is left out")
    func omissions() {
        let omissions = EmulatorDifferences.omissions
        for (omission, difference) in omissions where difference.origin != .unknown {
            #expect(difference.source.hasPrefix("https://"), "\(omission)")
        }
        let unknown: Set<DifferentialFuzz.Omission> = [
            .verifications, .repeatedWrites, .treesInTransactions, .idsWithFields,
            .emptyAlternatives,
        ]
        #expect(Set(omissions.filter { $0.value.origin == .unknown }.keys) == unknown)
        #expect(Set(omissions.keys) == Set(DifferentialFuzz.Omission.allCases))
    }

    @Test("Each is of a check that the adapter runs against Google\u{2019}s service")
    func names() {
        let capabilities = FirestoreStorageAdapter.Configuration.allGoogleCapabilities
        let checks = Set(StorageAdapterCheck.applicable(to: capabilities).map(\.testDescription))
        for promise in EmulatorDifferences.lasting.keys { #expect(checks.contains(promise)) }
        for promise in EmulatorDifferences.occasional.keys { #expect(checks.contains(promise)) }
    }
}
#endif
