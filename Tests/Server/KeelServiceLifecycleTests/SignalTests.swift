#if ServiceLifecycle && SQLite && (os(Linux) || os(macOS))
import KeelTestSupport
import Foundation
import Testing

@Suite("Service group on SIGTERM", .timeLimit(.minutes(2)))
struct SignalTests {
    @Test("Pending work is delivered before the process exits by itself")
    func delivers() async throws {
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = Process()
        process.executableURL = try CrashTrial.program("KeelLifecycleProgram")
        process.arguments = [folder.path, "25"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let ready = output.fileHandleForReading.availableData
        #expect(String(decoding: ready, as: UTF8.self) == "ready\n")
        let arrived = folder.appending(path: "arrived")
        #expect(try String(contentsOf: arrived, encoding: .utf8) == "")
        process.terminate()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == 0)
        let lines = try String(contentsOf: arrived, encoding: .utf8).split(separator: "\n")
        let expected = (0..<25).flatMap { ["event \($0)", "write \($0)"] }
        #expect(lines.map(String.init).sorted() == expected.sorted())
    }
}
#endif
