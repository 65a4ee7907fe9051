import Foundation
import KeelStorage
import KeelStorageFirestore
import Testing

/// Google's own vectors: API calls with the expected requests of Firestore's protocol.
///
/// They are published at googleapis/conformance-tests and are read from outside the repository.
@Suite("Firestore's conformance vectors")
struct FirestoreConformanceTests {
    private static let isPresent = !FirestoreVector.all.isEmpty
    private static let absence: Comment =
        "there are no vectors in \(FirestoreVector.folder.path); KEEL_CONFORMANCE names a folder"

    /// The vectors that Keel's types cannot express, and those that Keel answers differently.
    ///
    /// Each names its reason. A vector that begins to pass must leave the table, or the test fails.
    private static let exceptions: [String: String] = [
        "update-exists-false-precond":
            "Keel lets an update create a document, as the protocol does",
        "update-paths-exists-false-precond":
            "Keel lets an update create a document, as the protocol does",
        "query-bad-NaN": takenByService, "query-bad-null": takenByService,
        "query-cursor-endbefore-empty": takenByService,
        "query-cursor-startat-empty": takenByService,
    ]

    private static let takenByService =
        "Google's clients refuse what its service takes; Keel takes it, with the service's meaning"

    private static func reason(for vector: FirestoreVector) -> String? { exceptions[vector.file] }

    private static let expected = FirestoreVector.all.filter {
        reason(for: $0) == nil && $0.call != "listen"
    }

    @Test(
        "A call results in the expected request or error",
        .enabled(if: isPresent, absence),
        arguments: expected
    )
    func leadsToRequest(_ vector: FirestoreVector) async throws { try await check(vector) }

    @Test(
        "Messages of a server result in the expected snapshots",
        .enabled(if: isPresent, absence),
        arguments: FirestoreVector.all.filter { $0.call == "listen" }
    )
    func leadsToSnapshots(_ vector: FirestoreVector) throws { try ListenVector(vector).check() }

    @Test(
        "A known exception still fails",
        .enabled(if: isPresent, absence),
        arguments: FirestoreVector.all.filter { exceptions[$0.file] != nil }
    )
    func isStillAnException(_ vector: FirestoreVector) async throws {
        await withKnownIssue("\(Self.reason(for: vector) ?? "")") { try await check(vector) }
    }

    @Test("Every vector is classified", .enabled(if: isPresent, absence))
    func isClassified() async {
        var counts: [String: Int] = [:]
        for vector in FirestoreVector.all {
            let kind: String
            if Self.reason(for: vector) != nil {
                kind = "exception"
            } else if vector.call == "listen" {
                kind = vector.isError ? "error as expected" : "snapshots as expected"
            } else {
                do {
                    try await FirestoreCall(vector: vector).run(
                        on: StorageClient(RecordingAdapter())
                    )
                    kind = "request as expected"
                } catch is Inexpressible {
                    kind =
                        vector.isError ? "mistake that types rule out" : "two writes instead of one"
                } catch {
                    kind = "error as expected"
                }
            }
            counts[kind, default: 0] += 1
        }
        let text = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        print("Firestore vectors: \(FirestoreVector.all.count) = \(text.joined(separator: ", "))")
        #expect(!FirestoreVector.all.contains { $0.call == "unreadable" })
    }

    private func check(_ vector: FirestoreVector) async throws {
        let adapter = RecordingAdapter()
        do {
            try await FirestoreCall(vector: vector).run(on: StorageClient(adapter))
        } catch let error as StorageError {
            #expect(vector.isError, "\(error)")
            #expect(error.code == .invalidArgument)
            #expect(adapter.batches.isEmpty && adapter.reads.isEmpty)
            return
        } catch let reason as Inexpressible {
            let isKnown = vector.isError || Self.inexpressible[vector.file] == reason
            #expect(isKnown, "\(reason.rawValue)")
            return
        }
        #expect(!vector.isError, "the call had to be refused")
        let coding = FirestoreEncoding(database: "projects/projectID/databases/(default)")
        if let batch = adapter.batches.first {
            let request = try coding.commit(batch.writes)
            #expect(request.canonical == vector.content["request"]?.canonical)
        } else if case .query(let query)? = adapter.reads.first {
            #expect(try coding.query(query).canonical == vector.content["query"]?.canonical)
        } else if case .documents(let paths)? = adapter.reads.first {
            let name = vector.content["request"]?["name"]
            #expect(paths.map { .string(coding.name(of: $0)) } == [name])
        } else {
            Issue.record("nothing reached the adapter")
        }
    }

    /// The vectors whose single write Keel makes in two writes.
    private static let inexpressible: [String: Inexpressible] = [
        "set-st-merge-nonleaf": .mapWithTransformInside,
        "set-st-merge-nonleaf-alone": .mapWithTransformInside,
        "update-arrayremove-multi": .mapWithTransformInside,
        "update-arrayremove-nested": .mapWithTransformInside,
        "update-arrayunion-multi": .mapWithTransformInside,
        "update-arrayunion-nested": .mapWithTransformInside,
        "update-paths-st-multi": .mapWithTransformInside,
        "update-paths-st-with-empty-map": .mapWithTransformInside,
        "update-st-multi": .mapWithTransformInside,
        "update-st-nested": .mapWithTransformInside,
    ]
}

extension FirestoreJSON {
    /// A canonical form that is equal for equal messages: empty members are omitted, and masks and objects are sets.
    fileprivate var canonical: FirestoreJSON {
        switch self {
        case .array(let values): return .array(values.map(\.canonical))
        case .object(let members):
            let kept = members.compactMap { member -> Member? in
                let value = member.value.canonical
                let isList = ["fields", "fieldPaths"].contains(member.name)
                if isList, value == [] || value == [:] { return nil }
                guard member.name == "fieldPaths", let paths = value.elements else {
                    return Member(member.name, value)
                }
                return Member(member.name, .array(paths.sorted { "\($0)" < "\($1)" }))
            }
            return .object(kept.sorted { $0.name < $1.name })
        case .integer(let number): return .number(Double(number))
        default: return self
        }
    }
}
