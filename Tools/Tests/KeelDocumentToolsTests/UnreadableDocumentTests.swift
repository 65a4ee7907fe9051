import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@Suite("Unreadable documents do not prevent export and copy of others")
struct UnreadableDocumentTests {
    private static let damaged: Set<DocumentPath> = ["c/0", "c/3", "c/4", "c/5", "c/9"]
    private static let sound = ["1", "2", "6", "7", "8"]

    private func fill(_ adapter: any StorageAdapter) async throws {
        let client = StorageClient(adapter)
        for number in 0..<10 {
            let path: DocumentPath = "c/\(number)"
            try await client.setDocument(path, ["text": .string("marker-\(number)")])
            try await client.setDocument("c/\(number)/below/x", ["n": 1])
        }
    }

    @Test(
        "An export writes all other documents and names each unreadable one, for any page size",
        arguments: 1...11
    )
    func exports(size: Int) async throws {
        let scratch = try Scratch()
        let store = InMemoryStorageAdapter()
        try await fill(store)
        let export = DocumentExport(
            from: DamagedAdapter(store, Self.damaged),
            .collection("c"),
            as: ExportLine(isPlain: true),
            pageSize: size
        )
        let expected = Self.sound.map { #"{"text":"marker-\#($0)"}"# }
        let toFile = try await export.run(to: scratch.file("out"))
        var lines: [String] = []
        let toOutput = try await export.run { lines.append(String(decoding: $0, as: UTF8.self)) }
        let written = try scratch.file("out").text.split(separator: "\n").map(String.init)
        #expect(written == expected)
        #expect(lines == expected)
        for report in [toFile, toOutput] {
            #expect(report.documents == 5)
            #expect(report.consistency == .snapshot)
            #expect(Set(report.unreadable.keys) == Self.damaged)
            let message = report.unreadable["c/0"]?.error.message
            #expect(message == "the key does not fit")
        }
    }

    @Test("A document damaged or repaired during an export is written in its last readable state")
    func changesMeanwhile() async throws {
        let scratch = try Scratch()
        let store = InMemoryStorageAdapter()
        let client = StorageClient(store)
        for id in ["a", "b", "c"] { try await client.setDocument("c/\(id)", ["v": 1]) }
        let damaged = DamagedAdapter(store, ["c/a", "c/c"])
        let meddling = MeddlingAdapter(damaged, afterReads: 3) {
            for id in ["a", "b"] { try await client.setDocument("c/\(id)", ["v": 2]) }
            damaged.damage(["c/b", "c/c"])
        }
        let report = try await DocumentExport(
            from: meddling,
            .collection("c"),
            as: ExportLine(isPlain: true, idField: "id")
        ).run(to: scratch.file("out"))
        let text = try scratch.file("out").text
        #expect(text == #"{"v":2,"id":"a"}"# + "\n" + #"{"v":1,"id":"b"}"# + "\n")
        #expect(report.documents == 2)
        #expect(Set(report.unreadable.keys) == ["c/b", "c/c"])
    }

    @Test(
        "A copy contains all other documents, names each unreadable one, and compares the others",
        arguments: [true, false],
        [1, 2, 3, 500]
    )
    func copies(hasLog: Bool, size: Int) async throws {
        let scratch = try Scratch()
        let store = InMemoryStorageAdapter()
        try await fill(store)
        // One whose bytes are no document, beside those that the store says it cannot read.
        let broken = DocumentWrite("c/8", .set(DocumentBody(bytes: [0xa1, 0x61, 0x6e])))
        _ = try await store.commit([WriteBatch([broken])])
        let source = DamagedAdapter(store, Self.damaged, without: hasLog ? [] : [.changeLog])
        let target = InMemoryStorageAdapter()
        try await StorageClient(target).setDocument("c/3", ["v": "older"])
        let report = try await DocumentCopy(from: source, to: target, pageSize: size)
            .run(from: CopyCheckpoint(subject: ""), checkpoint: scratch.file("check"))
        let expected = Self.damaged.map(\.string) + ["c/8"]
        #expect(Set(report.unreadable.keys) == Set(expected))
        #expect(report.unreadable["c/0"] == "the key does not fit")
        #expect(report.unreadable["c/8"]?.isEmpty == false)
        #expect(!report.isVerified)
        #expect(report.comparisons.map(\.isSame) == [true, true])
        #expect(report.comparisons.map(\.source.count) == [10, 4])
        let ids = try await target.all("c").map(\.id)
        #expect(ids == ["1", "2", "3", "6", "7"])
        let older = try await StorageClient(target).getDocument("c/3")
        #expect(older["v"] == "older")
    }
}

#if os(Linux) || os(macOS)
@Suite("The command keel documents and a damaged file", .timeLimit(.minutes(30)))
struct DamagedFileTests {
    /// A file with five documents, of which two have bodies that are no text where text should be.
    private func damagedFile(in scratch: Scratch) async throws -> String {
        let file = scratch.file("s.sqlite")
        let adapter = try SQLiteStorageAdapter.opened(at: file.path, for: .creating)
        for number in 0..<5 {
            try await StorageClient(adapter)
                .setDocument("c/\(number)", ["text": .string("marker-\(number)")])
        }
        try adapter.close()
        var bytes = try Data(contentsOf: file)
        for number in [1, 4] {
            let marker = Data("marker-\(number)".utf8)
            var count = 0
            while let range = bytes.range(of: marker) {
                bytes.replaceSubrange(range.lowerBound..<range.lowerBound + 2, with: [0xc3, 0x28])
                count += 1
            }
            try #require(count > 0)
        }
        try bytes.write(to: file)
        return file.path
    }

