import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStorageSQLite
import KeelTestKit
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@Suite("Importing documents")
struct DocumentImportTests {
    @Test("Every file format gives the same documents", arguments: [ImportFormat.auto, .json])
    func forms(_ format: ImportFormat) async throws {
        let scratch = try Scratch()
        let store = InMemoryStorageAdapter()
        let file = try scratch.file(
            "a.json",
            holding: #"[{"id": 7, "b": 1.5, "c": [null, true, {"d": "x"}]}, {"id": "k"}]"#
        )
        var settings = DocumentImport.Settings(file)
        settings.format = format
        let report = try await DocumentImport(into: store, settings).run()
        #expect(report.imported == 2)
        let documents = try await store.all("c")
        #expect(documents.map(\.id) == ["7", "k"])
        let fields = try documents[0].fields()
        #expect(fields == ["id": 7, "b": 1.5, "c": [.null, true, ["d": "x"]]])
    }

    @Test("Bad lines are reported by number and kept, and nothing else is lost")
    func badLines() async throws {
        let scratch = try Scratch()
        let store = InMemoryStorageAdapter()
        let lines = [
            #"{"id":"a"}"#, "oops", "", #"{"id":"x/y"}"#, #"[1]"#, #"{"n":1}"#, #"{"id":true}"#,
            #"{"id":"b","v":[[1]]}"#, #"{"id":"__k__"}"#, #"{"id":"c"}"#,
        ]
        let file = try scratch.file("in.jsonl", holding: lines.joined(separator: "\n"))
        var settings = DocumentImport.Settings(file)
        settings.badLines = scratch.file("bad")
        var bad: [Int] = []
        let report = try await DocumentImport(into: store, settings)
            .run(onBadElement: { bad.append($0.number) })
        #expect(bad == [2, 4, 5, 6, 7, 8, 9])
        #expect(report.bad == 7)
        let ids = try await store.all("c").map(\.id)
        #expect(ids == ["a", "c"])
        let kept = try scratch.file("bad").text
        let expected = [1, 3, 4, 5, 6, 7, 8].map { lines[$0] + "\n" }.joined()
        #expect(kept == expected)
    }

    @Test("A document that the store rejects is a bad line, and its batch is stored without it")
    func refusals() async throws {
        let scratch = try Scratch()
        let store = InMemoryStorageAdapter().failing { call in
            guard case .commit(let batches) = call else { return nil }
            let isHit = batches.contains { $0.writes.contains { $0.path.id == "d3" } }
            return isHit ? .fail(.invalidArgument) : nil
        }
        var bad: [Int] = []
        let settings = DocumentImport.Settings(try scratch.numberedLines(5))
        let report = try await DocumentImport(into: store, settings)
            .run(onBadElement: { bad.append($0.number) })
        #expect(bad == [3])
        #expect(report.imported == 4)
        let ids = try await store.all("c").map(\.id)
        #expect(ids == ["d1", "d2", "d4", "d5"])
    }

    @Test("One call stores several batches, and a rejected one without its bad document")
    func refusalsAmongMany() async throws {
        let scratch = try Scratch()
        let store = InMemoryStorageAdapter().failing { call in
            guard case .commit(let batches) = call else { return nil }
            let isHit = batches.contains { $0.writes.contains { $0.path.id == "d10" } }
            return isHit ? .fail(.invalidArgument) : nil
        }
        var settings = DocumentImport.Settings(try scratch.numberedLines(20), batch: 3)
        settings.batchesAtOnce = 4
        var (bad, progress) = ([Int](), [Int]())
        let report = try await DocumentImport(into: store, settings).run(
            onBadElement: { bad.append($0.number) },
            onProgress: { progress.append($0.number) }
        )
        #expect(bad == [10])
        #expect(report.imported == 19)
        #expect(try await store.all("c").count == 19)
        #expect(progress == [0, 12, 20])
    }

    @Test("Derived ids are the same each time, and equal lines become two documents")
    func derivedIDs() async throws {
        let scratch = try Scratch()
        let store = InMemoryStorageAdapter()
        let first = try scratch.file("one", holding: "{\"a\":1}\n{\"a\":1}\n")
        let second = try scratch.file("two", holding: "{\"a\":1}\n{\"a\":1}\n")
        for file in [first, second] {
            _ = try await DocumentImport(into: store, .init(file, id: nil)).run()
        }
        let count = try await store.all("c").count
        #expect(count == 2)
    }

    @Test(
        "An import that fails anywhere resumes and stores every line exactly once",
        arguments: [1, 2, 3, 4],
        [StorageFault.fail(), .loseReply()]
    )
    func resumption(_ failing: Int, _ fault: StorageFault) async throws {
        let scratch = try Scratch()
        let store = InMemoryStorageAdapter()
        // The fourth line is bad, and must be kept once however often it is read.
        var lines = (1...9).map { #"{"id":"d\#($0)"}"# }
        lines[3] = "bad"
        let file = try scratch.file("in", holding: lines.joined(separator: "\n"))
        var settings = DocumentImport.Settings(file, batch: 2)
        settings.badLines = scratch.file("bad")
        let faults = [StorageFault?](repeating: nil, count: failing - 1) + [fault]
        let failed = await #expect(throws: StorageError.self) {
            _ = try await DocumentImport(into: store.failing(faults), settings).run()
        }
        #expect(failed?.code == .unavailable)
        settings.resumes = true
        // Another size of batches must not be mistaken for the batch that was under way.
        settings.batchSize = 3
        let report = try await DocumentImport(into: store, settings).run()
        #expect(report.imported == 8)
        #expect(report.bad == 1)
        #expect(report.resumedFrom == 2 * (failing - 1))
        let documents = try await store.all("c")
        #expect(documents.count == 8)
        #expect(documents.allSatisfy { $0.createTime == $0.updateTime })
        let kept = try scratch.file("bad").text
        #expect(kept == "bad\n")
        #expect(!FileManager.default.fileExists(atPath: settings.checkpointFile.path))
    }

