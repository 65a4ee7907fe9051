#if os(Linux) || os(macOS)
import Foundation
import KeelToolsTestSupport
import Testing

@Suite("An interrupted export", .timeLimit(.minutes(10)))
struct InterruptedExportTests {
    @Test("Leaves nothing half-written, and says that it was interrupted")
    func interrupted() throws {
        let scratch = try Scratch()
        let file = try scratch.numberedLines(20_000)
        let store = ["--storage", scratch.file("s.sqlite").path]
        let imported = try KeelProcess(
            ["documents", "import", file.path, "c", "--id", "id"] + store
        ).wait()
        try #require(imported.code == 0, "\(imported.errors)")
        let target = scratch.file("target")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: false)
        func written() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: target.path)
        }
        let out = target.appending(path: "out")
        // On a busy machine, an export may end before the signal comes.
        for _ in 0..<50 {
            let process = try KeelProcess(["documents", "export", "c", "-o", out.path] + store)
            while process.isRunning, try written().isEmpty {}
            process.interrupt()
            let end = process.wait()
            if end.code == 0 {
                try FileManager.default.removeItem(at: out)
                continue
            }
            #expect(end.code == 130)
            #expect(end.errors.contains("it was interrupted"), "\(end.errors)")
            #expect(try written().isEmpty)
            return
        }
        Issue.record("no export was interrupted")
    }
}
#endif
