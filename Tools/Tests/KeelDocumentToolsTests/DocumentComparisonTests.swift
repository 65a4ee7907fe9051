import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStorageSQLite
import KeelTestKit
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@Suite("The comparison of two stores")
struct DocumentComparisonTests {
    private func differences(
        _ first: any StorageAdapter,
        _ second: any StorageAdapter,
        _ scopes: [DocumentScope] = []
    ) async throws -> (found: [DocumentDifference], report: ComparisonReport) {
        var found: [DocumentDifference] = []
        let comparison = DocumentComparison(first, second, scopes: scopes, pageSize: 3)
        let report = try await comparison.run { found.append($0) }
        return (found, report)
    }

    @Test("Stores with the same documents are the same, whatever their times")
    func same() async throws {
        let (first, second) = (InMemoryStorageAdapter(), InMemoryStorageAdapter())
        try await Samples.fill(first, count: 10)
        try await Samples.fill(second, count: 10)
        let (found, report) = try await differences(first, second)
        #expect(found.isEmpty && report.isSame)
        #expect(report.same == 22)
    }

    @Test("Documents of one store only and fields that differ are named")
    func different() async throws {
        let (first, second) = (InMemoryStorageAdapter(), InMemoryStorageAdapter())
        let (one, other) = (StorageClient(first), StorageClient(second))
        for number in 0..<10 {
            try await one.setDocument("c/\(number)", ["n": .integer(Int64(number))])
            try await other.setDocument("c/\(number)", ["n": .integer(Int64(number))])
        }
        try await one.deleteDocument("c/0")
        try await other.deleteDocument("c/9")
        let fields: DocumentFields = ["n": 4, "map": ["a": 1, "b": ["c": 1]], "x": .double(.nan)]
        try await one.setDocument("c/4", fields)
        try await other.setDocument("c/4", ["n": .double(4), "map": ["a": 1, "b": 2], "y": 0])
        // Below a document that does not exist, and in one store only.
        try await one.setDocument("missing/x/deep/1", ["a": 1])
        try await other.setDocument("only/1", ["a": 1])
        let (found, report) = try await differences(first, second)
        #expect(
            found == [
                .onlyInSecond("c/0"),
                .fields("c/4", ["map.b", "n", "x", "y"]),
                .onlyInFirst("c/9"), .onlyInFirst("missing/x/deep/1"), .onlyInSecond("only/1"),
            ]
        )
        #expect(report.same == 7 && report.different == 1)
        #expect(report.onlyInFirst == 2 && report.onlyInSecond == 2 && !report.isSame)
        let (named, _) = try await differences(first, second, [.collection("only")])
        #expect(named == [.onlyInSecond("only/1")])
        let (grouped, _) = try await differences(first, second, [.group("deep")])
        #expect(grouped == [.onlyInFirst("missing/x/deep/1")])
    }

    #if os(Linux) || os(macOS)
    @Test("The exit code is 0 for the same, 1 for different, and 2 for a failure")
    func command() async throws {
        let scratch = try Scratch()
        let (a, b) = (scratch.file("a.sqlite").path, scratch.file("b.sqlite").path)
        for path in [a, b] {
            let adapter = try SQLiteStorageAdapter.opened(at: path, for: .creating)
            try await Samples.fill(adapter)
            try adapter.close()
        }
        let same = try KeelProcess(["documents", "diff", a, b]).wait()
        #expect(same.code == 0)
        #expect(same.output == "12 documents, the same in both\n")
        let adapter = try SQLiteStorageAdapter.opened(at: b, for: .changing)
        try await StorageClient(adapter).setDocument("c/d1", ["number": 2])
        try await StorageClient(adapter).deleteDocument("c/d2/below/x")
        try adapter.close()
        let different = try KeelProcess(["documents", "diff", a, b]).wait()
        #expect(different.code == 1)
        #expect(
            different.output == """
                only in sqlite:\(a)  c/d2/below/x
                different  c/d1: number
                10 documents are the same, 1 differs, 1 is only in sqlite:\(a), 0 only in sqlite:\(b)

                """
        )
        let json = try KeelProcess(["documents", "diff", a, b, "c", "--json"]).wait()
        #expect(json.code == 1)
        #expect(
            json.output == """
                {"difference":"fields","fields":["number"],"path":"c/d1"}
                {"different":1,"onlyInFirst":0,"onlyInSecond":0,"same":5,"unreadable":0}

                """
        )
        let failed = try KeelProcess(["documents", "diff", a, scratch.file("x").path]).wait()
        #expect(failed.code == 2)
        #expect(failed.errors.contains("there is no store at"))
    }
    #endif
}
