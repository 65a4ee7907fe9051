#if os(Linux) || os(macOS)
import KeelConformance
import KeelTestSupport

/// What Google's emulator does in another way than the checks of adapters expect.
enum EmulatorDifferences {
    /// The promises that the emulator of 2025 (528.0.0) does not keep.
    ///
    /// Remove a promise from the table when it passes.
    static let lasting: [String: EmulatorDifference] = [
        "batches: a closure’s writes take effect together and in order": verifications,
        "batches: a document cannot be created twice in one batch": sequences,
        "batches: a rejected batch does not change revisions and times": sequences,
        "collectionGroups: a group orders by path in descending order": descendingIDs,
        "cursors: a descending order by id ends before an id": descendingIDs,
        "documents: a zero’s sign is part of the document: 0.0 to -0.0 is a change": zeros,
        "errors: a rejected batch’s error names the document that caused it": .emulators(
            "the errors of batches name no document",
            GoogleSource.thread("gravitational/teleport/issues/67045")
        ),
        "everything: a query over everything accepts missing documents as bounds": everything,
        "everything: a query over everything below a document orders by path in descending order":
            everything,
        "everything: a query over everything below a document respects limit(toLast:)": everything,
        "everything: a query over everything sums a field of the documents that have it, up to its limit":
            .unknown(
                "aggregates fields of a query over everything only with an index that cannot exist",
                because:
                    "a recording shows an order by a field of such a query refused, and none a sum"
            ),
        "orders: an order by id can be specified and reversed": descendingIDs,
        "pointInTime: a past state from before the history is rejected": .emulators(
            "keeps all of the past",
            GoogleSource.javaTest("ITSystemTest.java")
        ),
        "transforms: maximum keeps the stored zero among zeros": .emulators(
            "the sign of a zero is lost over REST",
            GoogleSource.proto("write.proto")
        ),
        "values: a document of exactly 1 MiB is accepted": sizes,
        "values: a transform that makes a document too large is rejected entirely": sizes,
        "values: a vector of special doubles is preserved exactly in a field, an array and a map":
            zeros,
        "values: an update that makes a document too large is rejected entirely": sizes,
        "values: the double -0.0 is preserved exactly in a field, an array and a map": zeros,
        "values: the earliest time is preserved exactly in a field, an array and a map": times,
        "values: the latest time is preserved exactly in a field, an array and a map": times,
    ]

    /// The promises that the emulator does not keep in every run.
    ///
    /// Intermittent, because only the timing of the requests decides whether a run meets the flaw.
    static let occasional: [String: EmulatorDifference] = [
        "concurrency: readers see only complete batches": moments,
        "listeners: only complete batches are shown while every second call fails (polling)":
            moments,
        "results: only complete batches are in a followed result": moments,
        "transactions: bodies that read at once see only complete commits of many writers, with pointInTimeReads":
            moments,
        "transactions: bodies that read by a path and a query see only complete commits of many writers, with pointInTimeReads":
            moments,
        "transactions: bodies that read by a query and a path see only complete commits of many writers, with pointInTimeReads":
            moments,
        "transactions: bodies that read by paths see only complete commits of many writers, with pointInTimeReads":
            moments,
        "transactions: bodies that read by two queries see only complete commits of many writers, with pointInTimeReads":
            moments,
        "transactions: concurrent transactions on one document lose no updates": .emulators(
            "answers many writers of one document with “Transaction lock timeout”",
            GoogleSource.thread("firebase/firebase-tools/issues/6758")
        ),
        "transforms: serverTimestamp is the same throughout a batch": requestTimes,
        "transforms: serverTimestamp sets the time of the change, in milliseconds": requestTimes,
    ]

    /// The random operations that the emulator of 2025 (528.0.0) refuses, or whose zeros lose their sign.
    static let omissions: [DifferentialFuzz.Omission: EmulatorDifference] = [
        .negativeZeros: zeros,
        .verifications: verifications,
        .repeatedWrites: sequences,
        .descendingIDs: descendingIDs,
        .reversedTrees: everything,
        .treesInTransactions: .unknown(
            "refuses a query over everything below a document in a transaction",
            because: "no recording has such a query"
        ),
        // The recording has an order by a field.
        .groupsBelowDocuments: .services(
            "refuses queries of a collection group below a document",
            GoogleSource.recording(
                "FirestoreV1QueryValidationTest_runQuery_allDescendants_withAncestor_orderBy"
            )
        ),
        .idsWithFields: .unknown(
            "refuses some conditions on ids together with conditions on fields",
            because: "the recordings have a few of them, which the emulator answers as well"
        ),
        .emptyAlternatives: .unknown(
            "drops an alternative that matches nothing, with the field that it needs",
            because: "no recording has such an alternative"
        ),
    ]

    // Google's engineers let Terraform create the index that the service wants for such a query. Without it, the service
    // answers as in https://github.com/firebase/flutterfire/issues/4398.
    private static let descendingIDs = EmulatorDifference.emulators(
        "“Firestore does not support descending key scans”",
        GoogleSource.thread("GoogleCloudPlatform/magic-modules/pull/12121")
    )
    private static let everything = EmulatorDifference.services(
        "“kind is required for all orders except __key__ ascending”",
        GoogleSource.recording("FirestoreV1QueryTest_kindlessQuery_withOrderDesc_isRejected")
    )
    // Without Keel, 74 of 5,496 queries during commits that change two documents showed only one of the two changes.
    private static let moments = EmulatorDifference.emulators(
        "reads of several documents may see halves of a commit",
        GoogleSource.readsAndWrites
    )
    // The checks compare it with the time of the commit, which the service does not promise.
    private static let requestTimes = EmulatorDifference.services(
        "a server time is that of the request, before the commit’s",
        GoogleSource.proto("write.proto")
    )
    private static let sequences = EmulatorDifference.unknown(
        "“Cannot insert then insert an entity in the same request”",
        because: "the interface says that writes are executed in order; nothing shows two creations"
    )
    private static let sizes = EmulatorDifference.services(
        "counts the size of a document in another way than its body’s bytes",
        GoogleSource.storageSize
    )
    private static let times = EmulatorDifference.services(
        "times are those of the years 1 to 9999",
        "https://github.com/protocolbuffers/protobuf/blob/main/src/google/protobuf/timestamp.proto"
    )
    private static let verifications = EmulatorDifference.unknown(
        "“the same document cannot be written and then verified in a single request”",
        because: "the published interface has no verify; SDKs verify only what they do not write"
    )
    // A report of the SDK for the web against the service, whose messages are JSON, as over REST.
    private static let zeros = EmulatorDifference.emulators(
        "the sign of a zero is lost over REST",
        GoogleSource.thread("googleapis/nodejs-firestore/issues/1638")
    )
}
#endif
