import HTTPTypes
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import Testing

@Suite("Methods over all document names, with more names than are held at once")
struct NamePassTests {
    private static let root = Served.name("").count

    private static func filled(history: Duration? = nil) async throws -> InMemoryStorageAdapter {
        let store = InMemoryStorageAdapter(history: history)
        for number in 0..<120 {
            let path = DocumentPath("a/\(100 + number % 40)/b\(number % 3)/\(number)")
            let batch = WriteBatch([DocumentWrite(path, .set(DocumentBody(["n": 1])))])
            for result in try await store.commit([batch]) { _ = try result.get() }
        }
        for number in stride(from: 0, to: 40, by: 5) {
            let path = DocumentPath("a/\(100 + number)")
            let batch = WriteBatch([DocumentWrite(path, .set(DocumentBody(["n": 1])))])
            for result in try await store.commit([batch]) { _ = try result.get() }
        }
        // A read of the past also finds the names of deleted documents.
        for number in stride(from: 0, to: 120, by: 7) {
            let path = DocumentPath("a/\(100 + number % 40)/b\(number % 3)/\(number)")
            let batch = WriteBatch([DocumentWrite(path, .delete)])
            for result in try await store.commit([batch]) { _ = try result.get() }
        }
        return store
    }

    @Test(
        "A query over all collections returns the same documents",
        arguments: [nil, Duration.seconds(60)],
        [
            "", #","offset":3,"limit":20"#, #","limit":5"#, #","limit":0"#, #","offset":200"#,
            #","orderBy":[{"field":{"fieldPath":"__name__"},"direction":2}]"#,
            #","orderBy":[{"field":{"fieldPath":"__name__"},"direction":2}],"limit":30"#,
        ]
    )
    func trees(history: Duration?, clauses: String) async throws {
        let store = try await Self.filled(history: history)
        let body = #"{"structuredQuery":{"from":[{"allDescendants":true}]\#(clauses)}}"#
        var answers: [[String]] = []
        for served in [Served(store), Served(store) { $0.mostNames = 7 }] {
            let answer = try await served.send(.post, ":runQuery", body)
            #expect(answer.status == 200)
            answers.append(
                (answer.json.elements ?? []).compactMap { element in
                    element["document"]?["name"]?.text.map { String($0.dropFirst(Self.root)) }
                }
            )
        }
        #expect(answers[0] == answers[1])
        #expect(answers[0].isEmpty == (clauses.contains(":0") || clauses.contains("200")))
    }

    @Test(
        "A listing with missing documents returns the same documents",
        arguments: ["", "&orderBy=__name__ desc"]
    )
    func missing(order: String) async throws {
        let store = try await Self.filled()
        var listings: [[String]] = []
        for served in [Served(store), Served(store) { $0.mostNames = 7 }] {
            var names: [String] = []
            var token = ""
            repeat {
                let place = "/a?showMissing=true&pageSize=9&pageToken=\(token)\(order)"
                let answer = try await served.send(.get, place.replacing(" ", with: "%20"))
                names += (answer.json["documents"]?.elements ?? []).compactMap { $0["name"]?.text }
                token = answer.json["nextPageToken"]?.text ?? ""
            } while !token.isEmpty && names.count < 100
            listings.append(names.map { String($0.dropFirst(Self.root)) })
        }
        let all = (100..<140).map { "a/\($0)" }
        #expect(listings[0] == (order.isEmpty ? all : all.reversed()))
        #expect(listings[0] == listings[1])
    }

    @Test("A large group is partitioned deterministically by a sample of its names")
    func partitions() async throws {
        let served = Served { $0.mostNames = 400 }
        let writes = (0..<3_000).map { number in
            DocumentWrite(DocumentPath("a/\(10_000 + number)"), .set(DocumentBody(["n": 1])))
        }
        for start in stride(from: 0, to: 3_000, by: 500) {
            let batch = WriteBatch(Array(writes[start..<start + 500]))
            for result in try await served.adapter.commit([batch]) { _ = try result.get() }
        }
        let body = #"""
            {"structuredQuery":{"from":[{"collectionId":"a","allDescendants":true}]},
             "partitionCount":9}
            """#
        var answers: [[Int]] = []
        for _ in 0..<2 {
            let answer = try await served.send(.post, ":partitionQuery", body)
            answers.append(
                (answer.json["partitions"]?.elements ?? []).compactMap { cursor in
                    let name = cursor["values"]?.elements?.first?["referenceValue"]?.text
                    return name.flatMap { Int($0.suffix(5)) }
                }
            )
        }
        #expect(answers[0] == answers[1])
        let points = [10_000] + answers[0] + [13_000]
        #expect(points.count == 11)
        for (start, end) in zip(points, points.dropFirst()) {
            #expect((100...600).contains(end - start), "\(points)")
        }
    }
}