    private func run(_ arguments: String...) throws -> (code: Int32, output: String, errors: String)
    {
        let result = try KeelProcess(["documents"] + arguments).wait()
        return (result.code, result.output, result.errors)
    }

    @Test("export names the damaged documents, exits with 2 and writes all others")
    func exports() async throws {
        let scratch = try Scratch()
        let store = try await damagedFile(in: scratch)
        let lines = [0, 2, 3].map { "{\"text\":\"marker-\($0)\"}\n" }.joined()
        let shown = try run("export", "c", "--plain", "--storage", store)
        #expect(shown.code == ToolExit.findings.rawValue)
        #expect(shown.output == lines)
        for path in ["c/1", "c/4"] {
            #expect(shown.errors.contains("keel: \(path): "), "\(shown.errors)")
        }
        let file = scratch.file("out")
        let written = try run(
            "export",
            "c",
            "--group",
            "--plain",
            "--storage",
            store,
            "--output",
            file.path,
            "--json"
        )
        #expect(written.code == ToolExit.findings.rawValue)
        let text = try file.text
        #expect(text == lines)
        #expect(written.output.contains(#""documents":3,"unreadable":[{"path":"c/1","reason":""#))
        #expect(written.output.contains(#"{"path":"c/4","reason":""#))
        #expect(written.errors.contains(#"{"about":"c/1","advice":"#))
        #expect(written.errors.contains(#""code":"corrupted""#))
    }

    @Test("query and copy do the same, and delete accepts a damaged document")
    func others() async throws {
        let scratch = try Scratch()
        let store = try await damagedFile(in: scratch)
        let other = scratch.file("t.sqlite").path
        for options in [["--plain"], []] {
            let found = try KeelProcess(["documents", "query", "c", "--storage", store] + options)
                .wait()
            #expect(found.code == ToolExit.findings.rawValue)
            #expect(found.output.contains("marker-3") && !found.output.contains("c/1"))
            #expect(found.errors.contains("keel: c/4: "))
        }
        let copy = try run("copy", store, other, "--json")
        #expect(copy.code == ToolExit.findings.rawValue)
        #expect(copy.output.contains(#""copied":3"#))
        #expect(copy.output.contains(#"{"path":"c/1","reason":""#))
        let copied = try run("query", "c", "--plain", "--storage", other)
        #expect(copied.code == ToolExit.done.rawValue)
        #expect(copied.output.split(separator: "\n").count == 3)
        let deleted = try run("delete", "c/1", "--storage", store)
        #expect(deleted.output == "1 document deleted\n")
        let rest = try run("delete", "c", "--yes", "--storage", store)
        #expect(rest.output == "4 documents deleted\n")
    }
}
#endif
