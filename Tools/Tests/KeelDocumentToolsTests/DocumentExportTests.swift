import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStorageFirestore
import KeelStorageSQLite
import KeelTestKit
import KeelToolsTestSupport
import Testing

@Suite("Exporting documents")
struct DocumentExportTests {
    @Test("An exact import of an export exports the same bytes, whatever the documents contain")
    func roundTrip() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        try await Samples.fill(store)
        let (one, two) = (scratch.file("one"), scratch.file("two"))
        let report = try await DocumentExport(from: store, .collection("c"), pageSize: 2).run(
            to: one
        )
        #expect(report.documents == 6)
        #expect(report.consistency == .snapshot)
        let copy = InMemoryStorageAdapter()
        var settings = DocumentImport.Settings(file: one)
        settings.isExact = true
        let imported = try await DocumentImport(into: copy, settings).run()
        #expect(imported.bad == 0)
        _ = try await DocumentExport(from: copy, .collection("c")).run(to: two)
        let (first, second) = (try one.text, try two.text)
        #expect(first == second)
        #expect(first.split(separator: "\n").count == 6)
    }

    @Test("An export of a past time is unaffected by later writes")
    func past() async throws {
        let scratch = try Scratch()
        let store = InMemoryStorageAdapter(history: .seconds(3600))
        try await Samples.fill(store)
        let (then, now) = (scratch.file("then"), scratch.file("now"))
        let present = try await DocumentExport(from: store, .collection("c")).run(to: now)
        let time = try await StorageClient(store).currentTime()
        let documents = try await store.all("c")
        for document in documents.prefix(3) {
            try await StorageClient(store).deleteDocument(document.path)
        }
        try await StorageClient(store).setDocument("c/new", ["n": 1])
        let report = try await DocumentExport(
            from: store,
            .collection("c"),
            asOf: time,
            pageSize: 2
        ).run(to: then)
        #expect(report.documents == present.documents)
        #expect(report.consistency == .snapshot)
        let (before, after) = (try now.text, try then.text)
        #expect(before == after)
        var lines = 0
        let written = try await DocumentExport(from: store, .collection("c"), asOf: time)
            .run { _ in lines += 1 }
        #expect(written.consistency == .snapshot)
        #expect(lines == present.documents)
    }

    @Test("Without --exact, fields are kept and times are the target’s")
    func fieldsOnly() async throws {
        let scratch = try Scratch()
        let store = InMemoryStorageAdapter()
        try await Samples.fill(store)
        let file = scratch.file("one")
        _ = try await DocumentExport(from: store, .group("below")).run(to: file)
        let copy = InMemoryStorageAdapter()
        _ = try await DocumentImport(into: copy, .init(file: file)).run()
        let group = DocumentQuery(group: "below")
        let before = try await StorageClient(store).queryDocuments(group)
        let after = try await StorageClient(copy).queryDocuments(group)
        #expect(before.map(\.path) == after.map(\.path))
        #expect(before.map(\.body) == after.map(\.body))
        #expect(after.count == 5)
    }

    @Test("Plain lines contain the fields, and the id if a field is named for it")
    func plain() async throws {
        let store = InMemoryStorageAdapter()
        try await StorageClient(store).setDocument("c/k", ["a": .double(2), "t": "x"])
        var lines: [String] = []
        let line = ExportLine(isPlain: true, idField: "key")
        let report = try await DocumentExport(from: store, .collection("c"), as: line)
            .run { lines.append(String(decoding: $0, as: UTF8.self)) }
        #expect(lines == [#"{"a":2.0,"t":"x","key":"k"}"#])
        #expect(report.consistency == .snapshot)
    }

    @Test("Changes during an export are merged into the file", arguments: [false, true])
    func concurrentChanges(_ isPlain: Bool) async throws {
        let scratch = try Scratch()
        let store = InMemoryStorageAdapter()
        let client = StorageClient(store)
        for id in ["b", "d", "f", "h"] {
            try await client.setDocument("c/\(id)", ["v": 1, "id": .string(id)])
        }
        let meddling = MeddlingAdapter(store, afterReads: 4) {
            try await client.setDocument("c/a", ["v": 2, "id": "a"])
            try await client.setDocument("c/d", ["v": 2, "id": "d"])
            try await client.deleteDocument("c/f")
            try await client.setDocument("c/z", ["v": 2, "id": "z"])
            try await client.setDocument("elsewhere/x", ["v": 2])
        }
        let file = scratch.file("out")
        let line = ExportLine(isPlain: isPlain)
        let report = try await DocumentExport(
            from: meddling,
            .collection("c"),
            as: line,
            pageSize: 1
        ).run(to: file)
        #expect(report.changed == 4)
        #expect(report.consistency == .snapshot)
        #expect(report.documents == 5)
        let expected = try await store.all("c").map { document in
            String(decoding: try line.text(of: document), as: UTF8.self) + "\n"
        }.joined()
        let written = try file.text
        #expect(written == expected)
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(left == ["out"])
    }

    @Test("Later changes cannot be corrected on standard output, and the report says so")
    func mixedOutput() async throws {
        let store = InMemoryStorageAdapter()
        let client = StorageClient(store)
        try await client.setDocument("c/b", ["v": 1])
        let meddling = MeddlingAdapter(store, afterReads: 3) {
            try await client.setDocument("c/a", ["v": 2])
        }
        let report = try await DocumentExport(from: meddling, .collection("c")).run { _ in }
        #expect(report.consistency == .mixed)
        #expect(report.changed == 1)
    }

    @Test("A failed export keeps the previous file")
    func atomicity() async throws {
        let scratch = try Scratch()
        let file = try scratch.file("out", holding: "before")
        let store = InMemoryStorageAdapter()
        try await Samples.fill(store)
        let failing = store.failing([nil, nil, nil, .fail()])
        await #expect(throws: StorageError.self) {
            _ = try await DocumentExport(from: failing, .collection("c"), pageSize: 1).run(to: file)
        }
        let text = try file.text
        #expect(text == "before")
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(left == ["out"])
    }
}