    @Test("A resumed import reports an array without an end only once")
    func resumptionAtEnd() async throws {
        let scratch = try Scratch()
        let store = InMemoryStorageAdapter()
        // The missing end is the 1,000th bad element, with which a batch is full.
        let file = try scratch.file("in", holding: "[1" + String(repeating: ",1", count: 998))
        var settings = DocumentImport.Settings(file)
        let importing = DocumentImport(into: store, settings)
        let run = Task {
            try await importing.run(onProgress: { progress in
                if progress.bad == 1000 { withUnsafeCurrentTask { $0?.cancel() } }
            })
        }
        await #expect(throws: CancellationError.self) { _ = try await run.value }
        settings.resumes = true
        let report = try await DocumentImport(into: store, settings).run()
        #expect(report.bad == 1000)
    }

    @Test("A store without batch ids also receives every line exactly once")
    func withoutIDs() async throws {
        let scratch = try Scratch()
        let store = LimitedAdapter(InMemoryStorageAdapter(), without: .idempotentCommits)
        var settings = DocumentImport.Settings(try scratch.numberedLines(9), batch: 2)
        await #expect(throws: StorageError.self) {
            _ = try await DocumentImport(into: store.failing([nil, .loseReply()]), settings).run()
        }
        settings.resumes = true
        let report = try await DocumentImport(into: store, settings).run()
        #expect(report.imported == 9)
        let documents = try await store.all("c")
        #expect(documents.count == 9)
        #expect(documents.allSatisfy { $0.createTime == $0.updateTime })
    }

    @Test("A resumed import rejects another file and other options")
    func otherFile() async throws {
        let scratch = try Scratch()
        let store = InMemoryStorageAdapter()
        let file = try scratch.numberedLines(9)
        var settings = DocumentImport.Settings(file, batch: 2)
        await #expect(throws: StorageError.self) {
            _ = try await DocumentImport(into: store.failing([nil, .fail()]), settings).run()
        }
        settings.resumes = true
        settings.idField = "number"
        await #expect(throws: ToolError.self) {
            _ = try await DocumentImport(into: store, settings).run()
        }
        settings.idField = "id"
        try Data("{}\n".utf8).write(to: file)
        await #expect(throws: ToolError.self) {
            _ = try await DocumentImport(into: store, settings).run()
        }
    }

    @Test("A resumed import rejects another store, which lacks the documents before the checkpoint")
    func otherStore() async throws {
        let scratch = try Scratch()
        var settings = DocumentImport.Settings(try scratch.numberedLines(9), batch: 2)
        settings.store = "one"
        await #expect(throws: StorageError.self) {
            let store = InMemoryStorageAdapter().failing([nil, .fail()])
            _ = try await DocumentImport(into: store, settings).run()
        }
        settings.resumes = true
        settings.store = "two"
        let other = InMemoryStorageAdapter()
        let error = await #expect(throws: ToolError.self) {
            _ = try await DocumentImport(into: other, settings).run()
        }
        #expect(error?.message.contains("the store") == true)
        #expect(try await other.all("c").isEmpty)
    }

    @Test(
        "A resumed import does not go on without the bad lines of the runs before",
        arguments: [nil, "", "oo"] as [String?]
    )
    func lostBadLines(_ left: String?) async throws {
        let scratch = try Scratch()
        let store = InMemoryStorageAdapter()
        let lines = ["oops", #"{"id":"a"}"#, #"{"id":"b"}"#]
        let file = try scratch.file("in", holding: lines.joined(separator: "\n"))
        var settings = DocumentImport.Settings(file, batch: 1)
        let kept = scratch.file("bad")
        settings.badLines = kept
        await #expect(throws: StorageError.self) {
            _ = try await DocumentImport(into: store.failing([nil, .fail()]), settings).run()
        }
        #expect(try kept.text == "oops\n")
        settings.resumes = true
        try FileManager.default.removeItem(at: kept)
        if let left { try Data(left.utf8).write(to: kept) }
        await #expect(throws: ToolError.self) {
            _ = try await DocumentImport(into: store, settings).run()
        }
        // Without the option, the checkpoint would forget what the file has.
        settings.badLines = nil
        await #expect(throws: ToolError.self) {
            _ = try await DocumentImport(into: store, settings).run()
        }
        try Data("oops\n".utf8).write(to: kept)
        settings.badLines = kept
        let report = try await DocumentImport(into: store, settings).run()
        #expect(report.imported == 2 && report.bad == 1)
        #expect(try kept.text == "oops\n")
    }

    @Test("An import does not write its checkpoint or bad lines over the file, or over each other")
    func oneFileForTwo() throws {
        let scratch = try Scratch()
        let file = try scratch.numberedLines(1)
        let link = scratch.file("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        var settings = DocumentImport.Settings(file)
        for other in [file, link, settings.checkpointFile] {
            settings.badLines = other
            #expect(throws: ToolError.self) { try settings.check() }
        }
        settings.badLines = nil
        settings.checkpoint = file
        #expect(throws: ToolError.self) { try settings.check() }
        settings.checkpoint = nil
        settings.badLines = scratch.file("bad")
        try settings.check()
    }

    @Test("A repeated import changes no revision")
    func repetition() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        let settings = DocumentImport.Settings(try scratch.numberedLines(5))
        _ = try await DocumentImport(into: store, settings).run()
        let before = try await store.all("c")
        _ = try await DocumentImport(into: store, settings).run()
        let after = try await store.all("c")
        #expect(before == after)
        #expect(after.count == 5)
    }
}
