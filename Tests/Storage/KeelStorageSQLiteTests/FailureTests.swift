#if SQLite
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import KeelTestKit
import Testing

@Suite("Disk failures")
struct FailureTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("a full disk rejects the write, keeps existing data, and accepts writes again with space")
    func diskFull() async throws {
        let adapter = try folder.adapter { $0.mostPages = 60 }
        let body = DocumentBody(["filling": .bytes(Array(repeating: 1, count: 50_000))])
        var stored = 0
        var error: StorageError?
        while error == nil, stored < 100 {
            error = await storageError {
                try await adapter.apply(
                    WriteBatch([
                        DocumentWrite("a/\(stored)", .set(body)),
                        DocumentWrite("b/\(stored)", .set(DocumentBody([:]))),
                    ])
                )
            }
            if error == nil { stored += 1 }
        }
        #expect(error?.code == .diskFull)
        #expect(error?.effect == StorageError.Effect.none)
        #expect(try await adapter.ids(DocumentQuery("a")).count == stored)
        #expect(try await adapter.ids(DocumentQuery("b")).count == stored)
        try await adapter.delete("a/0")
        try await adapter.apply(WriteBatch([DocumentWrite("a/again", .set(body))]))
        #expect(try await adapter.checkIntegrity().isSound)
    }

    private func filled() async throws {
        let adapter = try folder.adapter()
        try await adapter.prepare(StorageSchema(indexes: [IndexDefinition("a", [.ascending("n")])]))
        for number in 0..<Int64(400) {
            try await adapter.set(
                "a/\(number)",
                ["n": .integer(number), "text": .string(String(repeating: "x", count: 300))]
            )
        }
        try await adapter.compact()
        try adapter.close()
    }

    @Test("damaged pages are reported as corrupted without a crash")
    func damagedPages() async throws {
        try await filled()
        let handle = try FileHandle(forUpdating: folder.file())
        let size = try handle.seekToEnd()
        var random = SeededRandom(seed: 7)
        for page in stride(from: UInt64(4_096 * 6), to: size, by: 4_096) {
            try handle.seek(toOffset: page)
            try handle.write(
                contentsOf: Data((0..<600).map { _ in UInt8.random(in: 0...255, using: &random) })
            )
        }
        try handle.close()
        var codes: Set<StorageError.Code> = []
        let error = await storageError {
            let adapter = try folder.adapter()
            for number in 0..<400 {
                do {
                    _ = try await adapter.document("a/\(number)")
                } catch let error as StorageError {
                    codes.insert(error.code)
                }
            }
            if let report = try? await adapter.checkIntegrity() { #expect(!report.isSound) }
        }
        if let error { codes.insert(error.code) }
        #expect(codes == [.corrupted])
    }

    @Test("a truncated file is reported as corrupted")
    func truncatedFile() async throws {
        try await filled()
        let handle = try FileHandle(forUpdating: folder.file())
        try handle.truncate(atOffset: 4_096 * 8)
        try handle.close()
        let error = await storageError {
            let adapter = try folder.adapter()
            for number in 0..<400 { _ = try await adapter.document("a/\(number)") }
        }
        #expect(error?.code == .corrupted)
    }

    @Test(
        "a truncated write-ahead log leaves an intact store with the first commits",
        arguments: 1...9
    )
    func truncatedLog(_ tenth: Int) async throws {
        let adapter = try folder.adapter()
        for number in 0..<50 {
            try await adapter.apply(
                WriteBatch([
                    DocumentWrite("a/\(number)", .set(DocumentBody([:]))),
                    DocumentWrite("b/\(number)", .set(DocumentBody([:]))),
                ])
            )
        }
        // A copy of the files equals the state after a crash, without cleanup.
        let crashed = try TemporaryFolder()
        for name in ["Store.sqlite", "Store.sqlite-wal"] {
            try FileManager.default.copyItem(at: folder.file(name), to: crashed.file(name))
        }
        let log = try FileHandle(forUpdating: crashed.file("Store.sqlite-wal"))
        try log.truncate(atOffset: try log.seekToEnd() * UInt64(tenth) / 10 + 13)
        try log.close()
        let reopened = try crashed.adapter()
        let kept = Set(try await reopened.ids(DocumentQuery("a")))
        #expect(kept == Set((0..<kept.count).map(String.init)))
        #expect(Set(try await reopened.ids(DocumentQuery("b"))) == kept)
        #expect(try await reopened.checkIntegrity().isSound)
        try await reopened.set("a/new", [:])
    }
}
#endif
